"""Frozen values <-> JSON with the arrays taken out; decode(encode(value)) == value.

Scalars and lists are stored unchanged. Every other kind is an object with its kind as the only key: {"tuple": [...]},
{"dict": {...}}, {"float": "inf"}, {"array": name}, {"csr": {shape, data, indices, indptr}}, {"Certificate": {field:
...}}. No kind names a type to import.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import numpy as np

from eckart.aliases import JsonObject
from eckart.arrays import Matrix, is_sparse, to_numpy
from eckart.errors import ModelFileError
from eckart.io.model_domains import domain_fault
from eckart.notes import Note
from eckart.registry import all_methods, details_class, method_of
from eckart.result import Certificate, Decomposition, Details, Plan, SolveInfo, UnknownDetails

if TYPE_CHECKING:
    from collections.abc import Mapping


_CLASSES: dict[str, type] = {cls.__name__: cls for cls in (Decomposition, Certificate, Plan, SolveInfo)}
_ROUNDED = 1e-3
"""Relative rounding of a norm, for float32 data."""
_LOOSE = 1e6
"""How much a bound may exceed the norm, if the solver stopped early."""
_NOT_FINITE = {text: float(text) for text in ("nan", "inf", "-inf")}


def allowed(dtype: np.dtype) -> bool:
    """Whether a model file may contain this dtype: plain numbers that every platform reads equally."""
    return dtype.kind in "fiu" and dtype.itemsize <= 8


def _encode_fields(value: object, where: str, arrays: dict[str, np.ndarray]) -> JsonObject:
    """The fields of a result by name; details are written as `parts`, as in the first version of the format."""
    fields = _fields_of(value)
    if isinstance(value, Decomposition):
        fields["parts"] = _as_parts(fields.pop("details"))
    return {name: encode(item, f"{where}.{name}".lstrip("."), arrays) for name, item in fields.items()}


def encode(value: object, where: str, arrays: dict[str, np.ndarray]) -> Any:
    """JSON for a value; arrays are moved to `arrays` under their path in the value."""

    def encoded(items: Mapping[Any, object]) -> JsonObject:
        return {str(key): encode(item, f"{where}.{key}", arrays) for key, item in items.items()}

    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Note):
        return {"Note": {"code": value.code, "text": str(value), "details": encoded(value.details)}}
    if isinstance(value, bool | str | int | float | None):
        return _scalar(value)
    if isinstance(value, tuple | list):
        items = list(encoded(dict(enumerate(value))).values())
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, dict):
        return {"dict": encoded(value)}
    if type(value) in _CLASSES.values():
        return {type(value).__name__: _encode_fields(value, where, arrays)}
    if where.startswith("plan.settings."):
        return str(value)  # for people only: a dtype, a device, a generator
    if is_sparse(value):
        return {"csr": encoded(_csr_parts(value))}
    arrays[where] = _plain_array(value, where)
    return {"array": where}


def _scalar(value: bool | str | float | None) -> object:
    """A number for JSON, which has no NaN and no infinity."""
    finite = not isinstance(value, float) or np.isfinite(value)
    return value if finite else {"float": repr(value)}


def _fields_of(value: Any) -> JsonObject:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _as_parts(value: object) -> Any:
    """Details as a dict of their fields, without those that are None; the file does not name their classes."""
    if isinstance(value, dict):
        return {key: _as_parts(item) for key, item in value.items()}
    if isinstance(value, UnknownDetails):
        return value.fields
    if not dataclasses.is_dataclass(value):
        return value
    return {name: _as_parts(item) for name, item in _fields_of(value).items() if item is not None}


def _csr_parts(matrix: Matrix) -> JsonObject:
    from scipy import sparse

    rows = sparse.csr_array(matrix)
    return {"shape": tuple(map(int, rows.shape)), "data": rows.data, "indices": rows.indices, "indptr": rows.indptr}


def _is_shape(given: object) -> bool:
    return isinstance(given, tuple) and len(given) == 2 and all(_fits(n, int) and 0 <= n < 2**62 for n in given)


def _is_vector(part: object, kinds: str) -> bool:
    return isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype.kind in kinds


def _csr(parts: JsonObject) -> Matrix:
    """The sparse array, after checking that its indices lie inside its shape."""
    from scipy import sparse

    shape: Any = parts.get("shape")
    given: list[Any] = [parts.get(name) for name in ("data", "indices", "indptr")]
    data, indices, indptr = given
    integers = _is_vector(indices, "i") and _is_vector(indptr, "i")
    if len(parts) != 4 or not integers or not _is_vector(data, "fiu") or not _is_shape(shape):
        raise ModelFileError("The model's JSON contains a broken sparse array.")
    try:
        found: Any = sparse.csr_array((data, indices, indptr), shape=shape)
        found.check_format(full_check=True)
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"A sparse array of the model is damaged: {error}.") from error
    if not np.isfinite(found.data).all():
        raise ModelFileError("A sparse array of the model contains NaN or infinite entries.")
    return found


def _plain_array(value: object, where: str) -> np.ndarray:
    try:
        array = to_numpy(value)
    except (AttributeError, BufferError, TypeError, ValueError, RuntimeError) as error:
        message = (
            f"{where} is a {type(value).__name__} and cannot be converted to a NumPy array: {error}. Convert it first."
        )
        raise ModelFileError(message) from error
    if not allowed(array.dtype):
        message = (
            f"{where} has dtype {array.dtype}, but a model file can store only integers and float16, "
            "float32 and float64. Convert it first."
        )
        raise ModelFileError(message)
    return array


def decode(value: object, arrays: Mapping[str, np.ndarray]) -> Any:
    """The value that `encode` was given; anything else is refused."""
    if isinstance(value, list):
        return [decode(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise ModelFileError(
            f"The model's JSON contains an object with {len(value)} keys, but exactly one key was expected."
        )
    return _decode_kind(*next(iter(value.items())), arrays)


def _decode_kind(kind: str, inner: object, arrays: Mapping[str, np.ndarray]) -> Any:
    if isinstance(inner, dict) and kind in ("dict", "csr", "Note", *_CLASSES):
        return _decode_object(kind, inner, arrays)
    if isinstance(inner, list) and kind == "tuple":
        return tuple(decode(item, arrays) for item in inner)
    leaves: Mapping[str, object] = {"array": arrays, "float": _NOT_FINITE}.get(kind, {})
    if isinstance(inner, str) and inner in leaves:
        return leaves[inner]
    raise ModelFileError(f"The model's JSON contains an unknown or broken {kind[:40]!r}.")


def _decode_object(kind: str, inner: dict[str, object], arrays: Mapping[str, np.ndarray]) -> Any:
    """A dictionary, a sparse array, a note or one of the classes of results."""
    if kind == "Note":
        return _note(inner, arrays)
    fields = {key: decode(item, arrays) for key, item in inner.items()}
    if kind == "dict":
        return fields
    if kind == "csr":
        return _csr(fields)
    if kind == "Decomposition":
        fields["notes"] = _as_notes(fields.get("notes", ()))
        fields["details"] = _details(fields.get("method"), fields.pop("parts", {}))
    return _build(_CLASSES[kind], fields)


_RENAMED = {
    ("Plan", "reads"): "passes",
    ("SolveInfo", "reads"): "passes",
    ("Certificate", "reads"): "passes",
    ("Certificate", "word"): "summary",
    ("Bound", "word"): "statement",
    ("Imputation", "shares"): "explained_variance_ratio",
    ("IsomapDetails", "components"): "connected_components",
}
"""(class, field in files written before fields were renamed) -> field."""


def _as_notes(given: object) -> Any:
    """Notes; those of older files are sentences without a code."""
    if not isinstance(given, tuple):
        return given
    return tuple(Note("other", note) if type(note) is str else note for note in given)


def _note(fields: JsonObject, arrays: Mapping[str, np.ndarray]) -> Note:
    code, text, details = (fields.get(name) for name in ("code", "text", "details"))
    if not isinstance(code, str) or not isinstance(text, str) or not isinstance(details, dict):
        raise ModelFileError("The model's JSON contains a broken note.")
    return Note(code, text, {key: decode(item, arrays) for key, item in details.items()})


def _details(method: object, parts: object) -> Details:
    """The details of a method from their fields."""
    if not isinstance(method, str) or not isinstance(parts, dict):
        raise ModelFileError("The model's JSON does not name a method, or has no details of the method.")
    known = all_methods().get(method)
    if known is None:
        return UnknownDetails(parts) if parts else Details()
    built: Details = _build(details_class(known), parts)
    return built


def _nested(value: object, hint: object) -> Any:
    """The dataclass of a type hint from a dict of its fields; anything else unchanged."""
    if not isinstance(value, dict):
        return value
    if get_origin(hint) is dict:
        return {key: _nested(item, get_args(hint)[1]) for key, item in value.items()}
    wanted = next((part for part in (hint, *get_args(hint)) if dataclasses.is_dataclass(part)), None)
    return value if wanted is None else _build(wanted, value)  # type: ignore[arg-type]


def _check_fields(title: str, fields: JsonObject, hints: JsonObject) -> None:
    for name, value in fields.items():
        if name not in hints:
            raise ModelFileError(
                f"{title} has no field {name[:40]!r}. A newer version of Eckart may have written the "
                "file. Update Eckart."
            )
        if not _fits(value, hints[name]):
            raise ModelFileError(f"{title}.{name} has a value of the wrong type ({type(value).__name__}).")


def _required(cls: type) -> list[str]:
    fields = dataclasses.fields(cls)
    return [field.name for field in fields if field.default is field.default_factory is dataclasses.MISSING]


def _build(cls: type, fields: JsonObject) -> Any:
    """The frozen value, after checking each field against its type hint."""
    hints = get_type_hints(cls, localns={"Array": np.ndarray, "D": Details})
    fields = {_RENAMED.get((cls.__name__, name), name): value for name, value in fields.items()}
    fields = {name: _nested(value, hints.get(name)) for name, value in fields.items()}
    _check_fields(cls.__name__, fields, hints)
    lacking = [name for name in _required(cls) if name not in fields]
    fields |= {name: None for name in lacking if _fits(None, hints[name])}  # None is not written
    if missing := [name for name in lacking if name not in fields]:
        raise ModelFileError(f"{cls.__name__} has no value for {', '.join(missing)}.")
    return cls(**fields)


def _fits(value: object, hint: object) -> bool:
    if hint is Any:
        return True
    if hint in (int, float):
        return isinstance(value, int | hint) and not isinstance(value, bool)
    origin, parts = get_origin(hint), get_args(hint)
    if origin is tuple:
        return isinstance(value, tuple) and _items_fit(value, parts)
    kind = origin if origin in (dict, np.ndarray) else hint
    if isinstance(kind, type):
        return isinstance(value, kind)
    # A Literal of strings, or a union.
    return value in parts if {*map(type, parts)} == {str} else any(_fits(value, part) for part in parts)


def _items_fit(items: tuple[object, ...], parts: tuple[object, ...]) -> bool:
    if parts[-1] is Ellipsis:
        return all(_fits(item, parts[0]) for item in items)
    return len(items) == len(parts) and all(map(_fits, items, parts))


def check(d: Decomposition, refusal: str) -> None:
    """Refuse unless the shapes of the arrays agree and the factors are finite."""
    if len(np.shape(d.values)) != 1:
        raise ModelFileError(f"{refusal}: values has shape {np.shape(d.values)}, but it must be one-dimensional.")
    _check_factors(d, refusal)
    if fault := d.details.shape_fault(d.rows, d.columns, d.k) or d.details.fault(d.rows):
        raise ModelFileError(f"{refusal}: {fault}.")
    if impossible := domain_fault(d):
        raise ModelFileError(f"{refusal}: {impossible}. Compute the decomposition again.")
    _check_names(d, refusal)
    _check_certificate(d, refusal)
    _check_shares(d, refusal)


def _check_shares(d: Decomposition, refusal: str) -> None:
    """Refuse shares above 1: no singular value, and no bound worth stating, exceeds the norm by far."""
    values = np.asarray(to_numpy(d.values), np.float64)
    if method_of(d).orthogonal and d.norm < np.hypot.reduce(values, initial=0.0) * (1.0 - _ROUNDED):
        raise ModelFileError(
            f"{refusal}: the norm ({d.norm:.6g}) is smaller than that of the singular values alone "
            f"({np.hypot.reduce(values, initial=0.0):.6g}), so shares would exceed 1. Compute the decomposition again."
        )
    if d.norm and (values / _LOOSE > d.norm).any():  # of constant rows, the norm is 0 and the rest is rounding
        raise ModelFileError(
            f"{refusal}: values contains {values.max():.6g}, which cannot be a part of a norm of {d.norm:.6g}. "
            "Compute the decomposition again."
        )
    if d.certificate is None:
        return
    lower, upper = (np.asarray(to_numpy(bound), np.float64) for bound in d.certificate.values)
    low, high = d.certificate.explained
    if low > high or (lower > upper).any():
        raise ModelFileError(f"{refusal}: a lower bound of the certificate is larger than the upper bound.")
    if d.norm and (np.isfinite(upper) & (upper / _LOOSE > d.norm)).any():
        raise ModelFileError(
            f"{refusal}: certificate.upper contains {upper[np.isfinite(upper)].max():.6g}, but no singular value is "
            f"larger than the norm ({d.norm:.6g}). Compute the decomposition again."
        )


def _check_factors(d: Decomposition, refusal: str) -> None:
    k, rows, columns = d.k, d.rows, d.columns
    wanted = {"values": (k,), "right": (columns, k), "left": (rows, k), "mean": (columns,), "scale": (columns,)}
    for name, shape in wanted.items():
        array = getattr(d, name)
        if array is None:
            continue
        seen = tuple(array.shape)
        if seen != shape and not (name == "right" and seen == (columns, 0)):  # no linear way back
            raise ModelFileError(
                f"{refusal}: {name} has shape {seen}, but for {rows} rows, {columns} columns and {k} "
                f"components it must be {shape}."
            )
        if not np.isfinite(to_numpy(array)).all():
            raise ModelFileError(
                f"{refusal}: {name} contains NaN or infinite entries. Compute the decomposition again."
            )


def _check_names(d: Decomposition, refusal: str) -> None:
    for name, count in (("row_names", d.rows), ("column_names", d.columns)):
        names = getattr(d, name)
        if names is not None and len(names) != count:
            raise ModelFileError(f"{refusal}: there are {len(names)} {name}, but {count} are needed.")


def _check_certificate(d: Decomposition, refusal: str) -> None:
    if d.certificate is None:
        return
    groups = d.certificate.undetermined if d.k else ()
    if wrong := [group for group in groups if not 0 <= min(group) <= max(group) < d.k]:
        raise ModelFileError(
            f"{refusal}: certificate.undetermined contains the components {wrong[0]}, but there are only {d.k}."
        )
    fewest = d.k if method_of(d).orthogonal else 0  # otherwise there is no separate bound for each component
    bounds = {np.shape(bound) for bound in (d.certificate.lower, d.certificate.upper)}
    if len(bounds) > 1:
        raise ModelFileError(f"{refusal}: the shapes of certificate.lower and certificate.upper differ.")
    for name in ("lower", "upper", "residuals"):
        seen = np.shape(getattr(d.certificate, name))
        if len(seen) != 1 or not fewest <= seen[0] <= d.k:
            raise ModelFileError(f"{refusal}: certificate.{name} has shape {seen}, but it must be ({d.k},).")
