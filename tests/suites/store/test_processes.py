"""Several people and processes at once, and processes that are killed."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from assay.suites.check import Checker
from assay.suites.model import Run
from assay.suites.store.decisions import save_decision, undo
from assay.suites.store.queue import next_case, progress
from assay.suites.store.records import Draft
from assay.suites.store.runs import save_run
from assay.suites.store.trials import save_rule
from tests.patience import PATIENCE
from tests.suites.store.samples import fill, item, rows

PROJECT = Path(__file__).resolve().parents[3]

SAVING = """
import sys
from assay.suites.store import opening
from assay.suites.store.decisions import save_decision
from tests.patience import PATIENCE
opening.PATIENCE = PATIENCE
store, who = opening.open_store(sys.argv[1]), int(sys.argv[2])
for output in range(1, 101):
    with store.write() as conn:
        saved = save_decision(conn, output, who, "pass", seen=0)
    print(saved.change, output, flush=True)
"""


@pytest.fixture
def hundred(store):
    """A hundred warnings, one in each item."""
    items = [item(f"{at:03}") for at in range(100)]
    fill(store, items, {"x": {each.id: f"so {each.id}" for each in items}})
    return store


def spawn(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        cwd=PROJECT,
        text=True,
    )


@pytest.mark.parametrize("acknowledged", [1, 20, 61])
def test_a_process_that_is_killed_loses_nothing_it_acknowledged(hundred, address, acknowledged):
    process = spawn(SAVING, address, 1)
    told = [process.stdout.readline() for _ in range(acknowledged)]
    os.kill(process.pid, signal.SIGKILL)
    rest, _ = process.communicate(timeout=PATIENCE)
    # A line that the kill has cut off was not told to anybody.
    lines = [line for line in "".join([*told, rest]).splitlines(keepends=True) if line[-1] == "\n"]
    told = [tuple(map(int, line.split())) for line in lines]
    assert process.returncode == -signal.SIGKILL
    assert acknowledged <= len(told) < 100
    kept = rows(hundred, "SELECT change_id, output_id FROM decisions ORDER BY id")
    assert kept[: len(told)] == told
    # One more may have been on its way, and then it is there as a whole.
    assert len(kept) <= len(told) + 1
    passed = rows(hundred, "SELECT id FROM outputs WHERE verdict = 'pass' ORDER BY id")
    assert passed == [(output,) for _, output in kept]
    assert rows(hundred, "SELECT id FROM changes ORDER BY id") == [(change,) for change, _ in kept]
    with hundred.read() as conn:
        assert next_case(conn, 1).output.id == len(kept) + 1
    with hundred.write() as conn:
        save_decision(conn, 100, 1, "fail", seen=0)


def test_two_processes_at_once_lose_nothing(hundred, address):
    processes = [spawn(SAVING, address, who) for who in (1, 2)]
    told = [process.communicate(timeout=PATIENCE)[0].split() for process in processes]
    assert [len(each) for each in told] == [200, 200]
    assert len({change for each in told for change in each[::2]}) == 200
    asked = "SELECT output_id, annotator_id FROM decisions WHERE NOT withdrawn ORDER BY 1, 2"
    assert rows(hundred, asked) == [(at, who) for at in range(1, 101) for who in (1, 2)]
    assert rows(hundred, "SELECT DISTINCT version, verdict FROM outputs") == [(2, "pass")]


def test_everything_at_once_ends_in_a_state_that_fits_together(hundred):
    """People decide, take back and add rules while runs come in: nobody fails, all adds up."""
    failures = []

    def safely(work):
        def run():
            try:
                for turn in range(15):
                    work(turn)
            except BaseException as error:
                failures.append(error)

        return threading.Thread(target=run)

    def decide(who):
        def work(turn):
            with hundred.write() as conn:
                shown = next_case(conn, who)
                save_decision(conn, shown.output.id, who, "pass", seen=shown.output.version)
                if turn % 3 == 0:
                    undo(conn, who)

        return work

    def add_rule(turn):
        with hundred.write() as conn:
            shown = next_case(conn, 1)
            save_rule(conn, Draft(shown.output.id, "positive", "fixed", shown.output.text), 1)

    def add_run(turn):
        with hundred.write() as conn:
            save_run(conn, Run(f"r{turn}", {"099": f"hm {turn}"}), Checker())

    def look(turn):
        with hundred.read() as conn:
            told = progress(conn, 2)
            assert told.total >= 100
            assert told.settled <= told.total

    threads = [safely(work) for work in (decide(1), decide(2), add_rule, add_run, look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    # Of 15 decisions of each, 5 were taken back, by Ann perhaps a rule instead.
    with hundred.read() as conn:
        told = progress(conn, 2)
    changes = rows(hundred, "SELECT count(*) FROM changes WHERE undone = ''")[0][0]
    assert changes == 45 - 10
    assert told.total == 115
    assert told.settled == changes


def test_a_reader_is_not_kept_waiting_by_a_writer(hundred):
    with hundred.write() as conn:
        save_decision(conn, 1, 1, "pass", seen=0)
        with hundred.read() as other:
            assert next_case(other, 2).output.id == 1
    with hundred.read() as other:
        assert next_case(other, 2).output.id == 2
