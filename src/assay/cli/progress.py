"""Progress on a terminal, for work that takes longer than a moment."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

__all__ = ["track"]

T = TypeVar("T")

PATIENCE = 2.0
"""Seconds before a bar appears."""


def track(steps: Iterable[T], *, total: int, label: str, quiet: bool = False) -> Iterator[T]:
    """The same steps, with a bar on standard error once they take longer than two seconds."""
    if quiet or not sys.stderr.isatty():
        yield from steps
        return
    bar = _Bar(label, total)
    try:
        for step in steps:
            bar.advance()
            yield step
    finally:
        bar.stop()


class _Bar:
    """A bar that shows itself late, from a timer's thread."""

    def __init__(self, label: str, total: int) -> None:
        self._label, self._total, self._done = label, total, 0
        self._progress: Any = None
        self._stopped = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(PATIENCE, self._show)
        self._timer.daemon = True
        self._timer.start()

    def advance(self) -> None:
        with self._lock:
            self._done += 1
            if self._progress:
                self._progress.update(self._task, completed=self._done)

    def stop(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._stopped = True
            if self._progress:
                self._progress.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        with self._lock:
            # Cancelling comes too late for a timer that has gone off already.
            if self._stopped:
                return
            self._progress = Progress(console=Console(stderr=True), transient=True)
            self._task = self._progress.add_task(self._label, total=self._total)
            self._progress.update(self._task, completed=self._done)
            self._progress.start()
