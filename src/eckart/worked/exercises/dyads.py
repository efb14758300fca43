"""A matrix as a sum of products of a column and a row, `10 (1, 2)^T (3, 4)/5 + ..`, or as V D V^(-1), as its factors.

Text in, text out, as in `programs`: every term gives a singular value and its two vectors, as they are written. The
grammar of values would multiply them, so that nothing could be said about the factors.
"""

from __future__ import annotations

import re

_ROOT = r"sqrt\s*(?:\(\s*\d+\s*\)|\d+)"
_SCALAR = rf"\d+(?:[.,]\d+)?(?:\s*/\s*\d+)?(?:\s*\*?\s*{_ROOT})?(?:\s*/\s*\d+)?|{_ROOT}(?:\s*/\s*\d+)?"
_INVERSE = rf"\(*1\)?\s*/\s*\(?(?:{_ROOT}|\d+)\)*"
_LIST = r"(?:[^()\[\]{}=]|\([^()=]*\))*(?:[,;]|\S\s+)(?:[^()\[\]{}=]|\([^()=]*\))*"
_BRACKET = rf"c?(?:\({_LIST}\)|\[{_LIST}\]|\{{{_LIST}\}})"
_VECTOR = rf"(?:{_INVERSE}\s*\*?\s*)?{_BRACKET}'?(?:\s*/\s*(?:{_ROOT}|\(\s*{_ROOT}\s*\)|\d+))?"
_TIMES = r"\s*(?:\*|⊗|%o%|%\*%|\.)?\s*"
_TERM = rf"({_SCALAR}){_TIMES}({_VECTOR}){_TIMES}({_VECTOR})"
_SUM = re.compile(rf"(?:\b[AM]\s*[=≈]\s*)?(?<![\w)\]}}*/^]){_TERM}(?:\s*\+\s*{_TERM})+(\s*=)?")
_OUTER = re.compile(rf"(?:np\.|numpy\.)?outer\(\s*({_VECTOR})\s*,\s*({_VECTOR})\s*\)")
_ROWS = r"(?:\((?:[^()=]|\([^()=]*\))*\)|\[(?:[^\[\]=]|\[[^\[\]=]*\])*\])"
_INVERTED = r"(?:\1\s*\^\s*\(?-1\)?|(?:(?:np\.)?linalg\.)?inv\(\s*\1\s*\))"
_SIMILAR = re.compile(rf"(?:\b[AM]\s*[=≈]\s*)?({_ROWS})\s*\*?\s*({_ROWS})\s*\*?\s*{_INVERTED}")


def as_factors(text: str) -> str:
    """The text with a sum of such products as singular values and vectors.

    >>> as_factors("A = 2*[1; 0]*[0 1] + 1*[0; 1]*[1 0]")
    'sigma_1 = 2; u_1 = [1; 0]; v_1 = [0 1]; sigma_2 = 1; u_2 = [0; 1]; v_2 = [1 0]'
    """
    text = _OUTER.sub(r"\1⊗\2", text)
    return _SUM.sub(_named, text)


def _named(found: re.Match[str]) -> str:
    terms = re.findall(_TERM, found[0])
    shown = [f"sigma_{i} = {s}; u_{i} = {u}; v_{i} = {v}" for i, (s, u, v) in enumerate(terms, 1)]
    return "; ".join([*shown, "A ="] if found[0].endswith("=") else shown)


def as_eigenvectors(text: str) -> str:
    """The text with a product `V D V^(-1)` of matrices as V and D; the inverse must be that of the first factor.

    >>> as_eigenvectors("A = [1 1; 1 4] * [2 0; 0 3] * [1 1; 1 4]^(-1)")
    'V = [1 1; 1 4]; D = [2 0; 0 3]'
    >>> as_eigenvectors("A = [1 1; 1 4] * [2 0; 0 3] * [1 1; 1 4]")
    'A = [1 1; 1 4] * [2 0; 0 3] * [1 1; 1 4]'
    """
    return _SIMILAR.sub(r"V = \1; D = \2", text)
