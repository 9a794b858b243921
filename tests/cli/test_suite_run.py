"""`assay suite run`: from items and outputs to verdicts, with and without a database."""

import json
import re
import shutil
from pathlib import Path

import pytest

from assay.suites.files import read_suite
from assay.suites.store.decisions import save_decision
from assay.suites.store.opening import open_store
from assay.suites.store.people import add_person
from assay.suites.store.queue import next_case
from tests.cli.demo_suite import example_lines, lay_out, make_db, records_of, slow_verdicts

RUN = "--ids item_ids.txt"


@pytest.fixture
def suite(here):
    lay_out()


@pytest.fixture
def db(here):
    make_db()


def test_the_verdicts_are_those_of_the_slow_procedure(run, suite):
    ran = run(f"suite run items.json -i sysA.txt sysB.txt {RUN} --format json")
    assert (ran.status, ran.err) == (0, "")
    records = json.loads(ran.out)["records"]
    for system in ("sysA", "sysB"):
        mine = {r["item"]: r["verdict"] for r in records if r["system"] == system}
        assert mine == slow_verdicts(system)
        assert len(set(mine.values())) > 1
    assert list(records[0]) == ["system", "item", "category", "phenomenon", "verdict", "by"]


def test_a_decided_verdict_names_its_rule_and_a_warning_none(run, suite):
    ran = run(f"suite run items.json -i sysA.txt {RUN} --format json")
    rules = {rule.id: rule for item in read_suite("items.json").items for rule in item.rules}
    for record in json.loads(ran.out)["records"]:
        if record["verdict"] in ("pass", "fail"):
            wanted = "positive" if record["verdict"] == "pass" else "negative"
            assert rules[record["by"]].polarity == wanted
        else:
            assert record["by"] is None


def test_the_tables_tell_the_same_as_the_records(run, suite):
    shown = run(f"suite run items.json -i sysA.txt {RUN}").out
    found = list(slow_verdicts("sysA").values())
    counts = [str(found.count(kind)) for kind in ("pass", "fail", "warning", "not tested")]
    (line,) = [line for line in shown.splitlines() if line.startswith("sysA")]
    assert line.split()[1:5] == counts
    assert "Failing examples" in shown


@pytest.mark.parametrize("format", ["text", "json", "tsv", "latex", "html"])
def test_a_run_can_be_shown_in_every_format(run, suite, format):
    ran = run(f"suite run items.json -i sysA.txt sysB.txt {RUN} -f {format}")
    assert ran.status == 0
    assert "sysB" in ran.out


def test_the_number_of_examples_can_be_chosen(run, suite):
    def examples(count):
        shown = run(f"suite run items.json -i sysA.txt {RUN} -f html --examples {count}").out
        return shown.count('<mark class="bad">')

    assert examples(0) == 0
    assert 0 < examples(1) < examples(3)


def test_a_rule_that_takes_too_long_is_told_with_its_file(run, here):
    item = {"id": "1", "category": "c", "phenomenon": "p", "source_sentence": "x"}
    items = [{**item, "positive_regex": "(a|aa)+$"}]
    Path("endless.json").write_text(json.dumps({"items": items}))
    Path("one.txt").write_text("a" * 200 + "!\n")
    assert run("suite run endless.json -i one.txt").err.startswith(
        "assay: note: endless.json, item 1: rule 1+1 took longer than"
    )
    run("suite import endless.json --db suite.db -q")
    assert "note: suite.db, item 1: rule" in run("suite run --db suite.db -i one.txt").err
    Path("two.txt").write_text("b\n")
    compared = (
        "compare two.txt -i one.txt two.txt -m bleu -F none --suite endless.json one.txt two.txt"
    )
    ran = run(compared)
    assert "note: endless.json, item 1: rule" in ran.err


def test_stored_runs_have_the_same_verdicts_and_are_kept(run, db):
    plain = json.loads(run(f"suite run items.json -i sysA.txt sysB.txt {RUN} -f json").out)
    line = f"suite run --db suite.db -i sysA.txt sysB.txt {RUN} --campaign wmt23 -f json"
    ran = run(line)
    assert ran.status == 0
    assert ran.err == "stored 2 runs of wmt23 in suite.db\n"
    assert json.loads(ran.out)["records"] == plain["records"]
    again = run(line)
    assert (again.status, again.out) == (0, ran.out)


def test_the_database_is_named_among_the_inputs(run, db):
    ran = run(f"suite run --db suite.db -i sysA.txt {RUN} -f json")
    inputs = json.loads(ran.out)["inputs"]
    assert [each["path"] for each in inputs] == ["suite.db", "sysA.txt", "item_ids.txt"]


def test_what_a_person_said_counts_and_the_person_is_named(run, db):
    line = f"suite run --db suite.db -i sysA.txt {RUN} -q -f json"
    (first, *_) = [r["item"] for r in records_of(run(line)) if r["verdict"] == "warning"]
    store = open_store("suite.db")
    with store.write() as connection:
        anna = add_person(connection, "Anna")
        case = next_case(connection, anna.id)
        seen = case.output.version
        save_decision(connection, case.output.id, anna.id, "fail", seen=seen)
    store.close()
    (record,) = [r for r in records_of(run(line)) if r["item"] == case.item.id]
    assert case.item.id == first
    assert (record["verdict"], record["by"]) == ("fail", "Anna")


def test_other_outputs_of_the_same_run_need_to_be_allowed(run, refusal, db):
    assert run(f"suite run --db suite.db -i sysA.txt {RUN} -q").status == 0
    shutil.copy("sysB.txt", "other.txt")
    line = f"suite run --db suite.db -i other.txt --names sysA {RUN} -q"
    assert "sysA" in refusal(line)
    ran = run(f"{line} --replace -f json")
    assert ran.status == 0
    assert {r["item"]: r["verdict"] for r in json.loads(ran.out)["records"]} == slow_verdicts(
        "sysB"
    )


def test_a_failing_run_among_several_stores_none(run, db):
    Path("short.txt").write_text("one line\n")
    assert run(f"suite run --db suite.db -i sysA.txt short.txt {RUN}").status == 2
    assert "no runs yet" in run("suite report --db suite.db").err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("suite run items.json", "no outputs to look at"),
        ("suite run -i sysA.txt", "no suite: name its file before -i"),
        ("suite run items.json -i sysA.txt --campaign x", "--campaign, --date and --replace"),
        ("suite run items.json --db suite.db -i sysA.txt", "--db has the items already"),
        ("suite run --db missing.db -i sysA.txt", "missing.db does not exist"),
        ("suite run --db suite.db", "no outputs to look at"),
        ("suite run --db suite.db -i sysA.txt --ids item_ids.txt -o suite.db", "one of the inputs"),
        ("suite run items.json -i sysA.txt --ids ref.txt", "ref.txt"),
        ("suite run items.json -i ref.txt --ids item_ids.txt", "ref.txt"),
        ("suite run items.json -i sysA.txt --ids item_ids.txt -o sysA.txt", "one of the inputs"),
    ],
)
def test_bad_calls_are_told_in_one_line(refusal, db, line, message):
    assert message in refusal(line)


def test_files_are_checked_without_any_database_package(spawn, suite):
    blocker = "import sys; sys.modules['sqlalchemy'] = None"
    Path("sitecustomize.py").write_text(blocker)
    line = f"suite report items.json -i sysA.txt sysB.txt {RUN} -q"
    assert spawn(line, PYTHONPATH=".").status == 0
    refused = spawn("suite report --db suite.db", PYTHONPATH=".")
    assert refused.status == 2
    assert "pip install 'assay-mt[web]'" in refused.err


def test_a_pattern_that_cannot_be_searched_is_a_note_and_a_warning(run, suite):
    content = json.loads(Path("items.json").read_text("utf-8"))
    content["items"][0]["positive_regex"] = "(unclosed"
    Path("broken.json").write_text(json.dumps(content))
    ran = run(f"suite run broken.json -i sysA.txt {RUN} -f json")
    assert ran.status == 0
    name = content["items"][0]["id"]
    assert f"assay: note: broken.json, item {name}: " in ran.err
    (record,) = [r for r in json.loads(ran.out)["records"] if r["item"] == name]
    assert record["verdict"] == "warning"
    assert not run(f"suite run broken.json -i sysA.txt {RUN} -q").err


@pytest.mark.parametrize("line", ["suite", "suite --help", "suite -h", "help suite"])
def test_suite_alone_lists_its_commands(run, line):
    ran = run(line)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("usage: assay suite COMMAND ...\n")
    assert re.search(r"^  suite run +a linguistic test suite", ran.out, re.MULTILINE)
    assert "score" not in ran.out.split()


def test_a_misspelt_suite_command_is_met_with_the_nearest(refusal):
    message = refusal("suite reprot --db suite.db")
    assert "no command 'suite reprot' (did you mean 'suite report'?)" in message


def test_the_examples_work_as_they_stand(run, db):
    for line in example_lines("suite run"):
        assert run(line).status == 0
