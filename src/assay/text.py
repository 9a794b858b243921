"""Tokenizers by name, and what is done to text before the kernel counts it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from assay.data import DataError, Segment
from assay.extras import missing
from assay.settings import did_you_mean

__all__ = ["NATIVE", "TOKENIZERS", "Prepared", "check_tokenizer", "prepare", "rewrite", "tokenize"]

NATIVE = ("13a", "intl", "char", "none")
"""Tokenizers of the kernel; all others are sacreBLEU's own."""

TOKENIZERS = (
    *NATIVE,
    *("zh", "ja-mecab", "ko-mecab", "spm", "flores101", "flores200", "spBLEU-1K"),
)


class Prepared(NamedTuple):
    """Segments ready for the kernel, and the native tokenizer that finishes the work."""

    segments: Sequence[Segment]
    tokenizer: str
    classes: bytes


def check_tokenizer(name: str) -> None:
    """Raise a `DataError` that suggests the nearest name if there is no such tokenizer."""
    if name not in TOKENIZERS:
        raise DataError(
            f"unknown tokenizer {name!r}{did_you_mean(name, TOKENIZERS)}. "
            f"Tokenizers: {', '.join(TOKENIZERS)}."
        )


def prepare(segments: Sequence[Segment], tokenizer: str, *, lowercase: bool = False) -> Prepared:
    """Lowercase if asked, and leave to the kernel what it does natively."""
    native = tokenizer in NATIVE
    if lowercase and native:
        segments = rewrite(segments, str.lower)
    elif not native:
        split = _sacrebleu_tokenizer(tokenizer)
        segments = rewrite(segments, (lambda line: split(line.lower())) if lowercase else split)
    classes = _character_classes() if tokenizer == "intl" else b""
    return Prepared(segments, tokenizer if native else "none", classes)


def rewrite(segments: Sequence[Segment], change: Callable[[str], str]) -> list[Segment]:
    """The same segments with hypotheses and references changed; each text is changed once.

    Segments that shared a tuple of references still share one.
    """
    texts: dict[str, str] = {}
    tuples: dict[int, tuple[str, ...]] = {}

    def changed(line: str) -> str:
        found = texts.get(line)
        if found is None:
            found = texts[line] = change(line)
        return found

    def rewritten(segment: Segment) -> Segment:
        hypothesis, references, source = segment
        shared = tuples.get(id(references))
        if shared is None:
            shared = tuples[id(references)] = tuple(map(changed, references))
        return Segment(changed(hypothesis), shared, source)

    return [rewritten(segment) for segment in segments]


def tokenize(lines: Sequence[str], tokenizer: str = "13a") -> list[list[str]]:
    """The tokens of every line, as sacreBLEU's tokenizer of that name gives them.

    >>> tokenize(["Hello, world."])
    [['Hello', ',', 'world', '.']]
    """
    from assay import kernel

    check_tokenizer(tokenizer)
    if tokenizer not in NATIVE:
        split = _sacrebleu_tokenizer(tokenizer)
        return [split(line).split() for line in lines]
    classes = _character_classes() if tokenizer == "intl" else b""
    return kernel.tokenize(lines, tokenizer, classes)


@lru_cache
def _sacrebleu_tokenizer(name: str) -> Callable[[str], str]:
    from sacrebleu.metrics.bleu import _get_tokenizer

    extra = {"ja-mecab": "ja", "ko-mecab": "ko"}.get(name, "spm")
    try:
        split = _get_tokenizer(name)()
    except (ImportError, RuntimeError) as error:
        raise missing(extra, f"tokenizer {name!r} needs more packages", f" ({error})") from None
    except OSError as error:
        raise DataError(f"tokenizer {name!r} could not load its model: {error}") from None
    return lambda line: split(line.rstrip())


@lru_cache
def _character_classes() -> bytes:
    """One byte per code point: 1 punctuation, 2 number, 4 symbol.

    Asked of the very module that sacreBLEU's `intl` uses, so both know the same Unicode.
    """
    import regex

    everything = "".join(map(chr, range(0x110000)))
    table = bytearray(len(everything))
    for value, name in ((1, "P"), (2, "N"), (4, "S")):
        for match in regex.finditer(rf"\p{{{name}}}+", everything):
            table[match.start() : match.end()] = bytes([value]) * (match.end() - match.start())
    return bytes(table)
