"""Several processes at once in one store, which nobody has made before."""

import json
import subprocess
import sys

import numpy as np

import assay
from assay.demo import read_demo
from assay.store.results import ResultStore
from tests.patience import PATIENCE

WORK = """
import json, sys
import assay
from assay.demo import read_demo

folder, name = sys.argv[1:]
sys.stdin.readline()  # all begin together
for turn in range(3):
    result = assay.score(read_demo(), ["bleu", "macrof"], store=folder, run_name=f"{name}{turn}")
print(json.dumps(result.records()))
"""


def test_processes_that_score_at_once_agree_and_lose_nothing(tmp_path):
    command = [sys.executable, "-W", "error", "-c", WORK, str(tmp_path / "store")]
    started = [
        subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in "ab"
    ]
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=PATIENCE)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0]
    expected = assay.score(read_demo(), ["bleu", "macrof"]).records()
    assert [json.loads(answer) for answer in answers] == [expected, expected]
    store = ResultStore(tmp_path / "store")
    assert sorted(run.name for run in store.runs()) == ["a0", "a1", "a2", "b0", "b1", "b2"]
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert len([path for path in files if path.parts[-3] == "rows"]) == 6
    assert not [path for path in files if path.suffix == ".tmp"]


KILLED = """
import os, signal, sys
import assay
from assay.demo import read_demo

from pathlib import Path

def killed(self, target):
    os.kill(os.getpid(), signal.SIGKILL)

Path.replace = killed  # a crash just before the file stands in its place
assay.score(read_demo(), ["bleu"], store=sys.argv[1])
"""


def test_a_process_that_is_killed_while_it_writes_leaves_no_half_entry(tmp_path):
    data = read_demo()
    assay.score(data, ["chrf"], store=tmp_path)
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    done = subprocess.run(command, timeout=PATIENCE, capture_output=True)
    assert done.returncode < 0
    assert list(tmp_path.rglob("*.tmp"))
    assert len(list(tmp_path.glob("rows/*/*.npz"))) == 3
    result = assay.score(data, ["bleu"], store=tmp_path)
    assert result.records() == assay.score(data, ["bleu"]).records()
    assert ResultStore(tmp_path).prune(0).files
    assert not list(tmp_path.rglob("*.tmp"))


def test_an_entry_is_readable_with_numpy_alone(tmp_path):
    data = read_demo()
    assay.score(data, ["bleu"], store=tmp_path)
    path = min(tmp_path.glob("rows/*/*.npz"))
    with np.load(path, allow_pickle=False) as file:
        assert file["rows"].shape == (120, 10)
        assert json.loads(file["about"].tobytes())["metric"] == "bleu"
