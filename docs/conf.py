"""How the documentation is built: `make docs`."""

import inspect
import re
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from sphinx.addnodes import desc_signature, pending_xref
from sphinx.domains.python import PyObject

from eckart.estimators.sklearn_base import BaseEstimator

project = "Eckart"
author = "The Eckart developers"
project_copyright = "The Eckart developers"
version = release = installed_version("eckart")

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
# The pages of execution times load scripts from the network.
exclude_patterns = ["_build", "**/README.rst", "**/sg_execution_times.rst", "sg_execution_times.rst"]

# Formulas are rendered by a local copy of MathJax, so that the pages need no network.
mathjax_path = "mathjax/tex-svg.js"

sphinx_gallery_conf = {
    "examples_dirs": ["gallery", "tutorials"],
    "gallery_dirs": ["auto_gallery", "auto_tutorials"],
    "subsection_order": [f"gallery/{name}" for name in ("reading", "number", "methods", "trust", "large", "pipelines")],
    "filename_pattern": r"[\\/]plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "abort_on_example_error": True,
    "matplotlib_animations": False,
    # Output is what the examples print, without the representation of the last value of a cell.
    "capture_repr": (),
}
templates_path = ["_templates"]
nitpicky = False

plot_include_source = False
plot_html_show_formats = False
plot_html_show_source_link = False
plot_formats = [("png", 140)]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
autodoc_default_options = {
    "exclude-members": "get_metadata_routing, set_fit_request, set_partial_fit_request, set_transform_request, "
    "set_inverse_transform_request, set_score_request, set_predict_request",
}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # fields of results are listed once, in their Attributes section
next(kind for kind in PyObject.doc_field_types if kind.name == "variable").label = "Attributes"

html_theme = "pydata_sphinx_theme"
html_title = f"Eckart {release}"
toc_object_entries_show_parents = "hide"  # PCA.get_feature_names_out would not fit into the sidebar
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False, "secondary_sidebar_items": ["page-toc"]}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {"index": []}
html_context = {"default_mode": "auto"}

# numpydoc's References section numbers its entries as footnotes, to which the text need not refer.
suppress_warnings = ["ref.footnote"]

FITTED_NAME = re.compile(r"(?<![\w`.:])([a-z]\w*_)(?![\w`])")
OUTSIDE = re.compile(r":(?:ref|term):`([^`<]*?)(?:\s*<[^>]*>)?`")


def prepare_docstring(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Names such as components_ are not links; links of inherited docstrings into scikit-learn's pages become text."""
    lines[:] = [
        line if line.lstrip().startswith((".. ", ">>> ")) else FITTED_NAME.sub(r"``\1``", OUTSIDE.sub(r"\1", line))
        for line in lines
    ]


def show_parameters(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str, None] | None:
    """Estimators check the names of their parameters in __new__(*args, **given): show those of __init__ instead."""
    if what != "class" or not issubclass(obj, BaseEstimator):
        return None
    found = inspect.signature(obj)
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in found.parameters.values()]
    return str(inspect.Signature(plain)), None


def unlink_sizes(app: Any, doctree: Any) -> None:
    """The k in a type such as "array of shape (n, k)" is a number, not a link to an attribute of that name."""
    for node in list(doctree.findall(pending_xref)):
        if node["refdomain"] == "py" and node["reftype"] == "class" and re.fullmatch(r"[a-z]\w*", node["reftarget"]):
            node.replace_self(node.children)


def add_anchors(app: Any, doctree: Any) -> None:
    """Add the anchors that pages of source code use: eckart.SolveInfo for eckart.types.SolveInfo, for example."""
    for signature in doctree.findall(desc_signature):
        if signature.get("module") == "eckart.types":
            signature["ids"] += [f"{module}.{signature['fullname']}" for module in ("eckart", "eckart.tables")]


def remove_template(app: Any, exception: Exception | None) -> None:
    """The theme copies a template with unresolved links into the site."""
    Path(app.outdir, "_static", "webpack-macros.html").unlink(missing_ok=True)


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", prepare_docstring, priority=900)
    app.connect("autodoc-process-signature", show_parameters)
    app.connect("doctree-read", unlink_sizes)
    app.connect("doctree-read", add_anchors)
    app.connect("build-finished", remove_template)
