"""`assay muler examples` on the command line, with tags from files."""

import json
import re
from pathlib import Path

import pytest

from assay.decomposition.decompose import Annotated, decompose, ratio
from assay.features.annotation import Feature
from assay.features.tagged_files import read_tags
from assay.metrics.base import parse

TEXTS = ("ref", "a", "b", "c")
TAGS = "--tags ref.pos a.pos b.pos"
COMMAND = f"muler examples ref.txt -i a.txt b.txt {TAGS} -F tags:NAME"


@pytest.fixture(autouse=True)
def tags(here):
    """Words with a capital are names."""
    for name in TEXTS:
        lines = Path(f"{name}.txt").read_text("utf-8").splitlines()
        rows = [
            " ".join("NAME" if word[0].isupper() else "WORD" for word in line.split())
            for line in lines
        ]
        Path(f"{name}.pos").write_text("\n".join(rows) + "\n", "utf-8")


def records(ran):
    assert ran.status == 0
    return json.loads(ran.out)["records"]


def annotated(name):
    return read_tags(f"{name}.pos", Path(f"{name}.txt").read_text("utf-8").splitlines())


def muler_of(name):
    texts = Annotated({name: annotated(name)}, [(each,) for each in annotated("ref")])
    feature = Feature("tags", "NAME")
    found = decompose(texts, parse("bleu"), [feature])
    return float(ratio(found.parts[feature, name].scores()))


def test_the_texts_are_shown_with_the_feature_marked(run):
    ran = run(f"{COMMAND} -n 2 -s src.txt")
    assert (ran.status, ran.err) == (0, "")
    assert "tags:NAME: the sentences that set a and b apart most" in ran.out
    assert re.search(r"\d  source ", ran.out)
    assert "{+" in ran.out
    assert "[-" in ran.out


def test_records_are_as_many_as_asked_for(run):
    found = records(run(f"{COMMAND} -n 7 --format json"))
    assert [each["rank"] for each in found] == [1, 2, 3, 4, 5, 6, 7]
    lines = Path("a.txt").read_text("utf-8").splitlines()
    assert all(each["output"] == " ".join(lines[each["segment"] - 1].split()) for each in found)


def test_blind_judgements_come_back_to_their_systems(run):
    ran = run(f"{COMMAND} -n 9 --blind --key key.tsv -o sheet.tsv")
    assert (ran.status, ran.err) == (0, "wrote key.tsv\nwrote sheet.tsv\n")
    head, *rows = (line.split("\t") for line in Path("sheet.tsv").read_text("utf-8").splitlines())
    assert head == ["item", "better", "reference", "X", "Y"]
    mine = set(Path("a.txt").read_text("utf-8").splitlines())
    for row in rows[:8]:
        row[1] = "X" if row[3] in mine else "Y"
    filled = "\n".join("\t".join(row) for row in (head, *rows)) + "\n"
    Path("sheet.tsv").write_text(filled, "utf-8")
    (found,) = records(run("muler examples --tally sheet.tsv --key key.tsv --format json"))
    own = {"a": muler_of("a"), "b": muler_of("b")}
    first, second = sorted(own, key=own.__getitem__)
    assert (found["system_a"], found["system_b"]) == (first, second)
    assert found["muler_a"] == pytest.approx(own[first])
    assert found["muler_b"] == pytest.approx(own[second])
    counts = {found["system_a"]: found["a_better"], found["system_b"]: found["b_better"]}
    assert counts == {"a": 8, "b": 0}
    assert (found["equal"], found["unjudged"]) == (0, 1)


def test_the_seed_decides_who_is_x(run):
    keys = []
    for seed in (1, 1, 2):
        run(f"{COMMAND} --blind --key key.tsv --seed {seed}")
        keys.append(Path("key.tsv").read_text("utf-8"))
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{COMMAND} --blind", "--blind needs --key FILE"),
        (f"{COMMAND} --key key.tsv", "--key goes with --blind"),
        (f"{COMMAND} --blind --key a.txt", "--key a.txt is needed for something else"),
        (f"{COMMAND} --blind --key a.pos", "--key a.pos is needed for something else"),
        (f"{COMMAND} --blind --key x.tsv -o x.tsv", "--key x.tsv is needed for something else"),
        (f"{COMMAND} --blind --key -", "--key - is needed for something else"),
        ("muler examples --tally sheet.tsv", "--tally needs --key FILE"),
        (f"{COMMAND} --tally sheet.tsv --key key.tsv", "leave the texts out"),
        ("muler examples --tally no.tsv --key no.tsv", "no.tsv does not exist"),
        (f"{COMMAND} tags:WORD", "looks at one feature, not 2 (tags:NAME, tags:WORD)"),
        (f"{COMMAND} -m bleu chrf", "looks at one metric"),
        (
            "muler examples ref.txt -i a.txt b.txt c.txt -F tags:NAME "
            "--tags ref.pos a.pos b.pos c.pos",
            "sets two systems apart, but there are 3: name two",
        ),
        (f"{COMMAND} -n 0", "give at least 1, not 0"),
        (f"{COMMAND} --preset papr", "no preset 'papr'"),
    ],
)
def test_what_makes_no_sense_is_refused(refusal, line, message):
    assert message in refusal(line)
