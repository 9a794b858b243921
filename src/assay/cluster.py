"""The workers of a Dask cluster, which do pieces of work."""

from __future__ import annotations

import logging
import os
import signal
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

from assay.data import DataError
from assay.extras import require
from assay.version import __version__

__all__ = ["Cluster", "connect"]

T = TypeVar("T")
R = TypeVar("R")

PATIENCE = 5.0
"""Seconds in which a scheduler answers, and in which its first worker shows up."""

IN_FLIGHT = 4
"""Pieces of work per thread of the workers that are sent before the first result is taken."""

THREADS = "ASSAY_THREADS"
"""The environment variable with the number of threads of the kernel and of PyTorch."""


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
    kind, _, number = address.partition(":")
    if kind == "local" and not (number.isdecimal() and int(number)):
        raise DataError(
            f"cluster {address}: write local:8 for eight workers on this machine, or the address "
            "of a Dask scheduler, such as tcp://host:8786."
        )
    distributed = require("scale", "distributed", "threadpoolctl", reason="a cluster needs Dask")
    _hush()
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
        pickle = require("scale", "distributed.protocol.pickle")

        with _without_size_warning():
            # A task, not scattered data: what a dead worker held is made again.
            held = self._client.submit(
                _unpacked, pickle.dumps((function, __version__)), pure=False, priority=1
            )
        waiting: deque[Any] = deque()
        most = self._most()
        call = partial(_call, blas=_blas_threads())
        try:
            for item in items:
                waiting.append(self._client.submit(call, held, item, pure=False))
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
        # What was sent to a scheduler elsewhere is cancelled as its client leaves.
        with suppress(TimeoutError):
            self._client.close(timeout=1)
        if self._local is not None:
            if at_once:
                _kill(self._local)
            with suppress(TimeoutError):
                self._local.close(timeout=1 if at_once else 30)

    def _most(self) -> int:
        """How many pieces may be under way."""
        threads: int = sum(self._client.nthreads().values())
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


def _unpacked(payload: bytes) -> Callable[[Any], Any]:
    """The function that was sent, in a worker that does the same as we do."""
    pickle = require("scale", "distributed.protocol.pickle")

    function, version = pickle.loads(payload)
    if version != __version__:
        raise DataError(
            f"a worker has version {__version__} of assay-mt, and this is {version}: "
            "install the same on all machines."
        )
    return function  # type: ignore[no-any-return]


def _call(function: Callable[[T], R], item: T, *, blas: int) -> R:
    """One piece of work in a worker, on one thread.

    But for products of matrices: the order of their sums depends on the number of threads, so
    there are as many as where the work comes from.
    """
    from threadpoolctl import threadpool_limits

    os.environ[THREADS] = "1"
    if (torch := sys.modules.get("torch")) is not None and torch.get_num_threads() != 1:
        torch.set_num_threads(1)
    with threadpool_limits(blas, user_api="blas"):
        return function(item)


def _blas_threads() -> int:
    """The threads that products of matrices have in this process."""
    import numpy  # noqa: F401 (the library of its products is to be loaded)
    from threadpoolctl import threadpool_info

    pools = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return max(pools, default=1)


def _hush() -> None:
    """Log nothing of Dask's: what goes wrong comes as an error, and the rest is for its makers."""
    log = logging.getLogger("distributed")
    log.handlers, log.propagate = [logging.NullHandler()], False


def _started(distributed: Any, workers: int) -> tuple[Any, Any]:
    """A client, and the cluster of so many worker processes that was started for it."""
    local = distributed.LocalCluster(
        n_workers=0,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
        memory_limit=None,
        silence_logs="CRITICAL",
        env={THREADS: "1"},
    )
    # It is ended here; at the end of Python it would complain of workers that are still starting.
    local.shutdown_on_close = False
    client = _client(distributed, local, f"local:{workers}")
    try:
        local.sync(_hold_interrupts)
        local.scale(workers)
        client.wait_for_workers(workers)
    except BaseException:
        # Dask cannot close a cluster whose workers are starting: the rest ends with this process.
        _kill(local)
        with suppress(TimeoutError):
            client.close(timeout=1)
        raise
    return client, local


def _client(distributed: Any, to: Any, address: str) -> Any:
    try:
        if isinstance(to, str):
            _check_address(distributed.comm, to)
        return distributed.Client(to, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(
            f"cluster {address}: no Dask scheduler answers there ({reason}). Start one with "
            "dask scheduler, or workers on this machine with local:8."
        ) from None


def _check_address(comm: Any, address: str) -> None:
    """Refuse what is no address: a client for it could not be closed, and would say so."""
    scheme, _ = comm.parse_address(address)
    if scheme in ("tcp", "tls", "ws", "wss"):
        comm.get_address_host_port(address)
    else:
        comm.registry.get_backend(scheme)


async def _hold_interrupts() -> None:
    """Have the processes that this thread starts never see Ctrl-C: it is for the one they serve."""
    from multiprocessing import resource_tracker

    if hasattr(signal, "pthread_sigmask"):
        resource_tracker.ensure_running()  # which would let interrupts through again
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _kill(local: Any) -> None:
    """End the processes of all workers, whatever they are doing."""
    for nanny in list(local.workers.values()):
        if pid := nanny.pid:
            nanny.close_gracefully()  # or else it would start another one
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def _without_size_warning() -> Iterator[None]:
    """The function may carry all texts, which Dask finds large."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*Sending large graph")
        yield
