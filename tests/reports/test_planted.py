"""A short form of benchmarks/planted.py: what was done to a system is among the first findings."""

import random
import re
from dataclasses import replace

import pytest

import assay
from assay.demo import read_demo
from assay.io import read_folder

DIGITS = re.compile(r"\d+")
NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}")


def garbled(found):
    return found[0][0] + found[0][:0:-1]


DAMAGES = {
    "digits": (
        lambda line, source: DIGITS.sub(lambda found: str(int(found[0]) + 3), line),
        {("fault", "numbers"), ("words", "numbers"), ("text", "with a number")},
    ),
    "names": (
        lambda line, source: NAME.sub(garbled, line),
        {("words", "capitalised words"), ("words", "words found nowhere else"),
         ("text", "with a name")},
    ),
    "lower case": (
        lambda line, source: line.lower(),
        {("fault", "casing"), ("words", "capitalised words")},
    ),
    "empty": (lambda line, source: "", {("fault", "empty")}),
    "copies": (
        lambda line, source: source if len(line.split()) > 5 else line,
        {("fault", "copied"), ("fault", "language")},
    ),
    "loops": (
        lambda line, source: line + 6 * (" " + " ".join(line.split()[-2:])),
        {("fault", "loop"), ("fault", "length")},
    ),
    "commas": (
        lambda line, source: line.replace(",", ""),
        {("words", "punctuation"), ("phrases", "“,”")},
    ),
}  # fmt: skip


def damaged(lines, sources, damage, share):
    """The lines, some of them damaged where that changes anything; and how many."""
    able = [
        at
        for at, (line, source) in enumerate(zip(lines, sources, strict=True))
        if damage(line, source) != line
    ]
    chosen = set(random.Random(7).sample(able, max(1, round(share * len(able)))))
    changed = tuple(
        damage(line, source) if at in chosen else line
        for at, (line, source) in enumerate(zip(lines, sources, strict=True))
    )
    return changed, len(chosen)


def first_findings(data, lines, other, count):
    compared = replace(data, systems={"whole": other, "damaged": lines}, human={})
    records = assay.compare(compared, ["chrf"], features=()).records()
    return [(record["kind"], record["slice"]) for record in records[:count]], records


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_to_a_system_of_the_demo_is_among_the_first_three_findings(name):
    data = read_demo()
    damage, expected = DAMAGES[name]
    lines = data.systems["atlas"]
    changed, count = damaged(lines, data.sources, damage, 0.5)
    first, records = first_findings(data, changed, lines, 3)
    assert count >= 15
    assert expected & set(first), first
    assert records[0]["p_adjusted"] < 0.05


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_to_a_tenth_of_a_real_system_is_among_the_first_three_findings(name, shared):
    data = read_folder(shared / "wmt21" / "de-en", "de-en")
    damage, expected = DAMAGES[name]
    lines = data.systems["UEdin"]
    changed, count = damaged(lines, data.sources, damage, 0.1)
    first, _ = first_findings(data, changed, lines, 3)
    assert count >= 15
    assert expected & set(first), first


def test_a_shuffled_document_is_the_first_finding():
    data = read_demo()
    lines = list(data.systems["atlas"])
    document = data.documents[50]
    places = [at for at, name in enumerate(data.documents) if name == document]
    for at, other in zip(places, [*places[1:], places[0]], strict=True):
        lines[at] = data.systems["atlas"][other]
    first, records = first_findings(data, tuple(lines), data.systems["atlas"], 1)
    assert first == [("label", f"document {document}")]
    assert records[0]["share"] == pytest.approx(1)
