"""Each oddity is told, and what is not odd is not."""

from dataclasses import replace

import pytest

from assay.data import Dataset
from assay.io import read_folder
from assay.scoring.oddities import oddities
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
    told = (
        f"a: {count / 200:.0%} of the output is untranslated. Of 200 lines looked at, {count} "
        "repeat the source. Metrics without references may prefer that."
    )
    assert found == [told] * odd


GERMAN, ENGLISH = demo("src.txt"), demo("ref.A.txt")


def untranslated(lines, *, references=ENGLISH, sources=GERMAN, languages=None):
    texts = tuple((line,) for line in references) or ((),) * len(lines)
    found = Dataset({"a": tuple(lines)}, texts, tuple(sources), languages=languages)
    return [note for note in oddities(found) if "untranslated" in note]


def test_lines_that_are_nearly_the_source_count_as_copies():
    dropped = [" ".join(line.split()[:-1]).upper() for line in GERMAN]
    assert len(untranslated(dropped)) == 1
    assert "100% of the output is untranslated" in untranslated(dropped)[0]


def test_text_in_the_source_language_that_repeats_nothing_is_told_by_its_language():
    other = [*GERMAN[60:], *GERMAN[:60]]
    for references in (ENGLISH, ()):
        (note,) = untranslated(other, references=references)
        assert "0 repeat the source" in note
        assert "more are in its language (de)" in note


def test_without_references_copies_are_told_too():
    half = [a if at % 2 else b for at, (a, b) in enumerate(zip(GERMAN, ENGLISH, strict=True))]
    (note,) = untranslated(half, references=())
    assert "50% of the output is untranslated" in note


def test_names_and_numbers_are_right_as_they_are():
    names = [f"Angela Merkel, {at}:{at + 1} ({at} %)" for at in range(200)]
    assert untranslated(names, references=LINES, sources=names) == []


def test_rewriting_within_one_language_leaves_nothing_untranslated():
    assert (
        untranslated(ENGLISH, references=LINES[:120], sources=ENGLISH, languages=("en", "en")) == []
    )
    assert untranslated(ENGLISH, references=demo("ref.B.txt"), sources=ENGLISH) == []


def test_copies_are_found_however_they_lie_in_a_long_text():
    many = [f"{line} {at}" for at, line in enumerate(GERMAN * 20)]
    right = [f"{line} {at}" for at, line in enumerate(ENGLISH * 20)]
    for period in (2, 4, 5):
        lines = [b if at % period else a for at, (a, b) in enumerate(zip(many, right, strict=True))]
        assert len(untranslated(lines, references=right, sources=many)) == 1


def test_no_real_system_is_called_untranslated(shared):
    for folder in sorted((shared / "wmt18").iterdir()):
        found = read_folder(folder)
        bare = replace(found, references=((),) * len(found))
        for each in (found, bare):
            assert not [note for note in oddities(each) if "untranslated" in note], folder
        copied = replace(found, systems={"copy": found.sources})
        assert any("100% of the output is" in note for note in oddities(copied)), folder


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
