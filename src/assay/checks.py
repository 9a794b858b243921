"""What looks odd in a test set, in words; nothing here changes a score."""

from __future__ import annotations

from collections.abc import Iterator

from assay.data import Dataset

__all__ = ["oddities"]

MANY_TOKENIZED = 100
FEW_SEGMENTS = 30
COPIES = 0.1


def oddities(dataset: Dataset) -> list[str]:
    """Remarks for the user: tokenized or empty lines, copies of the source, twin systems."""
    return [*_few(dataset), *_per_system(dataset), *_twins(dataset)]


def _few(dataset: Dataset) -> Iterator[str]:
    if len(dataset) < FEW_SEGMENTS:
        plural = "s" if len(dataset) > 1 else ""
        yield (
            f"{len(dataset)} segment{plural}: too few to say much; corpus scores, intervals and "
            "tests of so little text are unsteady."
        )


def _per_system(dataset: Dataset) -> Iterator[str]:
    for name, lines in dataset.systems.items():
        if (tokenized := sum(line.endswith(" .") for line in lines)) >= MANY_TOKENIZED:
            yield f"{name}: {tokenized} lines end in ' .': forgot to detokenize? It lowers scores."
        if empty := sum(not line.strip() for line in lines):
            yield f"{name}: {empty} of {len(lines)} lines are empty."
        pairs = zip(lines, dataset.sources, dataset.references, strict=False)
        copies = sum(
            line == source != "" and source not in references for line, source, references in pairs
        )
        if copies > COPIES * len(lines):
            yield f"{name}: {copies} of {len(lines)} lines are copies of the source, untranslated."


def _twins(dataset: Dataset) -> Iterator[str]:
    seen: dict[tuple[str, ...], str] = {}
    for name, lines in dataset.systems.items():
        if lines in seen:
            yield f"{seen[lines]} and {name} are the same text throughout."
        seen.setdefault(lines, name)
