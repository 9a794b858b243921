"""`assay suite collect` on the command line, after `assay suite sample`."""

import json
import random
from pathlib import Path

import pytest

from assay.suites.files import read_runs, read_suite
from assay.suites.sampling import read_key
from tests.corpora import read_lines

ITEMS = [
    {"id": f"i{at}", "category": "C", "phenomenon": "P", "source_sentence": f"Satz {at % 9}."}
    for at in range(10)
]
COLLECT = "suite collect --key key.tsv"


@pytest.fixture(autouse=True)
def sample(run):
    Path("items.json").write_text(json.dumps({"items": ITEMS}))
    line = "suite sample items.json --distractors src.txt --key key.tsv -o text.txt"
    assert run(line).status == 0
    translated = [f"[{line}]" for line in read_lines(Path("text.txt"))]
    Path("one.txt").write_text("\n".join(translated) + "\n", "utf-8")
    rows = [f"{each.source}\t<{each.source}>\n" for each in read_key("key.tsv")]
    random.Random(1).shuffle(rows)
    Path("two.tsv").write_text("source\ttranslation\n" + "".join(rows), "utf-8")


def test_translations_in_any_order_come_back_to_their_items(run):
    ran = run(f"{COLLECT} -i one.txt two.tsv --to out")
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == (
        "wrote out/item_ids.txt\nwrote out/one.txt\nwrote out/two.txt\n"
        "now check them: assay suite run ITEMS -i out/one.txt out/two.txt --ids out/item_ids.txt\n"
    )
    suite = read_suite("items.json")
    one, two = read_runs(suite, ["out/one.txt", "out/two.txt"], ids="out/item_ids.txt")
    assert one.outputs == {each["id"]: f"[{each['source_sentence']}]" for each in ITEMS}
    assert two.outputs == {each["id"]: f"<{each['source_sentence']}>" for each in ITEMS}


def test_systems_get_the_names_they_are_given(run):
    ran = run(f"{COLLECT} -i one.txt two.tsv --names Eins Zwei --to out -q")
    assert (ran.status, ran.err) == (0, "")
    assert {path.name for path in Path("out").iterdir()} == {
        "item_ids.txt",
        "Eins.txt",
        "Zwei.txt",
    }


def test_items_without_a_translation_are_told(run):
    Path("none.txt").write_text("\n" * 30)
    ran = run(f"{COLLECT} -i none.txt --to out")
    assert "none: 10 of 10 items have no translation and are not tested." in ran.err


def test_a_translation_comes_from_standard_input(spawn):
    ran = spawn(f"{COLLECT} -i - --names sys --to out", given=Path("one.txt").read_bytes())
    assert ran.status == 0
    wanted = sorted(f"[{each['source_sentence']}]" for each in ITEMS)
    assert sorted(read_lines(Path("out/sys.txt"))) == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("-i one.txt --to out --key two.tsv", "two.tsv: no column line"),
        ("--to out", "-i FILE is missing"),
        ("-i one.txt", "--to is missing"),
        ("-i one.txt a.txt --to out", "a.txt: 120 lines, but the key has 30."),
        ("-i one.txt two.tsv --names x x --to out", "one.txt and two.tsv would both be system 'x'"),
        ("-i one.txt --to .", "one.txt is there already and is not overwritten"),
        ("-i one.txt --names ../x --to out", "the system's name '../x' cannot be a file's"),
        ("-i one.txt --to items.json", "items.json: this folder cannot be made"),
        ("-i - - --to out", "standard input ('-') can be read only once"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(refusal, line, wanted):
    assert refusal(f"{COLLECT} {line}").startswith(wanted)
    assert not Path("out").exists()


def test_without_a_key_nothing_can_be_collected(refusal):
    assert refusal("suite collect -i one.txt --to out").startswith("--key FILE is missing")
