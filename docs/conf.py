"""How the documentation is built: `make docs`."""

import re
from importlib.metadata import version as installed_version
from typing import Any

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
exclude_patterns = ["_build", "**/README.rst"]

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
    "exclude-members": "set_fit_request, set_partial_fit_request, set_transform_request, "
    "set_inverse_transform_request, set_score_request",
}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # fields of results are listed once, in their Attributes section

html_theme = "pydata_sphinx_theme"
html_title = f"Eckart {release}"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False, "secondary_sidebar_items": ["page-toc"]}
html_static_path = ["_static"]
html_sidebars = {"index": []}

FITTED_NAME = re.compile(r"(?<![\w`.:])([a-z]\w*_)(?![\w`])")


def quote_fitted_names(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Names such as components_ are names, not links."""
    lines[:] = [
        line if line.lstrip().startswith((".. ", ">>> ")) else FITTED_NAME.sub(r"``\1``", line) for line in lines
    ]


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", quote_fitted_names, priority=900)
