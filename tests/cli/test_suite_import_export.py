"""`assay suite import` and `export`: a suite into a database and out again."""

import json
import sqlite3
from pathlib import Path

import pytest

ITEM = {
    "category": "Ambiguity",
    "id": "1",
    "langpair": "deen",
    "negative_regex": "",
    "negative_tokens": ["man"],
    "phenomenon": "Lexical ambiguity",
    "positive_regex": "husband|spouse",
    "positive_tokens": [],
    "source_sentence": "Ihr Mann kam.",
}


@pytest.fixture
def items(here):
    write({"items": [ITEM, {**ITEM, "id": "2", "author": "Ann"}]})
    return here


def write(content, name="items.json"):
    Path(name).write_text(json.dumps(content), "utf-8")


def test_a_suite_comes_out_as_it_went_in(run, items):
    ran = run("suite import items.json --db suite.db")
    assert ran == (
        0,
        "",
        "wrote suite.db: 2 items (2 new, 0 changed), 0 outputs judged anew\n",
    )
    assert run("suite export --db suite.db -o out.json") == (0, "", "wrote out.json: 2 items\n")
    assert json.loads(Path("out.json").read_bytes()) == json.loads(Path("items.json").read_bytes())
    for name in ("out.tsv", "out.jsonl.gz"):
        run(f"suite export --db suite.db -o {name}")
        run(f"suite import {name} --db again.db")
        run("suite export --db again.db -o again.json")
        assert Path("again.json").read_bytes() == Path("out.json").read_bytes()


def test_the_public_suite_comes_out_as_it_went_in(run, here, shared):
    path = shared / "testsuite" / "de-en" / "items.json"
    assert run(f"suite import {path} --db suite.db -q") == (0, "", "")
    assert run("suite export --db suite.db -o out.json -q") == (0, "", "")
    assert json.loads(Path("out.json").read_bytes()) == json.loads(path.read_bytes())


def test_importing_again_updates_what_has_changed(run, items):
    run("suite import items.json --db suite.db")
    write({"items": [{**ITEM, "negative_tokens": ["guy"]}, {**ITEM, "id": "3"}]})
    ran = run("suite import items.json --db suite.db")
    assert ran.err == "wrote suite.db: 2 items (1 new, 1 changed), 0 outputs judged anew\n"
    run("suite export --db suite.db -o out.json")
    found = json.loads(Path("out.json").read_bytes())["items"]
    assert [(each["id"], each["negative_tokens"]) for each in found] == [
        ("1", ["guy"]),
        ("3", ["man"]),
        ("2", ["man"]),
    ]


def test_a_database_leaves_one_file_behind(run, items):
    run("suite import items.json --db suite.db")
    assert [path.name for path in items.glob("suite.db*")] == ["suite.db"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("suite import items.json", "the following arguments are required: --db"),
        ("suite import missing.json --db suite.db", "missing.json does not exist"),
        ("suite import items.json --db no/suite.db", "no does not exist; make it: mkdir -p no"),
        ("suite import items.json --db items.json", "items.json is not a database of SQLite"),
        ("suite import items.json --db .", "is a folder"),
        ("suite import ref.txt --db suite.db", "a suite is a file in .json, .jsonl or .tsv"),
        ("suite export --db suite.db -o out.json", "suite.db does not exist"),
        ("suite export --db suite.db", "the following arguments are required: -o/--output"),
        ("suite export --db mysql://x/y -o out.json", "no database 'mysql'"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_written(refusal, items, line, complaint):
    assert complaint in refusal(line)


def test_malformed_items_are_refused_before_a_database_is_made(refusal, here):
    Path("items.json").write_text('{"items": [\n{"id": 1,,}\n]}')
    assert "items.json, line 2" in refusal("suite import items.json --db suite.db")


def test_a_newer_database_is_refused(run, refusal, items):
    run("suite import items.json --db suite.db")
    with sqlite3.connect("suite.db") as connection:
        connection.execute("UPDATE assay_version SET version_num = '0999'")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    for line in ("suite import items.json --db suite.db", "suite export --db suite.db -o out.json"):
        assert "suite.db was made by a newer assay (form 0999" in refusal(line)


def test_the_database_is_not_written_over(run, refusal, items):
    run("suite import items.json --db suite.json")
    assert "-o ./suite.json is the database" in refusal(
        "suite export --db suite.json -o ./suite.json"
    )


def test_a_password_is_shown_nowhere(refusal, items):
    told = refusal("suite export --db postgresql://ann:hidden@127.0.0.1:1/suite -o out.json")
    assert told.startswith("postgresql://ann:***@127.0.0.1:1/suite cannot be used")
    assert "hidden" not in told


@pytest.mark.parametrize("package", ["sqlalchemy", "alembic"])
def test_missing_packages_are_named_with_the_line_that_installs_them(spawn, items, package):
    missing = f"raise ModuleNotFoundError(\"No module named '{package}'\")"
    Path("fake").mkdir()
    Path("fake", f"{package}.py").write_text(missing)
    ran = spawn("suite import items.json --db suite.db", PYTHONPATH="fake")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == (
        "assay: --db needs more packages: pip install 'assay-mt[web]' "
        f"(No module named '{package}')\n"
    )
    assert not Path("suite.db").exists()


def test_a_table_with_other_names_is_imported_and_updated(run, refusal, here):
    Path("sheet.csv").write_text("German,Topic,Good\nJa.,T,yes\nNein.,T,no|nope\n", "utf-8")
    line = "suite import sheet.csv --db suite.db --columns source=German phenomenon=Topic"
    ran = run(f"{line} positive_fixed=Good --separator | --name mine --languages de-en")
    assert ran.err.startswith("wrote suite.db: 2 items (2 new")
    assert run("suite export --db suite.db -o out.json -q").status == 0
    whole = json.loads(Path("out.json").read_bytes())
    assert whole["name"] == "mine"
    assert [item["positive_tokens"] for item in whole["items"]] == [["yes"], ["no", "nope"]]
    assert {item["langpair"] for item in whole["items"]} == {"de-en"}
    Path("sheet.csv").write_text("German,Topic,Good\nNein.,T,nay\nDoch.,T,but\n", "utf-8")
    ran = run(f"{line} positive_fixed=Good")
    assert "2 items (1 new, 1 changed)" in ran.err
    assert "source" in refusal("suite import sheet.csv --db other.db")
    assert "go with --columns" in refusal("suite import sheet.csv --db suite.db --name x")
    assert not Path("other.db").exists()


def test_what_people_did_is_written_in_the_format_of_the_ending(run, refusal, items):
    run("suite import items.json --db suite.db")
    ran = run("suite export --db suite.db --what rules -o rules.csv")
    assert ran.err.startswith("wrote rules.csv: ")
    assert Path("rules.csv").read_text("utf-8").startswith("rule,item,category")
    assert "there are no decisions yet" in refusal(
        "suite export --db suite.db --what decisions -o d.csv"
    )
    assert not Path("d.csv").exists()


def test_a_backup_is_a_database(run, refusal, items):
    run("suite import items.json --db suite.db")
    assert "keep it safe" in run("suite export --db suite.db --what backup -o copy.db").err
    run("suite export --db suite.db -o one.json")
    run("suite export --db copy.db -o two.json")
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()
    assert "exists already" in refusal("suite export --db suite.db --what backup -o copy.db")
    assert "a backup is a database" in refusal("suite export --db suite.db --what backup -o b.csv")
