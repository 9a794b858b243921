"""What the linter says of items and names, and of a suite as a whole."""

import pytest

from assay.suites.lint.items import TAXONOMY, alike
from tests.suites.lint.suites import found, item, places


def many(count, **about):
    return [item(f"{about}{at}", source=f"{about} {at}", **about) for at in range(count)]


def test_an_empty_source_is_an_error():
    assert places(item(source=" "), item("2"), check="no-source") == [("error", "1", None)]


def test_a_missing_name_is_an_error():
    problems = found(item(category=""), item("2", phenomenon=" "), item("3"), check="no-name")
    assert [problem[1:] for problem in problems] == [
        ("1", None, "the category has no name"),
        ("2", None, "the phenomenon has no name"),
    ]


def test_mixed_language_pairs_are_a_warning():
    items = item("1"), item("2", languages="de-en"), item("3")
    [(severity, _, _, message)] = found(*items, check="languages")
    assert severity == "warning"
    assert message == "the items are of different language pairs: 'deen' (2), 'de-en' (1)"
    assert found(items[0], items[2], check="languages") == []


def test_phenomena_with_fewer_than_twenty_items_are_a_warning_the_smallest_first():
    items = many(19, phenomenon="A") + many(20, phenomenon="B") + many(1, phenomenon="D")
    assert [problem[3] for problem in found(*items, check="few-items")] == [
        "'D' (C) has 1 item, fewer than 20",
        "'A' (C) has 19 items, fewer than 20",
    ]


def test_a_phenomenon_in_two_categories_is_a_warning():
    items = many(2, category="A") + many(1, category="B") + many(1, category="A", phenomenon="Q")
    [(severity, _, _, message)] = found(*items, check="two-categories")
    assert (severity, message) == ("warning", "'P' stands in 'A' (2), 'B' (1)")


def test_a_source_twice_in_a_phenomenon_is_a_warning():
    items = item("1", source="Er kam. "), item("2", source="Er  kam."), item("3", source="Sie kam.")
    [problem] = found(*items, check="same-source")
    assert problem == ("warning", "2", None, '"Er  kam." is the source of item 1, too')


def test_sources_that_two_phenomena_share_are_one_piece_of_information():
    items = [item(f"p{at}", source=str(at)) for at in range(5)]
    items += [item(f"q{at}", source=str(at), phenomenon="Q") for at in range(5)]
    [(severity, _, _, message)] = found(*items, check="same-source")
    assert severity == "info"
    assert message == "'P' and 'Q' share 5 sources: p0 = q0, p1 = q1, p2 = q2 and 2 more"


def test_empty_sources_are_not_the_same_source():
    assert found(item("1", source=""), item("2", source=""), check="same-source") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Named entitiy & terminology", "Named entity & terminology"),
        ("Named entity and terminology", "Named entity & terminology"),
        ("False Friends", "False friends"),
        ("Function words", "Function word"),
        ("Domain-specific term", "Domainspecific term"),
        ("Wh movement", "Wh-movement"),
        ("Collocatoin", "Collocation"),
        ("Preterit", "Preterite"),
        ("Modal - pluprefect", "Modal - pluperfect"),
        ("Quotaton mark", "Quotation marks"),
        ("Topicalisation", "Topicalization"),
    ],
)
def test_two_spellings_of_a_name_are_alike(one, other):
    assert alike(one, other)
    assert alike(other, one)


def test_the_names_of_the_published_suite_are_not_alike():
    names = [name for phenomena in TAXONOMY.values() for name in phenomena]
    for group in (names, list(TAXONOMY)):
        assert [(a, b) for a in group for b in group if alike(a, b)] == []


def test_names_that_are_alike_are_a_warning():
    items = many(1, phenomenon="Collocaton") + many(3, phenomenon="Collocation")
    [(severity, _, _, message)] = found(*items, check="similar-names")
    assert severity == "warning"
    assert message == "phenomenon 'Collocaton' (1 item) looks like 'Collocation' (3 items)"


def test_a_name_that_is_nearly_a_published_one_is_a_warning():
    [(severity, _, _, message)] = found(*many(2, category="Amibguity"), check="similar-names")
    assert severity == "warning"
    assert message == "category 'Amibguity' (2 items) is 'Ambiguity' in the published suite"


def test_the_published_taxonomy_has_14_categories_and_107_rows_of_the_paper():
    phenomena = [name for names in TAXONOMY.values() for name in names]
    assert len(TAXONOMY) == 14
    assert len(phenomena) == len(set(phenomena)) == 107
