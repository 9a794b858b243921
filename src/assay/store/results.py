"""The store of results: rows by metric and content, the systems' texts, and runs, in a folder.

Files are written beside their place and moved there whole, so that any number of processes may use
a store at once. Their names are digests: whatever a system is called, no path comes from it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from assay.data import DataError, Dataset, StoreWarning
from assay.io.files import FilePath
from assay.metrics.base import (
    Metric,
    NamedRows,
    Rows,
    Statistics,
    cached_statistics,
    counted_rows,
)
from assay.registry import did_you_mean
from assay.store.packing import (
    DamagedError,
    dataset_digest,
    lines_digest,
    pack,
    pack_lines,
    unpack,
    unpack_lines,
)
from assay.store.rows import aligned, metric_identity, named_part, pack_rows, unpack_rows
from assay.store.runs import Observation, RunRecord, new_run, read_run, run_lines
from assay.version import __version__

__all__ = ["ResultStore", "StoredSystem", "current_store", "use_store"]

FORMAT = 1
"""Of the folder; a later version of the package may have another."""

MARKER = "assay-store.json"
"""The file that makes a folder a store."""

_PARTS = ("rows", "texts", "runs")
_PER_SEGMENT = 2**20
_BESIDES = 2**28
"""No entry is larger unpacked than so many bytes, and so many for each segment."""

_DAY = 24 * 60 * 60


class StoredSystem(NamedTuple):
    """A system of an earlier run: its name in that run, and its outputs."""

    name: str
    run: RunRecord
    lines: tuple[str, ...]

    @property
    def label(self) -> str:
        """The system and the run, which tell it from the same system of today."""
        return f"{self.name} ({self.run.label})"


class Pruned(NamedTuple):
    """How many files were removed from a store, and how many bytes they had."""

    files: int
    bytes: int


class ResultStore:
    """A folder of results; made where there is none, unless only an existing one will do.

    Reading and writing of rows and texts never fail: what is damaged, or cannot be written, is a
    `StoreWarning`, and is computed as without a store.
    """

    def __init__(self, folder: FilePath, *, create: bool = True) -> None:
        self.folder = Path(folder)
        self._writable = True
        self._digests: dict[int, tuple[Sequence[str], str]] = {}
        self._dataset_digests: dict[tuple[int, int], tuple[object, str]] = {}
        _open(self.folder, create=create)

    def statistics(self, dataset: Dataset, metric: Metric) -> list[Statistics]:
        """The statistics of each system; those that are not here yet are scored, and kept."""
        identity = metric_identity(metric)
        if identity is None:
            self._warn(f"{metric} is not kept: its code is in no file, so a change is not seen.")
            return _slices(metric, dataset)
        abouts = {
            name: self._about(dataset, identity, metric, lines)
            for name, lines in dataset.systems.items()
        }
        keys = {name: _key(about) for name, about in abouts.items()}
        wanted = {keys[name]: about for name, about in abouts.items()}
        found = {key: self._rows(key, about, len(dataset)) for key, about in wanted.items()}
        new: dict[str, str] = {}
        for name, key in keys.items():
            if found[key] is None:
                new.setdefault(key, name)  # the same outputs under another name are scored once
        names = list(new.values())
        for name, rows in zip(names, _scored(dataset, metric, names), strict=True):
            found[keys[name]] = rows
            if rows.names is None and hasattr(rows.rows, "indptr"):
                self._warn(f"{metric} is not kept: its sparse columns have no names.")
                return _slices(metric, dataset)
            self._keep("rows", keys[name], pack(pack_rows(rows, abouts[name])))
        parts = [part for name in dataset.systems if (part := found[keys[name]]) is not None]
        return [Statistics(metric, rows) for rows in aligned(parts)]

    def key(self, dataset: Dataset, metric: Metric, system: str) -> str:
        """The key of a system's rows; empty where they cannot be kept."""
        metric = metric.for_dataset(dataset)
        identity = metric_identity(metric)
        if identity is None:
            return ""
        return _key(self._about(dataset, identity, metric, dataset.systems[system]))

    def rows(self, keys: Sequence[str], length: int) -> list[Rows] | None:
        """The rows of these keys with columns in common; None where one is not here."""
        found = [self._rows(key, None, length) for key in keys if _is_digest(key)]
        there = [rows for rows in found if rows is not None]
        return aligned(there) if len(there) == len(keys) else None

    def add_run(
        self,
        command: str,
        observations: Iterable[Observation],
        *,
        name: str = "",
        test_set: str,
        test_set_sha256: str,
        languages: tuple[str, str] | None = None,
        segments: int,
        passed: bool | None = None,
    ) -> RunRecord:
        """Write down a run of this moment."""
        run = new_run(
            command,
            observations,
            name=name,
            test_set=test_set,
            test_set_sha256=test_set_sha256,
            languages=languages,
            segments=segments,
            passed=passed,
        )
        try:
            data = run_lines(run).encode("utf-8", "surrogatepass")
            _write(self.folder / "runs" / f"{run.run}.jsonl", data)
        except OSError as error:
            raise DataError(_cannot_write(self.folder, error)) from None
        return run

    def add_dataset_run(
        self,
        command: str,
        dataset: Dataset,
        observations: Iterable[Observation],
        *,
        name: str = "",
        passed: bool | None = None,
    ) -> RunRecord:
        """Write down a run on a test set, and keep the outputs of its systems."""
        texts = {system: self.keep_lines(lines) for system, lines in dataset.systems.items()}
        return self.add_run(
            command,
            [replace(each, text=texts.get(each.system, "")) for each in observations],
            name=name,
            test_set=dataset.name,
            test_set_sha256=self.dataset_digest(dataset),
            languages=dataset.languages,
            segments=len(dataset),
            passed=passed,
        )

    def runs(self) -> list[RunRecord]:
        """All runs, the oldest first; damaged ones are left out with a warning."""
        found = []
        for path in sorted((self.folder / "runs").glob("*.jsonl")):
            try:
                text = path.read_bytes().decode("utf-8", "surrogatepass")
                found.append(read_run(text))
            except (OSError, ValueError) as error:
                self._warn(f"{path} is damaged and left out ({_short(error)}).")
        return sorted(found, key=lambda run: (run.time, run.run))

    def stored_system(
        self, dataset: Dataset, wanted: str, candidate: Sequence[str]
    ) -> StoredSystem:
        """The system of an earlier run on this test set.

        `wanted` is `last`, `last/SYSTEM`, `run:NAME` or `run:NAME/SYSTEM`. The last run is the
        newest that has a system other than the `candidate`, by its outputs, and that is no failed
        check: what was refused is no baseline.
        """
        runs = self._runs_on(dataset)
        own = self._lines_digest(candidate)
        for run, system in _choices(runs, wanted):
            entry = _outputs_of(run, system, wanted)
            if wanted.partition("/")[0] == "last" and (run.passed is False or entry.text == own):
                continue
            lines = self.lines(entry.text, len(dataset)) if entry.text else None
            if lines is None:
                raise DataError(
                    f"{self.folder} no longer has the outputs of {entry.system} in the run "
                    f"{run.label}: name their file instead of {wanted}."
                )
            return StoredSystem(entry.system, run, lines)
        raise DataError(
            f"baseline {wanted}: {self.folder} has no run of this test set that is neither the "
            "candidate itself nor a failed check. Score a baseline into it first, or name a file."
        )

    def _runs_on(self, dataset: Dataset) -> list[RunRecord]:
        """The runs on this test set, the newest first."""
        runs = self.runs()
        if not runs:
            raise DataError(f"{self.folder} has no runs yet: fill it by assay score ... --store.")
        digest = self.dataset_digest(dataset)
        same = [run for run in runs if run.test_set_sha256 == digest]
        if not same:
            raise DataError(
                f"{self.folder} has {len(runs)} run{'s' * (len(runs) > 1)}, but none with these "
                "references and this source: give those that the baseline was scored with."
            )
        return same[::-1]

    def keep_lines(self, lines: Sequence[str]) -> str:
        """Keep the outputs of a system; gives back the digest by which they are found."""
        digest = self._lines_digest(lines)
        try:
            os.utime(self._path("texts", digest))  # used today: see `prune`
        except OSError:
            self._keep("texts", digest, pack(pack_lines(lines)))
        return digest

    def lines(self, digest: str, length: int) -> tuple[str, ...] | None:
        """The outputs with this digest; None where they are not here."""
        if not _is_digest(digest):
            return None
        arrays = self._read("texts", digest, length)
        if arrays is None:
            return None
        try:
            lines = unpack_lines(arrays)
        except DamagedError as error:
            self._damaged(self._path("texts", digest), error)
            return None
        if lines_digest(lines) != digest or len(lines) != length:
            self._damaged(self._path("texts", digest), DamagedError("they are other lines"))
            return None
        return lines

    def dataset_digest(self, dataset: Dataset) -> str:
        """The digest of the references and the source."""
        key = id(dataset.references), id(dataset.sources)
        known = self._dataset_digests.get(key)
        if known is None:
            # The texts are kept, too: as long as they are there, nothing else has these ids.
            texts = dataset.references, dataset.sources
            known = self._dataset_digests[key] = (texts, dataset_digest(dataset))
        return known[1]

    def prune(self, days: int) -> Pruned:
        """Remove rows and texts that nothing used for so many days; runs stay."""
        before = time.time() - days * _DAY
        files = size = 0
        for part in _PARTS:
            for path in (self.folder / part).rglob("*"):
                is_left_over = path.name.startswith(".") and path.suffix == ".tmp"
                if (part == "runs" and not is_left_over) or path.is_dir():
                    continue
                with suppress(OSError):
                    about = path.lstat()
                    if about.st_mtime <= before:
                        path.unlink()
                        files, size = files + 1, size + about.st_size
        return Pruned(files, size)

    def _about(
        self, dataset: Dataset, identity: str, metric: Metric, lines: Sequence[str]
    ) -> dict[str, Any]:
        return {
            "metric": str(metric),
            "identity": hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest(),
            "test_set": self.dataset_digest(dataset),
            "lines": self._lines_digest(lines),
        }

    def _lines_digest(self, lines: Sequence[str]) -> str:
        known = self._digests.get(id(lines))
        if known is None or known[0] is not lines:
            known = self._digests[id(lines)] = (lines, lines_digest(lines))
        return known[1]

    def _rows(self, key: str, about: dict[str, Any] | None, length: int) -> NamedRows | None:
        arrays = self._read("rows", key, length)
        if arrays is None:
            return None
        try:
            told = json.loads(arrays["about"].tobytes()) if about is None else about
            if _key(told) != key:
                raise DamagedError("it is of something else")
            return unpack_rows(arrays, told, length)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            self._damaged(self._path("rows", key), error)
            return None

    def _read(self, part: str, key: str, length: int) -> dict[str, Any] | None:
        path = self._path(part, key)
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self._damaged(path, error)
            return None
        try:
            arrays = unpack(data, most=_BESIDES + length * _PER_SEGMENT)
        except DamagedError as error:
            self._damaged(path, error)
            return None
        with suppress(OSError):
            os.utime(path)  # used today: see `prune`
        return arrays

    def _keep(self, part: str, key: str, data: bytes) -> None:
        if not self._writable:
            return
        try:
            _write(self._path(part, key), data)
        except OSError as error:
            self._writable = False
            self._warn(f"{_cannot_write(self.folder, error)} Nothing is kept.")

    def _path(self, part: str, key: str) -> Path:
        return self.folder / part / key[:2] / f"{key}.npz"

    def _damaged(self, path: Path, error: Exception) -> None:
        self._warn(f"{path} is damaged and not used ({_short(error)}).")

    def _warn(self, message: str) -> None:
        warnings.warn(message, StoreWarning, stacklevel=2)


_STORE: ContextVar[ResultStore | None] = ContextVar("store", default=None)


@contextmanager
def use_store(store: FilePath | ResultStore | None) -> Iterator[ResultStore | None]:
    """Within it, scores come from the store where it has them; without one, all is as before.

    It gives the store where one is named: whoever names one writes a run down.
    """
    if store is None:
        yield None
        return
    opened = store if isinstance(store, ResultStore) else ResultStore(store)
    before = _STORE.set(opened)
    try:
        with cached_statistics(opened):
            yield opened
    finally:
        _STORE.reset(before)


def current_store() -> ResultStore | None:
    """The store in use, if there is one."""
    return _STORE.get()


def _open(folder: Path, *, create: bool) -> None:
    """Raise a `DataError` where the folder is no store and cannot become one."""
    try:
        if not folder.exists():
            if not create:
                raise DataError(f"{folder} does not exist: fill it by assay score ... --store.")
            folder.mkdir(parents=True, exist_ok=True)
        if not folder.is_dir():
            raise DataError(f"{folder} is a file; a store is a folder.")
        if (folder / MARKER).is_file():
            _check_marker(folder / MARKER)
            return
        others = [
            path.name
            for path in folder.iterdir()
            if path.name not in (*_PARTS, MARKER) and not path.name.startswith(".")
        ]
        if others:
            raise DataError(
                f"{folder} is no store, but has other files ({others[0]}): name a new folder."
            )
        if not create:
            raise DataError(f"{folder} is empty: fill it by assay score ... --store {folder}")
        about = {"store": FORMAT, "assay": __version__, "made": "by assay ... --store FOLDER"}
        _write(folder / MARKER, f"{json.dumps(about)}\n".encode())
    except OSError as error:
        raise DataError(_cannot_write(folder, error)) from None


def _check_marker(path: Path) -> None:
    try:
        number = int(json.loads(path.read_text("utf-8"))["store"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError(f"{path} is damaged: name another folder, or remove this one.") from None
    if number > FORMAT:
        raise DataError(f"{path.parent} is a store of a newer version: pip install -U assay-mt")


def _write(path: Path, data: bytes) -> None:
    """Write a file beside its place and move it there; a link in its place is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _move(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _move(temporary: Path, path: Path) -> None:
    try:
        temporary.replace(path)
    except PermissionError:
        # On Windows another process may be reading it: what it reads is the same.
        if os.name != "nt" or not path.exists():
            raise


def _cannot_write(folder: Path, error: OSError) -> str:
    return f"the store {folder} cannot be written ({error.strerror or error})."


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 80 else f"{text[:76]} ..."


def _key(about: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def _scored(dataset: Dataset, metric: Metric, names: Sequence[str]) -> Iterator[NamedRows]:
    """The rows of these systems, counted in one call."""
    if not names:
        return
    part = replace(dataset, systems={name: dataset.systems[name] for name in names}, human={})
    together = counted_rows(metric, part.all_segments())
    for at in range(len(names)):
        yield named_part(together, at * len(dataset), (at + 1) * len(dataset))


def _slices(metric: Metric, dataset: Dataset) -> list[Statistics]:
    """The statistics of each system as without a store."""
    together, length = metric.statistics(dataset.all_segments()), len(dataset)
    return [together[at * length : (at + 1) * length] for at in range(len(dataset.systems))]


def _choices(runs: Sequence[RunRecord], wanted: str) -> list[tuple[RunRecord, str]]:
    """The runs that may be meant, the newest first, each with the system that is asked for."""
    if wanted == "last" or wanted.startswith("last/"):
        system = wanted.partition("/")[2]
        if not system:
            return [(run, "") for run in runs]
        known = list(dict.fromkeys(name for run in runs for name in run.systems))
        if system not in known:
            raise _unknown("system", system, known)
        return [(run, system) for run in runs if system in run.systems]
    asked = wanted.removeprefix("run:")
    names = list(dict.fromkeys(name for run in runs for name in (run.name, run.run) if name))
    for cut in [len(asked), *(at for at in range(len(asked)) if asked[at] == "/")]:
        name, system = asked[:cut], asked[cut + 1 :]
        if name in names:
            return [(run, system) for run in runs if name in (run.name, run.run)][:1]
    raise _unknown("run", asked, [run.label for run in runs])


def _outputs_of(run: RunRecord, system: str, wanted: str) -> Observation:
    """The system's entry in a run: the one that is named, the candidate, or the only one."""
    entries = {each.system: each for each in run.observations if each.role != "baseline"}
    if not system and len(entries) == 1:
        return next(iter(entries.values()))
    if not system:
        known = ", ".join(entries)
        raise DataError(
            f"the run {run.label} has several systems ({known}): name one, as in "
            f"{wanted}/{next(iter(entries), 'NAME')}."
        )
    everything = {each.system: each for each in run.observations}
    if system not in everything:
        raise _unknown("system", system, list(everything))
    return everything[system]


def _unknown(what: str, name: str, known: Sequence[str]) -> DataError:
    hint = did_you_mean(name, known)
    shown = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
    return DataError(f"no {what} {name!r} in the store on this test set{hint}. There are: {shown}.")
