"""The library's messages in the words of the command line: options instead of parameters."""

from __future__ import annotations

import re

__all__ = ["in_options"]

_MISSING = {
    "documents": "give document ids with --docs FILE.",
    "features": "name some with -F FEATURE ...",
    "groups": "give a group for each segment with --groups FILE.",
    "human": "name a file with --human.",
    "judgements": "give them with --qrels FILE.",
    "languages": "give the languages with -l, as in -l de-en.",
    "names": "name them with --names, one name per system.",
    "pipeline": "name one with --pipeline NAME",
    "references": "name the references before -i.",
    "sources": "give the source with -s FILE.",
    "systems": "name the outputs with -i.",
    "tags": "give tags with --tags FILE ...",
}
"""What to do where a parameter is missing: "pass sources=..."."""

_OPTIONS = {
    "by": "--by",
    "campaign": "--campaign",
    "coefficient": "--coefficient",
    "documents": "--docs",
    "human": "--human",
    "humans": "--humans",
    "ids": "--ids",
    "languages": "-l",
    "names": "--names",
    "numbered": "--number-queries",
    "only": "--only",
    "pair_columns": "--pair-column",
    "reach": "--reach",
    "references": "--refs",
    "replace": "--replace",
    "section": "--section",
    "seed": "--seed",
    "sizes": "--sizes",
    "slope": "--slope",
    "systems": "-i",
    "tags": "--tags",
    "tokenize": "-tok",
    "top": "--top",
    "worst": "--worst",
}
"""The option of a parameter that a message names with a value, or with a word in capitals."""

_NEED = re.compile(rf"\bpass ({'|'.join(_MISSING)})=\.\.\.")
_GIVEN = re.compile(
    rf"(?<![\w:,|])({'|'.join(_OPTIONS)})=(?:(True)|\"([^\"]*)\"|(?:([A-Z]+|-?[\d.]*\d)\b)|(?=\s))"
)


def in_options(message: str) -> str:
    """A message of the library as people read it who gave options.

    >>> in_options("comet compares with the source: pass sources=...")
    'comet compares with the source: give the source with -s FILE.'
    >>> in_options('compare within items: by="item"')
    'compare within items: --by item'
    """
    message = _NEED.sub(lambda need: _MISSING[need[1]], message)
    return _GIVEN.sub(_option, message)


def _option(given: re.Match[str]) -> str:
    value = given[3] or given[4]
    return f"{_OPTIONS[given[1]]} {value}" if value else _OPTIONS[given[1]]
