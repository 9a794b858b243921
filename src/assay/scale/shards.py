"""`score_shards`: a corpus of any size in files, scored in constant memory and resumable."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from assay.data import DataError, Segment, language_pair
from assay.extras import require
from assay.io.files import FilePath
from assay.io.records import ColumnChoice
from assay.metrics.base import Metric, Selection, select_metrics
from assay.progress import Engine, Track, current_cluster, spread, tracked, untracked
from assay.scale.batches import (
    TextColumns,
    batch_dataset,
    batch_segments,
    find_columns,
    score_segments,
)
from assay.scale.files import Shard, check_names, check_unchanged, find_shards, local_copy, remote
from assay.scale.filters import Where
from assay.scale.outputs import OutputFolder, RowWriter, has_changed
from assay.scale.readers import (
    ROWS,
    ShardBatch,
    heed_limit,
    read_batches,
    read_column_names,
)
from assay.scale.report import ShardsResult
from assay.scale.sums import CorpusSums, column_names, metric_scores
from assay.scoring import ScoreOptions
from assay.store.observing import observe_sums
from assay.store.results import ResultStore
from assay.store.rows import file_digests
from assay.text import language_notes, named_languages
from assay.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ShardOutcome", "ShardPlan", "score_shard", "score_shards"]

T = TypeVar("T")

AHEAD = 2
"""Batches that are read while another is scored."""

PATIENCE = 1.5
"""Seconds that a run which is given up waits for the batches that it is at."""

MEGABYTE = 10**6

_SAMPLED_PATHS = 100
"""Paths that are searched for the names of languages."""


@dataclass(frozen=True)
class ShardPlan:
    """What is done with every shard, settled once: metrics ready for the languages, columns.

    `files` says what the files hold that settings of the metrics name.
    """

    metrics: tuple[Metric, ...]
    columns: TextColumns
    out: str | None = None
    where: Where | None = None
    files: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """A hash of all that decides what is written."""
        told = {
            "version": __version__,
            "metrics": [self._told(metric) for metric in self.metrics],
            "columns": self.columns,
            "where": self.where.text if self.where else None,
            "files": self.files,
            "rows": ROWS,
            "texts": "sha256",
        }
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()

    def signatures(self, references: int | str) -> dict[str, str]:
        """The signature of every column of scores, as it scores single segments."""
        found = {}
        for metric, name in zip(self.metrics, column_names(self.metrics), strict=True):
            by_segment = metric.for_segments()
            counted = references if metric.needs_references else None
            found[name] = f"{by_segment.title}|{by_segment.signature(counted)}"
        return found

    @staticmethod
    def _told(metric: Metric) -> tuple[str, str, str]:
        return metric.requested, metric.signature(), metric.for_segments().signature()


class ShardOutcome(NamedTuple):
    """What became of a shard: its sums, and how many of its rows pass the filter.

    `reason` says why it was scored ("new", "changed", "other settings", "damaged"); it is empty
    where an earlier run had done it. `texts` is the digest of its references and sources.
    """

    shard: Shard
    sums: pa.Table | None
    sha256: str
    segments: int
    passed: int
    texts: str
    reason: str


@spread
def score_shards(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    metrics: Iterable[str | Metric] = ("bleu",),
    *,
    columns: Mapping[str, ColumnChoice] | None = None,
    languages: str | tuple[str, str] | None = None,
    tokenize: str | None = None,
    lowercase: bool = False,
    out: str | os.PathLike[str] | None = None,
    where: str | None = None,
    workers: int | None = None,
    store: FilePath | None = None,
    run_name: str = "",
    cluster: Engine = None,
    track: Track = untracked,
) -> ShardsResult:
    """Score a corpus in many files, in constant memory: the scores are those of one file.

    - `paths`: files, or patterns such as `"corpus/*.parquet"`; Parquet, Arrow, JSONL, TSV or CSV
      with a header, each also .gz, .xz or .zst, here or wherever fsspec reads (`"s3://..."`).
    - `columns`: what the columns hold, as in `{"hypothesis": "mt", "reference": ["a", "b"]}`;
      by default `mt` or `hypothesis`, `ref` or `reference`, `src` or `source`.
    - `out`: a folder for the segment scores, a Parquet file per shard. A run that was interrupted
      goes on where it was; a shard that has changed, or whose metrics have, is scored again.
    - `where`: a condition such as `"chrf > 20 and bleu > 5"`: the rows that pass are written to
      `out`, with all of their columns.
    - `workers`: shards at once on this machine (default: one per core); `cluster`: where
      else to score them, as in `"tcp://host:8786"`. Neither changes a figure.
    - `store`: a folder in which the run is written down for `history`, under `run_name`. What was
      scored is kept by `out`.
    """
    heed_limit()
    require("scale", "pyarrow", reason="shards are read with Arrow")
    shards = find_shards([os.fspath(path) for path in _listed(paths)])
    condition = Where(where) if where is not None else None
    if condition and out is None:
        raise DataError("where writes the rows that pass: pass out=FOLDER.")
    if workers is not None and workers < 1:
        raise DataError(f"workers={workers}: give at least 1.")
    pair = language_pair(languages) if isinstance(languages, str) else languages
    select = partial(select_metrics, metrics, tokenize=tokenize, lowercase=lowercase)
    folder = None if out is None else os.fspath(out)
    kept = None if store is None else ResultStore(store)
    plan, notes = _plan(shards, select, columns, pair, folder, condition)
    if folder is not None:
        _check_folder(folder, shards)
        OutputFolder(folder).prepare()
    outcomes: list[ShardOutcome] = []
    sums = CorpusSums()
    steps = _elsewhere(shards, plan) if cluster else _here(shards, plan, workers)
    total = sum(_megabytes(shard.size) for shard in shards)
    with tracked(untracked):
        for outcome in track(steps, total=total):
            if outcome is not None:
                sums.add_table(outcome.sums)
                outcomes.append(outcome._replace(sums=None))
    order = {shard.path: at for at, shard in enumerate(shards)}
    outcomes.sort(key=lambda outcome: order[outcome.shard.path])
    result = ShardsResult(
        (plan.columns.hypothesis,),
        metric_scores(sums, plan.metrics),
        ScoreOptions(),
        notes=(*notes, *_rescored(outcomes, plan), *_strangers(shards, plan)),
        shards=tuple(outcomes),
        where=where,
    )
    if kept:
        _write_down(kept, result, run_name, pair)
    return result


def _write_down(
    store: ResultStore, result: ShardsResult, name: str, languages: tuple[str, str] | None
) -> None:
    """Keep the corpus scores as a run; what tells its test set is the texts of all shards."""
    digest = hashlib.sha256("".join(outcome.texts for outcome in result.shards).encode())
    store.add_run(
        "score",
        [
            observe_sums(entry.metric, entry.signature, system, float(value), entry.length)
            for entry in result.by_metric
            for system, value in zip(result.systems, entry.corpus, strict=True)
        ],
        name=name,
        test_set="",
        test_set_sha256=digest.hexdigest(),
        languages=languages,
        segments=result.segments,
    )


def score_shard(
    shard: Shard, plan: ShardPlan, *, tell: Callable[[float], None] = lambda share: None
) -> ShardOutcome:
    """Score one shard, unless that has been done; `tell` hears which share of it is done.

    It needs nothing but its arguments, so that any machine may run it.
    """
    reason = "new"
    if plan.out is not None:
        folder = OutputFolder(plan.out)
        finished = folder.finished(shard.name)
        if finished is not None:
            about = finished.about
            settings, changed = about["plan"] != plan.digest, has_changed(shard, about)
            if not settings and not changed:
                sha256, texts = about["input"]["sha256"], about["input"]["texts_sha256"]
                known = sha256, about["segments"], about["passed"], texts
                return ShardOutcome(shard, finished.sums, *known, reason="")
            reason = "changed" if changed else "other settings"
        elif folder.has_sums(shard.name):
            reason = "damaged"
    with local_copy(shard) as copy, _writer(shard, plan) as writer:
        sums = CorpusSums()
        texts = hashlib.sha256()
        passed = 0
        every_column = plan.where is not None
        batches = read_batches(copy.path, shard.path, plan.columns, every_column=every_column)
        for batch in _ahead(batches):
            segments = batch_segments(batch.table, plan.columns, batch.place)
            texts.update(_compared_with(segments))
            passed += _score_batch(batch, segments, plan, sums, writer)
            tell(batch.done)
        check_unchanged(shard)
        known = copy.sha256, sums.segments, passed, texts.hexdigest()
        outcome = ShardOutcome(shard, sums.table(), *known, reason=reason)
        writer.finish(_about(outcome, plan, sums.reference_count))
    if plan.out is not None:
        about = _about(outcome, plan, sums.reference_count)
        OutputFolder(plan.out).write_sums(shard.name, outcome.sums, about)
    return outcome


def _compared_with(segments: Sequence[Segment]) -> bytes:
    """The references and sources of segments, in a form that tells them apart."""
    parts = ("\x1f".join((*segment.references, segment.source)) for segment in segments)
    return "".join(f"{part}\x1e" for part in parts).encode("utf-8", "surrogatepass")


def _score_batch(
    batch: ShardBatch,
    segments: Sequence[Segment],
    plan: ShardPlan,
    sums: CorpusSums,
    writer: RowWriter,
) -> int:
    """Add a batch to the sums, write its scores or what passes, and count that."""
    compute = require("scale", "pyarrow.compute")
    scores = score_segments(segments, plan.metrics, sums, batch.place)
    if plan.where is None:
        writer.write(scores)
        return len(segments)
    rows = _with_scores(batch.table, scores)
    columns = {name: rows[name] for name in rows.column_names}
    for metric, name in zip(plan.metrics, scores.column_names, strict=True):
        for alias in (str(metric), metric.title):
            columns.setdefault(alias, scores[name])
    try:
        plan.where.check(list(columns))
        mask = compute.fill_null(plan.where.mask(columns), False)
    except DataError as error:
        raise DataError(f"{batch.place.name}: {error}") from None
    kept = rows.filter(mask)
    writer.write(kept)
    return len(kept)


def _with_scores(batch: Any, scores: pa.Table) -> pa.Table:
    """The rows of the input, with the scores as further columns; a namesake gives way."""
    pa = require("scale", "pyarrow")
    rows = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
    twice = [name for name in rows.column_names if name in scores.column_names]
    rows = rows.drop_columns(twice) if twice else rows
    for name in scores.column_names:
        rows = rows.append_column(name, scores[name])
    return rows


def _about(outcome: ShardOutcome, plan: ShardPlan, references: int | str) -> dict[str, Any]:
    """What is written into the files of a shard: enough to know what they are of."""
    shard = outcome.shard
    return {
        "version": __version__,
        "signatures": plan.signatures(references),
        "where": plan.where.text if plan.where else None,
        "segments": outcome.segments,
        "passed": outcome.passed,
        "input": {
            "path": shard.path,
            "size": shard.size,
            "stamp": shard.stamp,
            "sha256": outcome.sha256,
            "texts_sha256": outcome.texts,
        },
        "plan": plan.digest,
    }


@contextmanager
def _writer(shard: Shard, plan: ShardPlan) -> Iterator[RowWriter]:
    place = (
        nullcontext()
        if plan.out is None
        else OutputFolder(plan.out).writing(f"{shard.name}.parquet")
    )
    with place as path:
        writer = RowWriter(path)
        try:
            yield writer
        finally:
            writer.close()


def _plan(
    shards: Sequence[Shard],
    select: Callable[..., Selection],
    columns: Mapping[str, ColumnChoice] | None,
    languages: tuple[str, str] | None,
    out: str | None,
    where: Where | None,
) -> tuple[ShardPlan, list[str]]:
    """Columns, and metrics for the languages, by the beginning of the first shard; and notes."""
    first = shards[0]
    with local_copy(first) as copy:
        names = read_column_names(copy.path, first.path)
        chosen = find_columns(names, columns, where=first.path)
        with closing(read_batches(copy.path, first.path, chosen)) as batches:
            batch = next(batches)
    segments = batch_segments(batch.table, chosen, batch.place)
    named = named_languages(systems=[shard.path for shard in shards[:_SAMPLED_PATHS]])
    dataset = batch_dataset(segments, languages, named)
    selection = select(dataset)
    if not selection.metrics:
        raise DataError("no metric given: pass at least one, as in ['bleu'].")
    files = tuple(line for metric in selection.metrics for line in file_digests(metric))
    plan = ShardPlan(tuple(selection.metrics), chosen, out, where, files)
    notes = [*selection.notes, *language_notes(dataset, selection.sides)]
    scored = column_names(plan.metrics)
    if where:
        titles = [metric.title for metric in plan.metrics]
        where.check([*scored, *map(str, plan.metrics), *titles, *names])
        notes += [
            f"{first.path}: the column {name!r} gives way to the new score."
            for name in names
            if name in scored
        ]
    if "system" in names and "system" not in chosen.used:
        notes.append("the column 'system' is not looked at: all rows are scored as one corpus.")
    return plan, notes


def _check_folder(out: str, shards: Sequence[Shard]) -> None:
    """No output may take the place of an input, or of another output."""
    check_names(shards)
    folder = OutputFolder(out)
    inputs = {os.path.realpath(shard.path): shard.path for shard in shards}
    for shard in shards:
        target = folder.file(f"{shard.name}.parquet")
        if os.path.realpath(target) in inputs:
            raise DataError(f"out: {target} is one of the inputs; name another folder.")


def _here(
    shards: Sequence[Shard], plan: ShardPlan, workers: int | None
) -> Iterator[ShardOutcome | None]:
    """Shards on threads of this machine; a step per megabyte, of which one carries the outcome."""
    count = min(workers or os.cpu_count() or 1, len(shards))
    scoring = _ThreadedScoring(shards, plan)
    # Not a pool, for which the interpreter would wait: a batch of a neural metric takes minutes.
    threads = [
        threading.Thread(target=scoring.work, name="shard", daemon=True) for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    left = len(shards)
    try:
        while left:
            megabytes, found = scoring.done.get()
            if isinstance(found, BaseException):
                raise found
            if found is not None:
                left -= 1
                yield found
                megabytes -= 1
            yield from [None] * megabytes
    finally:
        scoring.stop.set()
        give_up = time.monotonic() + PATIENCE
        for thread in threads:
            thread.join(max(0.0, give_up - time.monotonic()))


class _ThreadedScoring:
    """Shards that threads take one after the other; what was done comes out at `done`.

    It is a number of megabytes, with the outcome of a shard at its end, or what went wrong.
    """

    def __init__(self, shards: Sequence[Shard], plan: ShardPlan) -> None:
        self.done: queue.Queue[tuple[int, ShardOutcome | BaseException | None]] = queue.Queue()
        self.stop = threading.Event()
        self._plan = plan
        self._waiting, self._taking = iter(shards), threading.Lock()

    def work(self) -> None:
        """Score shards until there are none left; what each thread does."""
        while not self.stop.is_set():
            with self._taking:
                shard = next(self._waiting, None)
            if shard is None:
                return
            self._score(shard)

    def _score(self, shard: Shard) -> None:
        size, told = _megabytes(shard.size), 0

        def tell(share: float) -> None:
            nonlocal told
            if self.stop.is_set():
                raise _Stopped
            new = int(share * (size - 1)) - told
            told += new
            if new > 0:
                self.done.put((new, None))

        try:
            outcome = score_shard(shard, self._plan, tell=tell)
            self.done.put((size - told, outcome))
        except _Stopped:
            pass
        except BaseException as error:
            self.done.put((0, error))


class _Stopped(Exception):
    """The run has been given up."""


def _elsewhere(shards: Sequence[Shard], plan: ShardPlan) -> Iterator[ShardOutcome | None]:
    """Shards on a cluster; steps as for `_here`, all of a shard's when it is done."""
    # Whoever does the work may do it in another folder.
    plan = replace(plan, out=None if plan.out is None else _absolute(plan.out))
    items = [shard._replace(path=_absolute(shard.path)) for shard in shards]
    outcomes = current_cluster().map(partial(score_shard, plan=plan), items)
    for outcome, shard in zip(outcomes, shards, strict=True):
        yield outcome._replace(shard=shard)
        yield from [None] * (_megabytes(outcome.shard.size) - 1)


def _absolute(path: str) -> str:
    return path if remote(path) else str(Path(path).absolute())


def _megabytes(size: int) -> int:
    """Begun megabytes, at least one: the steps of a shard on the bar."""
    return max(1, -(-size // MEGABYTE))


def _ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items, which a thread reads while others are worked on; few wait at a time."""
    waiting: queue.Queue[Any] = queue.Queue(AHEAD)
    stop = threading.Event()
    end = object()

    def read() -> None:
        try:
            for item in items:
                if not _offered(item):
                    return
            _offered(end)
        except BaseException as error:
            _offered(_Failure(error))

    def _offered(item: Any) -> bool:
        while not stop.is_set():
            try:
                waiting.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    reader = threading.Thread(target=read, name="reader", daemon=True)
    reader.start()
    try:
        while (item := waiting.get()) is not end:
            if isinstance(item, _Failure):
                raise item.error
            yield item
    finally:
        stop.set()
        reader.join()


class _Failure(NamedTuple):
    error: BaseException


def _listed(paths: Any) -> list[Any]:
    found = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not found:
        raise DataError("no shards given: pass files or a pattern such as 'corpus/*.parquet'.")
    return found


def _rescored(outcomes: Sequence[ShardOutcome], plan: ShardPlan) -> Iterator[str]:
    """Which shards an earlier run had scored in vain."""
    for reason, why in (
        ("changed", "has changed since it was scored"),
        ("other settings", "was scored with other metrics, files, columns or another version"),
        ("damaged", "was scored, but what was written of it is damaged or gone"),
    ):
        paths = [outcome.shard.path for outcome in outcomes if outcome.reason == reason]
        if paths:
            more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
            yield f"{paths[0]}{more} {why}: scored again."


def _strangers(shards: Sequence[Shard], plan: ShardPlan) -> Iterator[str]:
    """Outputs of earlier runs that are of none of these shards."""
    if plan.out is None:
        return
    own = {shard.name for shard in shards}
    others = [name for name in OutputFolder(plan.out).names() if name not in own]
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        yield f"{plan.out} also holds {others[0]}.parquet{more}, of none of these shards."
