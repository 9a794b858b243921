"""Work that is cut into pieces, done here or by the workers of a Dask cluster.

Every analysis that can be spread takes a `cluster`: anything whose `map(function, items)` gives
the results in the order of the items, such as an executor of `concurrent.futures`. `Here` is the
default. What a piece of work is never depends on where it is done, nor on how many workers there
are: the figures are the same to the last bit.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Protocol, TypeVar

from assay.data import DataError
from assay.extras import require
from assay.version import __version__

__all__ = ["HERE", "Cluster", "Here", "Mapper", "connect", "in_worker"]

T = TypeVar("T")
R = TypeVar("R")

PATIENCE = 5.0
"""Seconds in which a scheduler answers, and in which its first worker shows up."""

IN_FLIGHT = 4
"""Pieces of work per thread of the workers that are sent before the first result is taken."""

THREADS = "ASSAY_THREADS"
"""The environment variable with the number of threads of the kernel and of PyTorch."""

_WORKING = threading.local()


class Mapper(Protocol):
    """Where pieces of work are done."""

    def map(self, function: Callable[[T], R], items: Iterable[T], /) -> Iterable[R]:
        """What the function gives for each item, in the order of the items."""


class Here:
    """This process: one piece after the other."""

    def map(self, function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
        """What the function gives for each item."""
        return map(function, items)


HERE = Here()


def connect(address: str) -> Cluster:
    """A Dask cluster, to be used in a `with` statement.

    `"local:8"` starts eight workers on this machine, processes of one thread each, and ends them
    with the `with` statement. Any other address (`"tcp://host:8786"`) is that of a scheduler that
    runs already; its workers need this version of the package.

    Whoever reaches a Dask scheduler can run code on it: keep it in a private network.

    >>> connect("local:none")
    Traceback (most recent call last):
    assay.data.DataError: cluster local:none: write local:8 for eight workers on this machine, or \
the address of a Dask scheduler, such as tcp://host:8786.
    """
    kind, colon, number = address.partition(":")
    if kind == "local" and not (number.isdecimal() and int(number)):
        raise DataError(
            f"cluster {address}: write local:8 for eight workers on this machine, or the address "
            "of a Dask scheduler, such as tcp://host:8786."
        )
    distributed = require("scale", "distributed", reason="a cluster needs Dask")
    if kind == "local":
        return Cluster(address, *_started(distributed, int(number)))
    client = _client(distributed, address, address)
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        client.close(timeout=1)
        raise DataError(
            f"cluster {address}: no worker has joined this scheduler. Start one on each machine: "
            f"dask worker {address} --nthreads 1 --nworkers 8"
        ) from None
    return Cluster(address, client)


class Cluster:
    """The workers of a Dask scheduler; `connect` makes one."""

    def __init__(self, address: str, client: Any, local: Any = None) -> None:
        self.address = address
        self._client, self._local = client, local

    def map(self, function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
        """What the function gives for each item, in the order of the items.

        Only a few items at a time are taken and sent, so there may be any number of them. The
        function is sent once. Work of a worker that dies is done by another one, and an error of
        the function is raised here as it is.
        """
        from distributed.protocol import pickle

        with _without_size_warning():
            # A task, not scattered data: what a dead worker held is made again.
            held = self._client.submit(
                _unpacked, pickle.dumps((function, __version__)), pure=False, priority=1
            )
        waiting: deque[Any] = deque()
        most = self._most()
        try:
            for item in items:
                waiting.append(self._client.submit(_call, held, item, pure=False))
                if len(waiting) >= most:
                    yield self._result(waiting.popleft())
            while waiting:
                yield self._result(waiting.popleft())
        finally:
            for future in waiting:  # pieces that nobody waits for any more are not begun
                future.release()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close(at_once=kind is not None)

    def close(self, *, at_once: bool = False) -> None:
        """Leave the cluster; one that was started by `connect` ends, `at_once` in mid-work, too."""
        if self._local is not None:
            _end_workers(self._local, at_once=at_once)
        # What was sent to a scheduler elsewhere is cancelled as its client leaves.
        with suppress(TimeoutError):
            self._client.close(timeout=1)
        if self._local is not None:
            with suppress(TimeoutError):
                self._local.close(timeout=1 if at_once else 30)

    def _most(self) -> int:
        """How many pieces may be under way."""
        info = self._client.scheduler_info(n_workers=-1)
        threads = sum(worker["nthreads"] for worker in info["workers"].values())
        return IN_FLIGHT * max(1, threads)

    def _result(self, future: Any) -> Any:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker:
            raise DataError(
                f"cluster {self.address}: the same piece of work ended several workers; is there "
                "too little memory for it? Start fewer workers, or look into their logs."
            ) from None
        except (CancelledError, OSError) as error:
            if self._client.status == "running" and not isinstance(error, CancelledError):
                raise
            raise DataError(f"cluster {self.address}: its scheduler is gone.") from None


def in_worker() -> bool:
    """Whether this is a piece of work in a worker: it starts neither threads nor processes."""
    return getattr(_WORKING, "is_worker", False)


def dask_setup(worker: object) -> None:
    """Prepare a worker of ours: a person's Ctrl-C is for the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _unpacked(payload: bytes) -> Callable[[Any], Any]:
    """The function that was sent, in a worker that does the same as we do."""
    from distributed.protocol import pickle

    function, version = pickle.loads(payload)
    if version != __version__:
        raise DataError(
            f"a worker has version {__version__} of assay-mt, and this is {version}: "
            "install the same on all machines."
        )
    return function  # type: ignore[no-any-return]


def _call(function: Callable[[T], R], item: T) -> R:
    """One piece of work in a worker, on one thread."""
    os.environ[THREADS] = "1"
    if (torch := sys.modules.get("torch")) is not None and torch.get_num_threads() != 1:
        torch.set_num_threads(1)
    _WORKING.is_worker = True
    return function(item)


def _started(distributed: Any, workers: int) -> tuple[Any, Any]:
    """A client, and the cluster of so many worker processes that was started for it."""
    import dask

    usual = {"distributed.worker.daemon": True, "distributed.scheduler.allowed-failures": 5}
    with dask.config.set(usual):
        local = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            memory_limit=None,
            silence_logs="CRITICAL",
            env={THREADS: "1"},
            preload=["assay.cluster"],
        )
    try:
        return _client(distributed, local, f"local:{workers}"), local
    except BaseException:
        _end_workers(local, at_once=True)
        local.close(timeout=1)
        raise


def _client(distributed: Any, to: Any, address: str) -> Any:
    try:
        return distributed.Client(to, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(
            f"cluster {address}: no Dask scheduler answers there ({reason}). Start one with "
            "dask scheduler, or workers on this machine with local:8."
        ) from None


def _end_workers(local: Any, *, at_once: bool) -> None:
    """Have no worker started again, and where it is urgent end those that work."""
    for nanny in list(local.workers.values()):
        if at_once and (pid := nanny.pid):
            nanny.close_gracefully()
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def _without_size_warning() -> Iterator[None]:
    """The function may carry all texts, which Dask finds large."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*Sending large graph")
        yield
