"""`assay suite sample` on the command line."""

import json
from collections import Counter
from pathlib import Path

import pytest

from assay.suites.sampling import read_key
from tests.corpora import read_lines

ITEMS = [
    {
        "id": f"{phenomenon}{number}",
        "langpair": "deen",
        "category": "C" if phenomenon < "c" else "D",
        "phenomenon": phenomenon,
        "source_sentence": f"Satz {phenomenon}{number}.\n",
    }
    for phenomenon in "abcd"
    for number in range(2 if phenomenon == "d" else 5)
]
MIXED = "suite sample items.json -n 3 --distractors src.txt --key key.tsv -o text.txt"


@pytest.fixture(autouse=True)
def items(here):
    Path("items.json").write_text(json.dumps({"items": ITEMS}))


def test_items_are_hidden_among_the_lines_of_a_text(run):
    ran = run(f"{MIXED} --ratio 4")
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == (
        "wrote key.tsv\nwrote text.txt\n"
        "assay: note: 11 items of 4 phenomena among 44 other sentences: 55 lines.\n"
        "assay: note: fewer than 3 items, so all were taken: d (2).\n"
    )
    lines, key = read_lines(Path("text.txt")), read_key("key.tsv")
    assert [each.source for each in key] == lines
    sources = {each["id"]: each["source_sentence"].strip() for each in ITEMS}
    told = {each.item: each.source for each in key if each.item}
    assert told.items() <= sources.items()
    assert Counter(name[0] for name in told) == {"a": 3, "b": 3, "c": 3, "d": 2}
    others = {each.source for each in key if not each.item}
    assert others <= set(read_lines(Path("src.txt")))


def test_the_text_goes_to_standard_output_where_no_file_is_named(run):
    ran = run("suite sample items.json --per category --only D --key key.tsv -q")
    assert (ran.status, ran.err) == (0, "")
    wanted = [each for each in ITEMS if each["category"] == "D"]
    assert ran.out == "".join(each["source_sentence"] for each in wanted)
    assert [each.item for each in read_key("key.tsv")] == [each["id"] for each in wanted]


def test_the_same_seed_writes_the_same_and_another_does_not(run, refusal):
    assert run(f"{MIXED} --seed 7").status == 0
    before = Path("text.txt").read_bytes(), Path("key.tsv").read_bytes()
    assert run(f"{MIXED} --seed 7").status == 0
    assert (Path("text.txt").read_bytes(), Path("key.tsv").read_bytes()) == before
    assert refusal(f"{MIXED} --seed 8").startswith("key.tsv is there already, of another text")


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("items.json -o text.txt", "--key FILE is needed"),
        ("items.json --key - -o text.txt", "--key - would mix the key into the text"),
        ("items.json --key items.json", "--key items.json is needed for something else"),
        ("items.json --key key.tsv -o ./key.tsv", "--key key.tsv is needed for something else"),
        ("items.json --key key.tsv -o ./items.json", "-o ./items.json is needed for something"),
        ("items.json --key k.tsv --distractors src.txt -o src.txt", "-o src.txt is needed for"),
        (
            "items.json --key key.tsv --ratio 3",
            "--ratio and --any-length choose among --distractors",
        ),
        ("items.json --key key.tsv --any-length", "--ratio and --any-length choose among"),
        ("items.json --key key.tsv --distractors src.txt --ratio 10", "170 sentences are needed"),
        ("items.json --key key.tsv --distractors src.txt --ratio 11", "suite sample: argument"),
        ("items.json --key key.tsv --only E", "the suite has neither category nor phenomenon 'E'"),
        ("items.json --key key.tsv -o none/text.txt", "none/text.txt: the folder none does not"),
        ("none.json --key key.tsv", "none.json does not exist"),
        ("src.txt --key key.tsv", "src.txt: say what its columns hold"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(refusal, line, wanted):
    assert refusal(f"suite sample {line}").startswith(wanted)
