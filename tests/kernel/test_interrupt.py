"""Ctrl-C ends what the kernel does, on all its threads, and the kernel works on."""

import signal
import subprocess
import sys

import pytest

from tests.patience import PATIENCE

# The job would take minutes. Once it has cost processor time, the process sends itself what Ctrl-C
# sends; Python's own code is asleep by then, or waits for the kernel.
JOB = """
import os, signal, sys, threading, time
import numpy as np
from assay import kernel

name, threads = sys.argv[1], int(sys.argv[2])
draws = np.random.default_rng(1)

def line(length, letters):
    return draws.choice(np.frombuffer(letters.encode(), "S1"), length).tobytes().decode()

def segments(length, count, letters="abcdefgh    "):
    a, b = line(length, letters), line(length, letters)
    return [(a, (b, str(at))) for at in range(count)]

shared = segments(100_000, 1) * 50_000
jobs = {
    "character_edits": lambda: kernel.character_edits(segments(3_000_000, 130), True, threads),
    "edits": lambda: kernel.edits(segments(3_000_000, 130), "none", b"", threads),
    "one long line": lambda: kernel.character_edits(
        [*segments(3_000_000, 1), *[("a", (str(at),)) for at in range(300)]], True, threads
    ),
    "rouge": lambda: kernel.rouge(segments(4_000_000, 130), 0, False, False, threads),
    "summary": lambda: kernel.rouge(segments(4_000_000, 130), 0, True, False, threads),
    "shifted_edits": lambda: kernel.shifted_edits(
        segments(1_000, 1, "ab      ") * 500_000, "none", b"", threads
    ),
    "one group": lambda: kernel.word_ngrams(shared, "13a", b"", 4, threads),
    "characters": lambda: kernel.character_ngrams(shared, 6, 2, 4.0, False, False, False, threads),
    "types": lambda: kernel.type_counts(shared, "13a", b"", False, 1, 1, threads),
    "tokenize": lambda: kernel.tokenize(["a b c"] * 3_000_000, "13a"),
}

def interrupt():
    start = time.process_time()
    while time.process_time() < start + 0.5:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

def tasks():
    return len(os.listdir("/proc/self/task")) if sys.platform.startswith("linux") else 1

before = tasks()
job = jobs[name]
other = threading.Thread(target=interrupt)
if name == "tokenize":  # it keeps other threads of Python out
    signal.signal(signal.SIGVTALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.2)
    other = threading.Thread()
other.start()
try:
    job()
except KeyboardInterrupt:
    other.join()
    again = kernel.character_edits([("ab", ("b" * at,)) for at in range(300)], True, threads)
    assert again[:2].tolist() == [[2, 0], [1, 1]]
    # Threads wait for the next call; one that is still at work would not be free for it.
    assert tasks() < before + threads, "no thread is still at work"
    raise
print("not interrupted")
"""

CASES = [
    *[("character_edits", 1), ("character_edits", 4), ("edits", 2), ("one long line", 4)],
    *[("rouge", 2), ("summary", 1), ("shifted_edits", 1), ("one group", 1), ("characters", 1)],
    *[("types", 1), ("tokenize", 1)],
]


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal as Unix does")
@pytest.mark.parametrize(("name", "threads"), CASES)
def test_an_interrupt_ends_the_job_and_all_its_threads(name, threads):
    done = subprocess.run(
        [sys.executable, "-c", JOB, name, str(threads)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == -signal.SIGINT, done.stderr
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
    assert done.stdout == ""
