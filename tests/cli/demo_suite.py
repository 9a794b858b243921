"""The demo suite laid out in the current folder, as files and as a database."""

import json
import re
import shutil
from pathlib import Path

from assay.cli.commands import load
from assay.suites.files import read_suite
from assay.suites.store.opening import open_store
from assay.suites.store.suites import save_suite
from tests.corpora import DEMO

CAMPAIGNS = {"spring": "2025-03-03", "autumn": "2025-09-01"}


def lay_out():
    """The demo suite, outputs of two campaigns, and two systems named as in the examples."""
    for path in (DEMO / "suite").iterdir():
        copy = shutil.copytree if path.is_dir() else shutil.copy
        copy(path, path.name)
    for name, system in (("sysA", "atlas"), ("sysB", "birch")):
        shutil.copy(f"autumn/{system}.txt", f"{name}.txt")


def make_db():
    """The database suite.db, with the items and nothing else."""
    lay_out()
    store = open_store("suite.db", create=True)
    with store.write() as connection:
        save_suite(connection, read_suite("items.json"))
    store.close()


def make_full_db(run):
    """The database suite.db with both campaigns."""
    make_db()
    for name, date in CAMPAIGNS.items():
        files = " ".join(f"{name}/{each.name}" for each in sorted(Path(name).iterdir()))
        line = f"suite run --db suite.db -i {files} --ids item_ids.txt --campaign {name}"
        assert run(f"{line} --date {date} -q").status == 0


def records_of(ran):
    """The records of a command that wrote json."""
    assert ran.status == 0, ran.err
    return json.loads(ran.out)["records"]


def example_lines(name):
    """The examples of a command, without the remarks behind them, to be run here."""
    lines = load(name).examples.strip().splitlines()
    return [re.split(r"\s{2,}", line.strip())[0].removeprefix("assay ") for line in lines]


def slow_verdicts(system):
    """The decision written out plainly, by item, for the demo suite."""
    items = {
        item["id"]: item for item in json.loads(Path("items.json").read_text("utf-8"))["items"]
    }
    ids = Path("item_ids.txt").read_text("utf-8").split()
    outputs = Path(f"{system}.txt").read_text("utf-8").removesuffix("\n").split("\n")
    found = {}
    for name, output in zip(ids, outputs, strict=True):
        item = items[name]
        good, bad = (
            bool(item[key] and re.search(item[key], output))
            for key in ("positive_regex", "negative_regex")
        )
        if not good and not bad:
            good, bad = (
                any(token.strip() and token.strip() in output for token in item[key])
                for key in ("positive_tokens", "negative_tokens")
            )
        verdict = "warning" if good == bad else "pass" if good else "fail"
        found[name] = verdict if output.strip() else "not tested"
    return found
