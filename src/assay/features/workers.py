"""Several processes that tag: plain children that speak JSON, a line for every batch.

They are neither forked, which threads (a progress bar's) make unsafe, nor spawned by
`multiprocessing`, which runs the user's script again: they work alike wherever Python does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

from assay.features.annotation import Annotation, pack, unpack

__all__ = ["answers"]

Batch = Sequence[str]


def answers(
    model: str, batches: Sequence[Batch], *, processes: int
) -> Generator[list[Annotation] | None]:
    """The annotations of each batch, in order; None where a process could not say."""
    workers = [_Worker(model) for _ in range(processes)]
    free: SimpleQueue[_Worker] = SimpleQueue()
    for worker in workers:
        free.put(worker)

    def answer(batch: Batch) -> list[Annotation] | None:
        worker = free.get()
        try:
            return worker.ask(batch)
        finally:
            free.put(worker)

    threads = ThreadPoolExecutor(processes)
    try:
        yield from threads.map(answer, batches)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.stop()
        threads.shutdown()


class _Worker:
    """A process with a pipeline in it; one that dies answers None from then on."""

    def __init__(self, model: str) -> None:
        self._process: subprocess.Popen[bytes] | None
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "assay.features.workers", model],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
            )
        except OSError:
            self._process = None

    def ask(self, batch: Batch) -> list[Annotation] | None:
        """What the process makes of the batch."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return None
        try:
            process.stdin.write(json.dumps(list(batch)).encode() + b"\n")
            process.stdin.flush()
            found = [unpack(each) for each in json.loads(process.stdout.readline())]
        except (OSError, ValueError):
            return None
        return found if len(found) == len(batch) else None

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in filter(None, (self._process.stdin, self._process.stdout)):
                # What could not be written to a process that is gone needs no writing.
                with suppress(OSError):
                    stream.close()


def _environment() -> dict[str, str]:
    """The child finds the same modules; one thread each, since the processes share the cores."""
    path = os.pathsep.join(each or str(Path.cwd()) for each in sys.path)
    return os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


def _work(model: str) -> None:
    """Answer batches from standard input until it ends."""
    # The parent ends its children; a person's Ctrl-C is for the parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from assay.features.spacy import annotate_batch

    # Whatever a pipeline prints goes with the errors, not among the answers.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        found = [pack(each) for each in annotate_batch(model, json.loads(line))]
        output.write(json.dumps(found).encode() + b"\n")
        output.flush()


if __name__ == "__main__":
    _work(sys.argv[1])
