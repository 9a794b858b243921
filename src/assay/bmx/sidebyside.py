"""One or two systems' segments with their words in colour, one below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.bmx.shading import largest_importance, shaded_words, tagged_words
from assay.bmx.systems import SystemExplanations
from assay.bmx.wordtags import WordTags
from assay.metrics.base import reference_count
from assay.results import Cell, Span, Table

__all__ = ["side_by_side"]


def side_by_side(
    explained: SystemExplanations,
    systems: Sequence[str],
    shown: Sequence[int],
    tags: WordTags | None = None,
) -> Table:
    """The segments at these positions, with a column per system.

    Every segment has a row with its scores, one per side with the words in colour, and one per
    side that people tagged. A source that is not explained stands above them.
    """
    rows = [row for at in shown for row in _rows(explained, systems, at, tags or {})]
    title = f"{explained.metric.title} of {' and '.join(systems)}, word by word"
    finer = frozenset(systems if explained.metric.is_small else ())
    heads = frozenset(at for at, row in enumerate(rows) if row[0] is not None)
    columns = ("segment", "side", *systems)
    return Table(title, columns, rows, _note(explained, shown), shaded=heads, finer=finer)


def _rows(
    explained: SystemExplanations, systems: Sequence[str], at: int, tags: WordTags
) -> Iterator[tuple[Cell, ...]]:
    found = [explained.found[system, at] for system in systems]
    # One scale for all systems, so that a colour means the same in all columns.
    every = [each for system in explained.systems for each in explained.found[system, at]]
    largest = largest_importance(every)
    yield (at + 1, "score", *(sides[0].score for sides in found))
    sources = explained.dataset.sources
    if sources and "source" not in explained.sides:
        yield (None, "source", (Span(sources[at]),), *([None] * (len(systems) - 1)))
    for number, side in enumerate(explained.sides):
        texts = [sides[number] for sides in found]
        words = (shaded_words(each.tokens, explained.helps(each), largest) for each in texts)
        yield (None, side, *words)
        if any((system, side) in tags for system in systems):
            pairs = zip(systems, texts, strict=True)
            yield (None, "tagged", *(tagged_words(e.tokens, tags[s, side][at]) for s, e in pairs))


def _note(explained: SystemExplanations, shown: Sequence[int]) -> str:
    metric, dataset = explained.metric, explained.dataset
    counted = reference_count(dataset.references) if metric.needs_references else None
    lines = [
        f"{_legend(explained)}{_unknown(explained, shown)}{_chosen(explained, shown)}",
        f"{metric.title}|{metric.signature(counted)}|explainer:{explained.explainer.label}",
    ]
    return "\n".join(lines)


def _legend(explained: SystemExplanations) -> str:
    several = any(len(each) > 1 for each in explained.dataset.references)
    truth = {"reference": "the best reference" if several else "the reference"}
    others = [truth.get(side, f"the {side}") for side in explained.sides if side != "hypothesis"]
    missing = "".join(f", and of {side} those that it misses" for side in others)
    return (
        "Green or {+1} to {+4}: the word helps the score of its segment. Red and underlined or "
        "[-1] to [-4]: it hurts. The strongest word of a segment has the strongest colour. Of the "
        f"hypothesis, words that do not help are those that the metric takes for wrong{missing}."
    )


def _unknown(explained: SystemExplanations, shown: Sequence[int]) -> str:
    for system in explained.systems:
        for at in shown:
            for each in explained.found[system, at]:
                if each.reason:
                    return f" Without colour: segment {at + 1} of {system}, say: {each.reason}."
    return ""


def _chosen(explained: SystemExplanations, shown: Sequence[int]) -> str:
    count = len(explained.segments)
    if len(shown) == count:
        return ""
    return (
        f" These are the {len(shown)} worst of {count} segments; --worst and --only choose "
        "others, and json and tsv have all."
    )
