"""Scoring one batch: an Arrow table in, segment scores and one row of sums out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from assay.data import Array, DataError, Dataset, MissingInput, Segment, language_pair
from assay.extras import require
from assay.io.records import ColumnChoice, recognise, told_columns
from assay.metrics.base import Metric, Statistics, parse, select_metrics
from assay.metrics.typef import TypeF
from assay.scale.sums import CorpusSums, column_names, types_table
from assay.statistics.exact import column_sums

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "BatchScores",
    "RowPlace",
    "TextColumns",
    "batch_dataset",
    "batch_segments",
    "find_columns",
    "score_batch",
    "score_segments",
]

REPEATED = 0.95
"""Where fewer segments than this share are distinct, each distinct one is scored once."""

_make_segment = partial(tuple.__new__, Segment)

_ROLES = ("hypothesis", "reference", "source")


class BatchScores(NamedTuple):
    """The scores of every segment, a column per metric, and one row of sums."""

    segments: pa.Table
    sums: pa.Table


class TextColumns(NamedTuple):
    """The columns that hold the texts; a segment's references may stand in several."""

    hypothesis: str
    references: tuple[str, ...]
    source: str = ""

    @property
    def used(self) -> list[str]:
        """Every column that is read."""
        return list(dict.fromkeys(filter(None, (self.hypothesis, *self.references, self.source))))


class RowPlace(NamedTuple):
    """Where the rows of a batch stand, for messages: `corpus.tsv`, line by line."""

    name: str = ""
    unit: str = "row"
    numbers: Sequence[int] = ()

    def at(self, index: int) -> str:
        """The place of one row."""
        number = self.numbers[index] if self.numbers else index + 1
        return f"{self.name}, {self.unit} {number}" if self.name else f"{self.unit} {number}"


def score_batch(
    batch: pa.RecordBatch | pa.Table,
    metrics: Iterable[str | Metric],
    *,
    columns: Mapping[str, ColumnChoice] | None = None,
    languages: str | tuple[str, str] | None = None,
) -> BatchScores:
    """Score a batch: an Arrow record batch or table in, segment scores and one row of sums out.

    The sums of all batches, added up by `merge_sums`, give the corpus scores (`score_sums`), which
    are those of `score` on all the texts at once. A pure function: run it wherever batches are.

    `columns` says which columns hold what: `{"hypothesis": "mt", "reference": ["a", "b"]}`;
    without it `mt` or `hypothesis`, `ref` or `reference`, `src` or `source`. A metric whose
    settings depend on the language needs `languages`, since one batch may look like another
    language than the next.
    """
    chosen = find_columns(batch.schema.names, columns)
    segments = batch_segments(batch, chosen, RowPlace())
    ready = _ready(metrics, segments, languages)
    sums = CorpusSums()
    scores = score_segments(segments, ready, sums, RowPlace())
    return BatchScores(scores, sums.table())


def find_columns(
    names: Sequence[str], columns: Mapping[str, ColumnChoice] | None = None, *, where: str = ""
) -> TextColumns:
    """Which columns hold the texts: as they are told, or else by their names."""
    prefix = f"{where}: " if where else ""
    for role in columns or ():
        if role not in _ROLES:
            raise DataError(f"{prefix}no part {role!r} here. Parts: {', '.join(_ROLES)}.")
    try:
        found = recognise(tuple(names), told_columns(columns))
    except DataError as error:
        raise DataError(f"{prefix}{error}") from None
    there = ", ".join(names)[:200] or "none"
    if len(found.hypotheses) != 1:
        raise DataError(
            f"{prefix}no column hypothesis (or mt). Columns: {there}. Name the one that holds the "
            "output: hypothesis=COLUMN."
        )
    chosen = TextColumns(
        found.hypotheses[0][1], tuple(column for _, column in found.references), found.source
    )
    check_columns(chosen, names, where=where)
    return chosen


def check_columns(columns: TextColumns, names: Sequence[str], *, where: str = "") -> None:
    """Raise a `DataError` where one of the columns is not there."""
    prefix = f"{where}: " if where else ""
    for column in columns.used:
        if column not in names:
            there = ", ".join(names)[:200] or "none"
            raise DataError(f"{prefix}no column {column!r}. Columns: {there}.")


def batch_segments(
    batch: pa.RecordBatch | pa.Table, columns: TextColumns, place: RowPlace
) -> list[Segment]:
    """The segments of a batch; a `DataError` names the row of what is no text."""
    hypotheses = _texts(batch, columns.hypothesis, place)
    _check_known(hypotheses, columns.hypothesis, place)
    sources: Sequence[Any] = ("",) * len(hypotheses)
    if columns.source:
        sources = _texts(batch, columns.source, place)
        _check_known(sources, columns.source, place)
    references = _references(batch, columns.references, place)
    # Twice as fast as calling Segment.
    return list(map(_make_segment, zip(hypotheses, references, sources, strict=True)))


def batch_dataset(
    segments: Sequence[Segment], languages: tuple[str, str] | None, named: tuple[str, str]
) -> Dataset:
    """The segments as a dataset, by which metrics choose tokenizers, taggers and models."""
    has_sources = any(segment.source for segment in segments)
    return Dataset(
        {"": tuple(segment.hypothesis for segment in segments)},
        tuple(segment.references for segment in segments),
        sources=tuple(segment.source for segment in segments) if has_sources else (),
        languages=languages,
        named_languages=named,
    )


def score_segments(
    segments: Sequence[Segment], metrics: Sequence[Metric], sums: CorpusSums, place: RowPlace
) -> pa.Table:
    """The scores of segments by metrics that are ready for their languages; added to the sums."""
    pa = require("scale", "pyarrow")
    _check_references(segments, metrics, place)
    distinct, places = _distinct(segments)
    sums.count(len(segments), {len(segment.references) for segment in segments})
    columns = {}
    with ExitStack() as afresh:
        for metric in metrics:
            afresh.enter_context(metric.afresh())
        for metric, name in zip(metrics, column_names(metrics), strict=True):
            sums.name(name, str(metric))
            scores = _score(metric, name, distinct, places, sums)
            columns[name] = pa.array(scores if places is None else scores[places], pa.float64())
    return pa.table(columns)


def _score(
    metric: Metric, name: str, segments: Sequence[Segment], places: Any, sums: CorpusSums
) -> Array:
    """The scores of distinct segments; each counts in the sums as often as it is there."""
    if isinstance(metric, TypeF):
        rows, types = metric.count(segments)
        times = np.ones(len(segments), np.int64) if places is None else np.bincount(places)
        totals = (rows.T.astype(np.int64) @ times).reshape(-1, 3)
        sums.add_types(name, types_table(types, totals))
    else:
        rows = metric.statistics(segments).rows
        if not isinstance(rows, np.ndarray):
            raise DataError(
                f"{metric} has sums without names, which cannot be added up over batches: "
                "score it on one file."
            )
        rows = rows.astype(float, copy=False)
        sums.add_sums(name, column_sums(rows if places is None else rows[places]))
    return Statistics(metric, rows).for_segments().segments()


def _distinct(segments: Sequence[Segment]) -> tuple[Sequence[Segment], Any]:
    """The distinct segments and the place of each among them; None where few are repeated."""
    order = {segment: at for at, segment in enumerate(dict.fromkeys(segments))}
    if len(order) > REPEATED * len(segments):
        return segments, None
    return list(order), np.array([order[segment] for segment in segments], np.intp)


def _ready(
    metrics: Iterable[str | Metric],
    segments: Sequence[Segment],
    languages: str | tuple[str, str] | None,
) -> list[Metric]:
    """The metrics for these languages; of none where they do not matter."""
    if isinstance(metrics, str):
        raise DataError(f"metrics are a list: pass [{metrics!r}].")
    given = list(metrics)
    pair = language_pair(languages) if isinstance(languages, str) else languages
    for metric in given:
        if pair is None and parse(metric).needs_languages:
            raise MissingInput("languages", f"{metric} depends on the language of all batches")
    return select_metrics(given, batch_dataset(segments, pair, ("", ""))).metrics


def _check_references(
    segments: Sequence[Segment], metrics: Sequence[Metric], place: RowPlace
) -> None:
    if any(metric.needs_references for metric in metrics):
        for at, segment in enumerate(segments):
            if not segment.references:
                metric = next(metric for metric in metrics if metric.needs_references)
                raise DataError(f"{place.at(at)}: no reference, which {metric} compares with.")


def _check_known(texts: Sequence[Any], column: str, place: RowPlace) -> None:
    if None in texts:
        raise DataError(f"{place.at(texts.index(None))}: {column!r} is missing.")


def _texts(batch: Any, column: str, place: RowPlace) -> list[Any]:
    values = _decoded(batch[column])
    if not _is_text(values.type) and values.null_count < len(values):
        where = f"{place.name}: " if place.name else ""
        raise DataError(f"{where}column {column!r} holds {values.type}, not text.")
    found: list[Any] = values.to_pylist()
    return found


def _references(batch: Any, columns: Sequence[str], place: RowPlace) -> list[tuple[str, ...]]:
    if not columns:
        return [()] * len(batch)
    found = [_reference_cells(batch, column, place) for column in columns]
    if len(found) == 1:
        return found[0]
    return [tuple(text for cell in cells for text in cell) for cells in zip(*found, strict=True)]


def _reference_cells(batch: Any, column: str, place: RowPlace) -> list[tuple[str, ...]]:
    """The references in every cell, which holds a text or a list of texts; none where missing."""
    pa = require("scale", "pyarrow")
    values = _decoded(batch[column])
    if not (pa.types.is_list(values.type) or pa.types.is_large_list(values.type)):
        texts = _texts(batch, column, place)
        if not values.null_count:
            return list(zip(texts, strict=True))
        return [() if text is None else (text,) for text in texts]
    if not _is_text(values.type.value_type) and not pa.types.is_null(values.type.value_type):
        where = f"{place.name}: " if place.name else ""
        raise DataError(f"{where}column {column!r} holds {values.type}, not lists of texts.")
    return [tuple(text for text in cell or () if text is not None) for cell in values.to_pylist()]


def _decoded(values: Any) -> Any:
    pa = require("scale", "pyarrow")
    if pa.types.is_dictionary(values.type):
        return values.cast(values.type.value_type)
    return values


def _is_text(kind: Any) -> bool:
    pa = require("scale", "pyarrow")
    return any(
        test(kind)
        for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    )
