"""Annotators without a model: word lists, pronouns, regular expressions."""

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import DataError
from assay.features.annotation import Annotation, Feature, TokenSpan
from assay.features.rules import (
    PRONOUNS,
    CombinedRules,
    RegexAnnotator,
    WordListAnnotator,
    gender,
    read_patterns,
    read_word_lists,
)
from assay.io.files import read_lines
from assay.text import tokenize


def found(annotation, layer):
    """The words of the spans, and their labels."""
    return [
        (" ".join(annotation.tokens[start:end]), label)
        for start, end, label in annotation.layers[layer]
    ]


def words(lists, line):
    return found(WordListAnnotator("list", lists).annotate([line])[0], "list")


def matches(patterns, line):
    return found(RegexAnnotator("regex", patterns).annotate([line])[0], "regex")


# Word lists


def test_words_of_a_list_are_found_whatever_their_case():
    assert words({"A": ("Dog",), "B": ("CAT",)}, "A dog, a Cat; dogs") == [
        ("dog", "A"),
        ("Cat", "B"),
    ]


def test_words_are_found_beside_punctuation_marks():
    assert words({"A": ("he",)}, "He's “he”(he)…he") == [("He", "A")] + 3 * [("he", "A")]


def test_the_longest_phrase_of_a_list_counts():
    lists = {"GPE": ("York", "New York", "New York City")}
    line = "New York City, New York, York"
    assert [word for word, _ in words(lists, line)] == ["New York City", "New York", "York"]


def test_a_phrase_may_have_punctuation_marks():
    assert words({"A": ("o'clock",)}, "At 5 o'clock") == [("o ' clock", "A")]


def test_a_word_may_stand_in_several_lists():
    assert words({"A": ("his",), "B": ("his", "its")}, "his") == [("his", "A"), ("his", "B")]


def test_spans_of_one_list_do_not_overlap():
    assert words({"A": ("a b", "b c")}, "a b c") == [("a b", "A")]
    assert words({"A": ("a b",), "B": ("b c",)}, "a b c") == [("a b", "A"), ("b c", "B")]


def test_folding_case_goes_beyond_ascii():
    assert words({"A": ("STRASSE", "он")}, "Straße, Он") == [("Straße", "A"), ("Он", "A")]


def test_tokens_have_all_characters_of_the_line():
    line = "“Don't” &amp; <skipped> l’homme\u00a0!\u3000日本語。"
    (annotation,) = WordListAnnotator("list", {"A": ("x",)}).annotate([line])
    assert "".join(annotation.tokens) == "".join(line.split())
    assert annotation.layers == {"list": ()}


def test_a_list_with_a_blank_for_a_word_is_an_error():
    with pytest.raises(DataError, match="list: the list 'A' has ' ', which is no word"):
        words({"A": (" ",)}, "a")


def test_identities_tell_lists_apart():
    one, two = WordListAnnotator("l", {"A": ("a",)}), WordListAnnotator("l", {"A": ("b",)})
    assert one.identity != two.identity
    assert one == WordListAnnotator("l", {"A": ("a",)})
    assert one.identity == WordListAnnotator("l", {"A": ("a",)}).identity
    assert one.identity != RegexAnnotator("l", {"A": ("a",)}).identity
    assert one.layers == ("l",)


ENTRY = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(" ".join)
LISTS = st.dictionaries(st.sampled_from("XY"), st.lists(ENTRY, min_size=1, max_size=4), min_size=1)


@given(LISTS, st.text("abc ", max_size=20))
def test_lists_find_what_a_slow_search_finds(lists, line):
    tokens = line.split()
    slow = []
    for label, entries in lists.items():
        at = 0
        while at < len(tokens):
            sizes = [n for n in (1, 2, 3) if " ".join(tokens[at : at + n]) in entries]
            fitting = [n for n in sizes if at + n <= len(tokens)]
            slow += [TokenSpan(at, at + n, label) for n in fitting[-1:]]
            at += max(fitting, default=1)
    (annotation,) = WordListAnnotator("list", lists).annotate([line])
    assert sorted(annotation.layers["list"]) == sorted(slow)
    assert list(annotation.tokens) == tokens


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_any_text_can_be_annotated(lines):
    lines = [line.encode(errors="replace").decode() for line in lines]
    annotations = CombinedRules(
        (WordListAnnotator("list", {"A": ("a", "0")}), RegexAnnotator("regex", {"B": (".",)}))
    ).annotate(lines)
    assert [list(each.tokens) for each in annotations] == tokenize(lines, "intl")
    for annotation in annotations:
        for spans in annotation.layers.values():
            assert all(0 <= s < e <= len(annotation.tokens) for s, e, _ in spans)
        covered = {at for s, e, _ in annotation.layers["regex"] for at in range(s, e)}
        # A dot matches all but line feeds, which are white space.
        assert covered == set(range(len(annotation.tokens)))


# Beside another annotator


def test_layers_are_added_to_the_tokens_of_another():
    other = Annotation(("He's", "here", "."), {"tags": (TokenSpan(0, 1, "X"),)})
    (both,) = gender().add_to([other], ["He's here."])
    assert both.tokens == other.tokens
    assert both.layers["tags"] == other.layers["tags"]
    assert both.layers["gender"] == (TokenSpan(0, 1, "gender"),)
    assert both.layers["gender-value"] == (TokenSpan(0, 1, "Masc"),)


def test_phrases_are_found_in_tokens_that_are_cut_otherwise():
    lists = WordListAnnotator("list", {"A": ("don't know",)})
    (both,) = lists.add_to([Annotation(("I", "do", "n't", "know", "."))], ["I don't know."])
    assert both.layers["list"] == (TokenSpan(1, 4, "A"),)


def test_tokens_with_other_characters_than_the_line_are_searched_themselves():
    annotation = Annotation(("``", "she", "''"))
    (both,) = gender().add_to([annotation], ["“she”"])
    assert both.layers["gender"] == (TokenSpan(1, 2, "gender"),)


def test_nothing_together_gives_bare_tokens():
    nothing = CombinedRules(())
    assert nothing.annotate(["a b."]) == [Annotation(("a", "b", "."))]
    assert nothing.layers == ()


# Pronouns


def test_pronouns_are_one_feature_with_three_values():
    line = "He saw her and themselves; it was Mr. Hershey's woman."
    (annotation,) = gender().annotate([line])
    assert [word for word, _ in found(annotation, "gender")] == ["He", "her", "themselves"]
    assert {label for _, label in found(annotation, "gender")} == {"gender"}
    assert [label for _, label in found(annotation, "gender-value")] == ["Masc", "Fem", "Neut"]
    assert gender().layers == ("gender", "gender-value")


def test_no_pronoun_has_two_genders():
    assert max(Counter(word for each in PRONOUNS.values() for word in each).values()) == 1


@pytest.mark.parametrize(
    ("name", "value"), [("male", "Masc"), ("female", "Fem"), ("neutral", "Neut")]
)
def test_every_winogender_sentence_has_one_pronoun(shared, name, value):
    annotations = gender().annotate(read_lines(shared / "winogender" / f"{name}.txt"))
    assert len(annotations) == 240
    assert all(len(annotation.layers["gender"]) == 1 for annotation in annotations)
    assert {s.label for annotation in annotations for s in annotation.layers["gender-value"]} == {
        value
    }


def test_male_and_female_winogender_sentences_have_the_feature_at_the_same_place(shared):
    folder = shared / "winogender"
    male = gender().annotate(read_lines(folder / "male.txt"))
    female = gender().annotate(read_lines(folder / "female.txt"))
    feature = Feature("gender", "gender")
    for one, other in zip(male, female, strict=True):
        (place,) = feature.spans(one)
        assert [place] == feature.spans(other)
        rest = [
            tokens[: place.start] + tokens[place.end :] for tokens in (one.tokens, other.tokens)
        ]
        assert rest[0] == rest[1]


# Regular expressions


def test_expressions_mark_every_token_that_they_touch():
    patterns = {"NUMBER": (r"\d+%",), "ING": (r"ing\b",), "NAME": (r"\p{Lu}\w+ \p{Lu}\w+",)}
    assert matches(patterns, "Ann Lee (50%) is running 3 %") == [
        ("Ann Lee", "NAME"),
        ("50 %", "NUMBER"),
        ("running", "ING"),
    ]


def test_case_counts_in_expressions_unless_they_say_otherwise():
    assert matches({"A": ("us",)}, "US") == []
    assert matches({"A": ("(?i)us",)}, "US") == [("US", "A")]


def test_one_label_may_have_several_expressions_and_a_span_counts_once():
    assert matches({"A": ("ab", "a", "x*")}, "ab c") == [("ab", "A")]


def test_white_space_alone_is_not_found():
    assert matches({"A": (r"\s+", "^", "$", "(?=b)")}, "a  b") == []


def test_an_expression_that_runs_away_is_an_error_that_names_it():
    annotator = RegexAnnotator("regex", {"A": ("(a|aa)+$",)}, limit=0.2)
    message = r"expression '\(a\|aa\)\+\$' takes longer than 0.2 s on line 2\. "
    with pytest.raises(DataError, match=message):
        annotator.annotate(["a", "a" * 100 + "b"])
    with pytest.raises(DataError, match=r"^x\.txt: the regular " + message):
        replace(annotator, source="x.txt").annotate(["a", "a" * 100 + "b"])


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "*", "(?P<x>a)(?P<x", r"\p{Nonsense}", "a{2,1}", "a{2147483648}"]
)
def test_what_is_no_expression_is_an_error(pattern):
    with pytest.raises(DataError, match="is not a regular expression"):
        matches({"A": (pattern,)}, "a")


@given(st.text("ab ", max_size=12), st.sampled_from(["a", "a+", "ab", "b a", "[ab]+", " a|b"]))
def test_expressions_find_what_a_slow_search_finds(line, pattern):
    tokens, place = line.split(), []
    for number, match in enumerate(re.finditer(r"\S+", line)):
        place += [(at, number) for at in range(match.start(), match.end())]
    slow = set()
    for match in re.finditer(pattern, line):
        touched = [number for at, number in place if match.start() <= at < match.end()]
        slow.add(TokenSpan(touched[0], touched[-1] + 1, "A"))
    (annotation,) = RegexAnnotator("regex", {"A": (pattern,)}).annotate([line])
    assert list(annotation.tokens) == tokens
    assert list(annotation.layers["regex"]) == sorted(slow)


# Files


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "x.tsv"
        path.write_text(content, "utf-8")
        return path

    return write


def test_word_lists_are_read_by_label(file):
    path = file("# mine\nhe\tMasc\n\nNew York\tPlace\r\nhim \tMasc\nhe\tMasc\n#\tHash\n")
    assert read_word_lists(path) == {
        "Masc": ("he", "him"),
        "Place": ("New York",),
        "Hash": ("#",),
    }


def test_patterns_are_read_by_label(file):
    path = file("# mine\nA\t\\d+\nB\t#\nA\t[a-z] [a-z]\n")
    assert read_patterns(path) == {"A": (r"\d+", "[a-z] [a-z]"), "B": ("#",)}


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        (read_word_lists, "he Masc\n", r"x\.tsv, line 1: 'he Masc' is not word<TAB>label"),
        (read_word_lists, "a\tA\nhe\tMasc\tx\n", r"x\.tsv, line 2: .* is not word<TAB>label"),
        (read_word_lists, "\tMasc\n", r"line 1: .* is not word<TAB>label"),
        (read_word_lists, "he\t \n", r"line 1: .* is not word<TAB>label"),
        (read_word_lists, "he\tthe man\n", r"line 1: the label 'the man' .* Write 'the_man'"),
        (read_word_lists, "# only\n\n", r"x\.tsv has no rows; it needs lines of word<TAB>label"),
        (read_word_lists, "", r"x\.tsv is empty"),
        (read_patterns, "A\ta\nB\t(a\n", r"x\.tsv, line 2: '\(a' is not a regular expression"),
        (read_patterns, "A\n", r"line 1: 'A' is not label<TAB>expression"),
        (read_patterns, f"{'x' * 500}\n", r"line 1: 'x{59}…' is not label"),
    ],
)
def test_bad_rows_are_errors_that_say_where(file, read, content, message):
    with pytest.raises(DataError, match=message):
        read(file(content))
