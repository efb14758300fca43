"""Errors of the command line in the current language: messages of click and of file checks, by their English text."""

from __future__ import annotations

import re

from eckart.worked.messages import current, mark, tr

_QUOTED = r"'(?P<{}>[^']*)'"
_NAME, _VALUE = _QUOTED.format("name"), r"(?P<value>'.*?'|-?[\w.]+)"
_OPTION = rf"Invalid value for {_NAME}: "
_PATTERNS = (
    (_OPTION + rf"{_VALUE} is not one of (?P<choices>.*)\.", mark("Option {name}: {value} is not one of {choices}.")),
    (_OPTION + rf"{_VALUE} is not in the range (?P<range>.*)\.",
     mark("Option {name}: {value} is not in the range {range}.")),
    (_OPTION + rf"{_VALUE} is not a valid (?:integer|integer range)\.",
     mark("Option {name}: {value} is not a whole number.")),
    (_OPTION + rf"{_VALUE} is not a valid float\.", mark("Option {name}: {value} is not a number.")),
    (_OPTION + rf"{_VALUE} is not a list of whole numbers such as 1,3\.",
     mark("Option {name}: {value} is not a list of whole numbers such as 1,3.")),
    (rf"Missing argument {_NAME}\.", mark("The argument {name} is missing.")),
    (rf"Option {_NAME} requires an argument\.", mark("Option {name} needs a value.")),
    (rf"No such option:? {_NAME}\.?.*", mark("There is no option {name}.")),
    (r"No such option:? (?P<name>\S+?)\.?(?: .*)?", mark("There is no option {name}.")),
    (r"Got unexpected extra arguments? \((?P<name>-.*)\)", mark("There is no option {name}.")),
    (r"Got unexpected extra arguments? \((?P<name>.*)\)",
     mark("There is one argument too many: {name}. Put the matrix in quotation marks.")),
    (rf"No such command {_NAME}\.", mark("There is no command {name}.")),
    (rf"{_NAME} does not have a supported suffix\. The suffix determines the format: use (?P<choices>.*)\.",
     mark("{name} does not have a supported suffix. The suffix determines the format: use {choices}.")),
    (rf"{_NAME} is a folder\. Give the name of a file inside it\.",
     mark("{name} is a folder. Give the name of a file inside it.")),
    (rf"{_NAME} already exists, so nothing was written\. To overwrite it, add --force\.",
     mark("{name} already exists, so nothing was written. To overwrite it, add --force.")),
    (rf"{_NAME} cannot be written: the folder '(?P<folder>.*)' does not exist\. Create it first\.",
     mark("{name} cannot be written: the folder {folder} does not exist. Create it first.")),
    (r"Try '(?P<name>.*)'\.", mark("Try {name}.")),
)  # fmt: skip


def translated(message: str) -> str:
    """The message in the current language; unchanged if it is not known here.

    >>> translated("No such command 'foo'.")
    "No such command 'foo'."
    """
    if current() == "en":
        return message
    for pattern, template in _PATTERNS:
        if found := re.fullmatch(pattern, message, re.DOTALL):
            return tr(template, **{key: value.replace("'", "") for key, value in found.groupdict().items()})
    return message
