"""Each oddity is told, and what is not odd is not."""

import pytest

from assay.checks import oddities
from assay.data import Dataset
from tests.corpora import demo

LINES = tuple(f"line {at} is here." for at in range(200))
SOURCES = tuple(f"Zeile {at} ist da." for at in range(200))


def dataset(systems, *, references=LINES, sources=()):
    texts = {name: tuple(lines) for name, lines in systems.items()}
    return Dataset(texts, tuple((line,) for line in references), tuple(sources))


def with_first(lines, count, change):
    return [change(line) if at < count else line for at, line in enumerate(lines)]


def test_the_demonstration_set_is_not_odd():
    systems = {name: demo(f"systems/{name}.txt") for name in ("atlas", "birch", "cedar")}
    found = dataset(systems, references=demo("ref.A.txt"), sources=demo("src.txt"))
    assert oddities(found) == []


@pytest.mark.parametrize(
    ("count", "words"), [(1, "1 segment:"), (2, "2 segments:"), (29, "29 segments:"), (30, None)]
)
def test_few_segments_are_told(count, words):
    found = oddities(dataset({"a": LINES[:count]}, references=LINES[:count]))
    assert len(found) == bool(words)
    assert not words or found[0].startswith(f"{words} too few to say much")


@pytest.mark.parametrize(("count", "odd"), [(0, False), (99, False), (100, True), (200, True)])
def test_tokenized_output_is_told(count, odd):
    found = oddities(dataset({"a": with_first(LINES, count, lambda line: line[:-1] + " .")}))
    assert found == [f"a: {count} lines end in ' .': forgot to detokenize? It lowers scores."] * odd


@pytest.mark.parametrize("blank", ["", " ", "\t\u3000"])
def test_empty_lines_are_counted(blank):
    found = oddities(dataset({"a": with_first(LINES, 3, lambda _: blank), "b": LINES}))
    assert found == ["a: 3 of 200 lines are empty."]


@pytest.mark.parametrize(("count", "odd"), [(0, False), (20, False), (21, True), (200, True)])
def test_copies_of_the_source_are_told(count, odd):
    lines = [*SOURCES[:count], *LINES[count:]]
    found = oddities(dataset({"a": lines}, sources=SOURCES))
    assert found == [f"a: {count} of 200 lines are copies of the source, untranslated."] * odd


def test_copies_that_the_reference_makes_too_are_right():
    assert oddities(dataset({"a": SOURCES}, references=SOURCES, sources=SOURCES)) == []


def test_empty_copies_of_an_empty_source_are_only_empty():
    found = oddities(dataset({"a": ("",) * 200}, sources=("",) * 200))
    assert found == ["a: 200 of 200 lines are empty."]


def test_twins_are_told_once_each():
    systems = {"a": LINES, "b": SOURCES, "c": LINES, "d": LINES}
    assert oddities(dataset(systems)) == [
        "a and c are the same text throughout.",
        "a and d are the same text throughout.",
    ]


def test_systems_that_differ_in_one_line_are_no_twins():
    assert oddities(dataset({"a": LINES, "b": (*LINES[:-1], "other")})) == []
