"""Long work: how far it is, and where it is done.

Every analysis that can be spread takes a `cluster`: an address, or anything whose
`map(function, items)` gives the results in the order of the items, such as an executor of
`concurrent.futures`. `Here` is the default. What a piece of work is never depends on where it is
done, nor on how many workers there are: the figures are the same to the last bit.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar

__all__ = [
    "HERE",
    "Engine",
    "Here",
    "Mapper",
    "Track",
    "current_cluster",
    "current_track",
    "spread",
    "track",
    "tracked",
    "untracked",
]

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")


class Track(Protocol):
    """Shows how far the work is: gives back the steps as they are.

    The command line passes `partial(assay.progress.track, label=...)`.
    """

    def __call__(self, steps: Iterable[T], /, *, total: int, label: str = ...) -> Iterable[T]:
        """The same steps, of which there are `total`; `label` says what they do."""


def untracked(steps: Iterable[T], /, *, total: int, label: str = "") -> Iterable[T]:
    """The steps, for nobody to see."""
    return steps


class _Current:
    """The track of work that no caller can hand one to; the same for all threads."""

    track: Track = staticmethod(untracked)


def current_track() -> Track:
    """The track of the enclosing `tracked`, for work deep inside a metric such as encoding."""
    return _Current.track


@contextmanager
def tracked(track: Track) -> Iterator[None]:
    """Within it, work deep inside a metric reports its progress to `track`."""
    before, _Current.track = _Current.track, staticmethod(track)
    try:
        yield
    finally:
        _Current.track = before


class Mapper(Protocol):
    """Where pieces of work are done."""

    def map(self, function: Callable[[T], R], items: Iterable[T], /) -> Iterable[R]:
        """What the function gives for each item, in the order of the items."""


class Here:
    """The process that asks: one piece after the other."""

    def map(self, function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
        """What the function gives for each item."""
        return map(function, items)


HERE = Here()

Engine: TypeAlias = Mapper | str | None
"""Where an analysis is done: the address of a cluster, what `connect` gives, or None for here."""

_CURRENT: ContextVar[Mapper] = ContextVar("cluster", default=HERE)


def current_cluster() -> Mapper:
    """Where the analysis that is under way has its pieces of work done."""
    return _CURRENT.get()


def spread(analysis: Callable[P, R]) -> Callable[P, R]:
    """An analysis with a keyword `cluster`, an `Engine`: what is deep inside it is done there."""

    @wraps(analysis)
    def on_cluster(*args: P.args, **kwargs: P.kwargs) -> R:
        engine: Any = kwargs.get("cluster")
        if engine is None:
            return analysis(*args, **kwargs)
        if isinstance(engine, str):
            from assay.cluster import connect

            with connect(engine) as cluster:
                return on_cluster(*args, **{**kwargs, "cluster": cluster})  # type: ignore[arg-type]
        before = _CURRENT.set(engine)
        try:
            return analysis(*args, **kwargs)
        finally:
            _CURRENT.reset(before)

    return on_cluster


PATIENCE = 2.0
"""Seconds before a bar appears."""


def track(
    steps: Iterable[T], *, total: int, label: str, quiet: bool = False, unit: str = ""
) -> Iterator[T]:
    """The same steps, with a bar on standard error once they take longer than two seconds.

    With a `unit` of steps, the bar says how many are done per second.
    """
    if quiet or not sys.stderr.isatty():
        yield from steps
        return
    bar = _Bar(label, total, unit)
    try:
        for step in steps:
            bar.advance()
            yield step
    finally:
        bar.stop()


class _Bar:
    """A bar that shows itself late, from a timer's thread."""

    def __init__(self, label: str, total: int, unit: str = "") -> None:
        self._label, self._total, self._done = label, total, 0
        self._unit, self._start = unit, time.monotonic()
        self._task: Any = None
        self._stopped = False
        self._timer = threading.Timer(PATIENCE, self._show)
        self._timer.daemon = True
        self._timer.start()

    def advance(self) -> None:
        with _BARS.lock:
            self._done += 1
            if self._task is not None:
                _BARS.update(self._task, self._done, self._rate())

    def stop(self) -> None:
        self._timer.cancel()
        with _BARS.lock:
            self._stopped = True
            if self._task is not None:
                _BARS.remove(self._task)

    def _show(self) -> None:
        with _BARS.lock:
            # Cancelling comes too late for a timer that has gone off already.
            if not self._stopped:
                self._task = _BARS.add(self._label, self._total, self._done, self._rate())

    def _rate(self) -> str:
        seconds = max(1e-3, time.monotonic() - self._start)
        return f"{self._done / seconds:,.1f} {self._unit}/s" if self._unit else ""


class _Bars:
    """The bars on the terminal, one below the other: of work, and of work within it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._progress: Any = None

    def add(self, label: str, total: int, done: int, rate: str) -> Any:
        from rich.console import Console
        from rich.progress import Progress, TextColumn

        if self._progress is None:
            columns = (*Progress.get_default_columns(), TextColumn("{task.fields[rate]}"))
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._progress.start()
        task = self._progress.add_task(label, total=total, completed=done, rate=rate)
        self._progress.refresh()
        return task

    def update(self, task: Any, done: int, rate: str) -> None:
        self._progress.update(task, completed=done, rate=rate)

    def remove(self, task: Any) -> None:
        self._progress.remove_task(task)
        if not self._progress.tasks:
            self._progress.stop()
            self._progress = None


_BARS = _Bars()
