"""Slices of a test set, by hand-written examples."""

import numpy as np
import pytest

from assay.comparison.slices import NEGATION, label_slices, score_slices, text_slices
from assay.data import DataError, Dataset


def dataset(references, sources=(), languages=("de", "en"), **more):
    """A test set of these lines; two systems that copy the reference."""
    lines = tuple(references)
    return Dataset(
        {"a": lines, "b": lines},
        tuple((line,) for line in lines),
        sources=tuple(sources),
        languages=languages,
        **more,
    )


def found_in(data):
    """The segments of each slice by its name, from 0."""
    return {part.name: np.flatnonzero(part.mask).tolist() for part in text_slices(data)}


PLAIN = {
    "en": "The weather stays calm.",
    "de": "Das Wetter bleibt ruhig.",
    "ru": "Погода остаётся спокойной.",
    "zh": "天气很好。",
}


@pytest.mark.parametrize(
    ("language", "line", "name"),
    [
        ("en", "It costs 12 coins.", "with a number"),
        ("de", "Kommt er morgen?", "with a question"),
        ("zh", "他明天来吗？", "with a question"),
        ("de", "Komm her!", "with an exclamation mark"),
        ("zh", "快来！", "with an exclamation mark"),
        ("de", "Er sagte „nein“ dazu.", "with quotation marks"),
        ("en", 'He said "no" again.', "with quotation marks"),
        ("ru", "Он сказал «нет» снова.", "with quotation marks"),
        ("zh", "他说「好」。", "with quotation marks"),
        ("en", "It works (mostly).", "with brackets"),
        ("zh", "这很好（真的）。", "with brackets"),
        ("en", "See https://example.org for more.", "with a link, markup or placeholder"),
        ("en", "Press <b>start</b> now.", "with a link, markup or placeholder"),
        ("de", "Hallo {name}, guten Tag.", "with a link, markup or placeholder"),
        ("de", "Das sind zwei Prozent davon.", "with a percentage or sum of money"),
        ("en", "It fell by €2.", "with a percentage or sum of money"),
        ("en", "One thing: patience.", "with a colon, semicolon or dash"),
        ("en", "Apples, pears, plums, and figs.", "with three commas or more"),
        ("en", "A well-known song.", "with a hyphenated word"),
        ("de", "Die NATO tagt heute.", "with an acronym"),
        ("ru", "Страны НАТО ждут.", "with an acronym"),
        ("en", "It rained. Then it stopped.", "of several sentences"),
        ("zh", "下雨了。后来停了。", "of several sentences"),
        ("de", "Wetter bleibt ruhig", "without final punctuation (headings)"),
    ],
)
def test_a_source_is_in_the_slice_of_what_it_has(language, line, name):
    sources = [PLAIN[language], line, PLAIN[language]]
    data = dataset(["x."] * 3, sources, (language, "en"))
    assert found_in(data).get(name) == [1]


def test_without_sources_the_reference_tells():
    data = dataset([PLAIN["en"], "It costs 12 coins.", "Is it?"])
    assert found_in(data)["with a number"] == [1]
    assert found_in(data)["with a question"] == [2]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "It does not work."),
        ("en", "It doesn’t work."),
        ("en", "They can't come."),
        ("de", "Das ist kein Problem."),
        ("ru", "Это не работает."),
        ("zh", "他没有来。"),
    ],
)
def test_a_negation_in_the_reference_or_the_source_makes_the_slice(language, line):
    other = "This is fine." if language != "en" else "Das passt gut."
    code = "en" if language != "en" else "de"
    reference = [PLAIN[language], line, PLAIN[language]]
    assert found_in(dataset(reference, [other] * 3, (code, language)))["with a negation"] == [1]
    assert found_in(dataset([other] * 3, reference, (language, code)))["with a negation"] == [1]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "A knot is nothingness of a kind."),
        ("de", "Die Nichte kommt im November."),
        ("ru", "Небо над морем."),
    ],
)
def test_words_that_only_begin_like_a_negation_are_none(language, line):
    data = dataset([PLAIN[language], line, PLAIN[language]], (), ("xx", language))
    assert "with a negation" not in found_in(data)


def test_a_language_without_a_list_of_negations_has_no_such_slice():
    assert "cy" not in NEGATION
    data = dataset(["Nid yw hynny.", "Mae'n braf.", "Ie."], (), ("xx", "cy"))
    assert "with a negation" not in found_in(data)


def test_names_are_capitals_inside_a_sentence_where_nouns_are_small():
    english = ["The weather stays calm.", "We met Anna there.", "The old town sleeps."]
    german = ["Das Wetter bleibt ruhig.", "Wir trafen Anna dort.", "Die alte Stadt schläft."]
    assert found_in(dataset(english, german))["with a name"] == [1]
    assert found_in(dataset(german, english, ("en", "de")))["with a name"] == [1]
    assert "with a name" not in found_in(dataset(german, (), ("xx", "de")))


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        ("ru", ["Погода остаётся спокойной.", "Мы видели Анну там.", "Город спит."]),
        ("pl", ["Pogoda jest łagodna.", "Widzieliśmy Annę tam.", "To miasto śpi."]),
        ("cs", ["Počasí je špatné.", "Viděli jsme Žofii tam.", "Město často spí."]),
    ],
)
def test_small_letters_of_any_alphabet_begin_no_name(language, lines):
    found = found_in(dataset(lines, (), ("xx", language)))
    assert found["with a name"] == [1]
    assert "with an acronym" not in found


def test_the_first_segment_of_every_document_is_in_a_slice():
    data = dataset([PLAIN["en"]] * 6, documents=("a", "a", "b", "b", "b", "c"))
    assert found_in(data)["first of a document"] == [0, 2, 5]
    assert "first of a document" not in found_in(dataset([PLAIN["en"]] * 6))


def test_a_slice_of_nearly_all_segments_is_none():
    lines = ["It costs 12."] * 19 + [PLAIN["en"]]
    assert "with a number" not in found_in(dataset(lines))
    assert "with a number" in found_in(dataset([*lines, *[PLAIN["en"]] * 2]))


def test_lengths_are_cut_into_quarters_of_the_references_words():
    lines = [" ".join(["word"] * (1 + at)) for at in range(40)]
    parts = [part for part in text_slices(dataset(lines)) if part.name.startswith("of ")]
    names = [part.name for part in parts]
    assert names == [
        "of 1 to 10 words", "of 11 to 20 words", "of 21 to 30 words", "of 31 to 40 words"
    ]  # fmt: skip
    assert np.array_equal(sum(part.mask for part in parts), np.ones(40))


def test_chinese_and_japanese_lengths_are_in_characters():
    lines = ["好" * (1 + at) for at in range(40)]
    for code in ("zh", "ja"):
        data = dataset(lines, (), ("en", code))
        assert "of 1 to 10 characters" in found_in(data)


def test_equal_lengths_stay_together():
    lines = ["one two"] * 30 + ["one two three four"] * 10
    assert {
        name: len(places)
        for name, places in found_in(dataset(lines)).items()
        if name.startswith("of ")
    } == {"of 2 words": 30, "of 4 words": 10}


def test_few_segments_are_not_cut_into_quarters():
    lines = [" ".join(["word"] * (1 + at)) for at in range(19)]
    assert not [name for name in found_in(dataset(lines)) if name.startswith("of ")]


def test_difficulty_is_the_mean_score_of_all_systems():
    scores = np.array([np.arange(40.0), np.arange(40.0) + 7])
    parts = score_slices(scores)
    assert [np.flatnonzero(part.mask).tolist() for part in parts] == [
        list(range(start, start + 10)) for start in range(0, 40, 10)
    ]
    assert parts[0].name == "the hardest quarter"
    assert parts[-1].name == "the easiest quarter"
    swapped = score_slices(scores[::-1])
    assert all(np.array_equal(a.mask, b.mask) for a, b in zip(parts, swapped, strict=True))


def test_segments_that_nobody_scored_are_of_no_difficulty():
    scores = np.arange(44.0)[None].copy()
    scores[0, 40:] = np.nan
    assert not any(part.mask[40:].any() for part in score_slices(scores))


def test_difficulty_needs_four_parts():
    assert score_slices(np.zeros((2, 40))) == []
    assert score_slices(np.arange(10.0)[None]) == []


def test_labels_make_one_slice_for_each_value():
    data = dataset([PLAIN["en"]] * 6, documents=("a", "a", "b", "b", "c", "c"))
    parts = label_slices(data, {"domain": ["news", "law", "news", "law", "", "law"]})
    assert {part.name: np.flatnonzero(part.mask).tolist() for part in parts} == {
        "document a": [0, 1],
        "document b": [2, 3],
        "document c": [4, 5],
        "domain news": [0, 2],
        "domain law": [1, 3, 5],
    }
    assert {part.kind for part in parts} == {"label"}


def test_labels_of_another_length_are_an_error():
    data = dataset([PLAIN["en"]] * 3)
    with pytest.raises(DataError, match="labels 'domain': 2 values for 3 segments"):
        label_slices(data, {"domain": ["a", "b"]})


def test_a_label_that_all_segments_have_is_no_slice():
    assert label_slices(dataset([PLAIN["en"]] * 3), {"domain": ["news"] * 3}) == []


def test_what_systems_write_does_not_decide_what_is_in_a_slice_of_texts():
    data = dataset([PLAIN["en"], "It costs 12 coins.", "Is it?"])
    other = Dataset(
        {"a": ("12", "?", "no"), "b": ("", "x", "«»")}, data.references, languages=data.languages
    )
    assert found_in(other) == found_in(data)
