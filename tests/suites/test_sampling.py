"""What is drawn, and what it is hidden among."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import DataError
from assay.suites.files import read_suite
from assay.suites.model import Item, Suite
from assay.suites.sampling import KeyLine, SampledGroup, draw, items_in, mix, read_key, write_key


def rng(seed=1):
    return np.random.default_rng(seed)


def suite(*counts):
    """Two phenomena per category, with so many items each."""
    items = [
        Item(f"{at}.{number}", "deen", f"C{at // 2}", f"P{at}", f"Satz {at} {number}.")
        for at, count in enumerate(counts)
        for number in range(count)
    ]
    return Suite(tuple(items))


SUITE = suite(5, 3, 8, 4)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"count": 4}, {"P0": 4, "P1": 3, "P2": 4, "P3": 4}),
        ({"count": 1}, {"P0": 1, "P1": 1, "P2": 1, "P3": 1}),
        ({}, {"P0": 5, "P1": 3, "P2": 8, "P3": 4}),
        ({"count": 2, "only": ["C1", "P0"]}, {"P0": 2, "P2": 2, "P3": 2}),
    ],
)
def test_so_many_items_of_each_phenomenon_are_drawn(options, wanted):
    sample = draw(SUITE, rng=rng(), **options)
    assert Counter(item.phenomenon for item in sample.items) == wanted
    assert {group.name: group.drawn for group in sample.groups} == wanted
    places = [SUITE.items.index(item) for item in sample.items]
    assert places == sorted(set(places))


def test_so_many_items_of_each_category_are_drawn():
    sample = draw(SUITE, count=9, per="category", rng=rng())
    assert sample.groups == (SampledGroup("C0", 8, 8), SampledGroup("C1", 12, 9))
    assert Counter(item.category for item in sample.items) == {"C0": 8, "C1": 9}


def test_phenomena_of_one_name_in_two_categories_are_two():
    twins = [Item(str(at), "", f"C{at % 2}", "P", "x") for at in range(6)]
    assert len(draw(Suite(tuple(twins)), count=2, rng=rng()).items) == 4


def test_the_seed_decides_what_is_drawn():
    big = suite(100)
    one, same, other = (draw(big, count=10, rng=rng(seed)).items for seed in (1, 1, 2))
    assert one == same != other


def test_every_item_is_drawn_as_often_as_another():
    counts = Counter(
        item.id for seed in range(300) for item in draw(suite(5), count=2, rng=rng(seed)).items
    )
    assert sum(counts.values()) == 600
    # 120 each are expected, with a standard deviation of 8.5.
    assert all(abs(counts[f"0.{number}"] - 120) < 45 for number in range(5))


def test_an_unknown_category_is_told_with_the_nearest():
    with pytest.raises(DataError, match=r"'C11' \(did you mean 'C1'\?\)"):
        draw(SUITE, only=["C0", "C11"], rng=rng())


@given(st.integers(0, 1000), st.integers(2, 10))
def test_items_are_mixed_into_so_many_times_as_many_others(seed, ratio):
    sentences = [f"Anderes {at}." for at in range(60)]
    key = mix(SUITE.items[:5], sentences, ratio=ratio, rng=rng(seed))
    assert [each.line for each in key] == list(range(1, 5 * (ratio + 1) + 1))
    assert {each.item: each.source for each in items_in(key)} == {
        item.id: item.source for item in SUITE.items[:5]
    }
    others = [each.source for each in key if not each.item]
    assert len(set(others)) == len(others) == 5 * ratio
    assert set(others) <= set(sentences)


def lengths(items, sentences, **options):
    """The lengths of the items and of what is mixed in, in characters."""
    key = mix(items, sentences, rng=rng(), **options)
    return [[len(line.source) for line in key if bool(line.item) is each] for each in (True, False)]


def test_distractors_are_as_long_as_the_items():
    items = [Item(str(at), "", "A", "B", "x" * length) for at, length in enumerate(range(20, 60))]
    sentences = [
        f"{at:04}" + "y" * int(length) for at, length in enumerate(rng().integers(0, 300, 5000))
    ]
    tested, others = lengths(items, sentences, ratio=3)
    assert (
        max(abs(np.percentile(tested, q) - np.percentile(others, q)) for q in range(0, 101, 5)) < 6
    )
    tested, others = lengths(items, sentences, ratio=3, like_length=False)
    assert np.median(others) > 2 * np.median(tested)


def test_where_none_is_as_long_the_nearest_distract():
    items = [Item("1", "", "A", "B", "x" * 50), Item("2", "", "A", "B", "x" * 6)]
    sentences = ["y" * length for length in (1, 8, 9, 20, 30, 33, 100)]
    _, others = lengths(items, sentences, ratio=2)
    assert sorted(others) == [8, 9, 30, 33]


def test_the_seed_decides_the_order():
    sentences = [f"Anderes {at}." for at in range(60)]
    one, same, other = (mix(SUITE.items, sentences, ratio=2, rng=rng(seed)) for seed in (1, 1, 2))
    assert one == same != other
    assert [each.item for each in items_in(one)] != [item.id for item in SUITE.items]


def test_without_others_the_items_keep_their_order():
    assert mix(SUITE.items, rng=rng()) == tuple(
        KeyLine(number, item.id, item.source) for number, item in enumerate(SUITE.items, 1)
    )


def test_sentences_that_are_blank_or_twice_or_tested_are_not_used():
    source = SUITE.items[0].source
    sentences = ["", " ", "A.", "A. ", f"{source} ", "B.\u2028B.", "B. B."]
    key = mix(SUITE.items[:1], sentences, ratio=2, rng=rng())
    assert sorted(each.source for each in key if not each.item) == ["A.", "B. B."]
    wanted = "3 sentences are needed to distract from 1 items, but only 2 can be used"
    with pytest.raises(DataError, match=wanted):
        mix(SUITE.items[:1], sentences, ratio=3, rng=rng())


BREAKS = "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"


@given(st.text(st.sampled_from(["a", " ", "\xa0", *BREAKS]), min_size=1, max_size=9))
def test_every_source_is_one_line_and_one_cell_for_any_program(source):
    item = Item("1", "", "A", "B", f"x{source}x")
    (line,) = mix([item], rng=rng())
    assert line.source.splitlines() == [line.source]
    assert "\t" not in line.source
    assert line.source.split() == item.source.split()


def test_a_long_row_of_blanks_is_read_in_no_time():
    blanks = " " * 1_000_000
    (line,) = mix([Item("1", "", "A", "B", f"x{blanks}y \n\t z")], rng=rng())
    assert line.source == f"x{blanks}y z"


def test_the_public_sources_are_only_changed_where_they_end_in_blanks(shared):
    items = read_suite(shared / "testsuite/de-en/items.json").items
    assert [each.source for each in mix(items, rng=rng())] == [
        item.source.strip() for item in items
    ]


def test_an_item_without_a_source_is_refused():
    with pytest.raises(DataError, match="item 7 has no source to translate"):
        mix([Item("7", "", "A", "B", " \n")], rng=rng())


def test_a_key_is_the_same_after_writing_and_reading(tmp_path):
    sentences = [f'"Anderes" {at}.' for at in range(60)]
    key = mix(SUITE.items, sentences, ratio=3, rng=rng())
    write_key(tmp_path / "key.tsv", key)
    assert read_key(tmp_path / "key.tsv") == key


def test_a_key_may_have_been_sorted(tmp_path):
    path = tmp_path / "key.tsv"
    path.write_text("source\titem\tline\nb\t\t2\na\t007\t1\n")
    assert read_key(path) == (KeyLine(1, "007", "a"), KeyLine(2, "", "b"))


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ("1\ta\tx\n1\tb\ty\n", ", line 3: line 1 stands on line 2 of this key already"),
        ("1\ta\tx\n2\ta\ty\n", ", line 3: item a stands on line 2 of this key already"),
        ("1\ta\tx\n3\tb\ty\n", ": line 2 of the text is missing"),
        ("1\t\tx\n2\t\ty\n", ": no line is an item"),
        ("one\ta\tx\n", ", line 2: 'one' is not a line number"),
    ],
)
def test_a_key_that_is_not_whole_is_refused(tmp_path, rows, wanted):
    path = tmp_path / "key.tsv"
    path.write_text("line\titem\tsource\n" + rows)
    with pytest.raises(DataError) as error:
        read_key(path)
    assert str(error.value).startswith(f"{path}{wanted}")
