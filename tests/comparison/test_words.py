"""Words as slices, against counting them one by one."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import assay
from assay.comparison.words import (
    Vocabulary,
    class_counts,
    f_score,
    form_classes,
    frequency_bins,
    rare_words,
)
from assay.demo import read_demo
from assay.features.annotation import Annotation, Feature, TokenSpan
from assay.metrics.base import parse
from assay.text import tokenize


@pytest.fixture(scope="module")
def demo():
    return read_demo()


@pytest.fixture(scope="module")
def words(demo):
    return Vocabulary.of(demo)


def ngrams(line, order):
    tokens = tokenize([line])[0]
    return Counter(" ".join(tokens[at : at + order]) for at in range(len(tokens) - order + 1))


def slow_counts(data, test, order=1):
    """Predicted, wanted and matched words for which the test holds, (systems, segments, 3)."""
    found = np.zeros((len(data.systems), len(data), 3))
    for number, lines in enumerate(data.systems.values()):
        for segment, (line, references) in enumerate(zip(lines, data.references, strict=True)):
            has, wants = ngrams(line, order), Counter()
            for reference in references:
                wants |= ngrams(reference, order)
            for word in {*has, *wants}:
                if test(word):
                    shared = min(has[word], wants[word])
                    found[number, segment] += has[word], wants[word], shared
    return found


def reference_counts(data):
    counts = Counter()
    for references in data.references:
        wants = Counter()
        for reference in references:
            wants |= ngrams(reference, 1)
        counts += wants
    return counts


@pytest.mark.parametrize("order", [1, 2])
def test_all_counts_are_those_of_counting_words_one_by_one(demo, order):
    words = Vocabulary.of(demo, order=order)
    everything = words.counts(np.ones(len(words.types), bool))
    assert np.array_equal(everything, slow_counts(demo, lambda word: True, order))


def test_reference_counts_take_the_largest_count_of_several_references(demo, words):
    expected = reference_counts(demo)
    found = {word: n for word, n in zip(words.types, words.reference_counts, strict=True) if n}
    assert found == dict(expected)


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("numbers", lambda word: any(c.isdigit() for c in word)),
        ("punctuation", lambda word: not any(c.isalnum() for c in word)),
        ("words of 10 letters and more", lambda word: len(word) >= 10 and word.isalpha()),
        ("acronyms", lambda word: len(word) > 1 and word.isalpha() and word == word.upper()),
        ("negations", lambda word: word.lower() in {"not", "no", "never", "none", "nobody",
                                                   "nothing", "nowhere", "neither", "nor",
                                                   "cannot", "without"}),
    ],
)  # fmt: skip
def test_a_class_of_words_has_the_counts_of_its_words(demo, words, name, test):
    [part] = [part for part in form_classes(demo, words) if part.name == name]
    assert np.array_equal(part.counts, slow_counts(demo, test))


def test_capitalised_words_are_names_and_not_beginnings_of_sentences(demo, words):
    [part] = [p for p in form_classes(demo, words) if p.name == "capitalised words"]
    counts = reference_counts(demo)

    def is_name(word):
        is_capitalised = len(word) > 1 and word[0].isupper() and not word.isupper()
        return is_capitalised and counts[word.lower()] <= 0.2 * counts[word]

    assert np.array_equal(part.counts, slow_counts(demo, is_name))
    assert not is_name("The")


def test_languages_without_a_list_have_no_class_of_negations(demo, words):
    other = replace(demo, languages=("de", "cy"))
    assert "negations" in [part.name for part in form_classes(demo, words)]
    assert "negations" not in [part.name for part in form_classes(other, words)]


@pytest.mark.parametrize("system", ["atlas", "birch", "cedar"])
def test_the_f_of_all_words_is_that_of_their_counts(demo, words, system):
    at = list(demo.systems).index(system)
    sums = slow_counts(demo, lambda word: True)[at].sum(axis=0)
    precision, recall = sums[2] / sums[0], sums[2] / sums[1]
    everything = words.counts(np.ones(len(words.types), bool))[at].sum(axis=0)
    expected = 200 * precision * recall / (precision + recall)
    assert f_score(everything[None])[0] == pytest.approx(expected)


def test_f_is_unknown_where_there_are_no_words():
    assert np.isnan(f_score(np.zeros((1, 3)))[0])
    assert f_score(np.array([[2.0, 0, 0], [2, 2, 2], [0, 3, 0]])).tolist() == [0, 100, 0]


def test_bins_of_frequency_hold_every_type_of_the_references_once(words):
    bins = frequency_bins(words)
    together = sum(part.chosen.astype(int) for part in bins)
    assert np.array_equal(together, (words.reference_counts > 0).astype(int))
    assert [part.name for part in bins][:2] == [
        "seen once in the references",
        "seen 2 to 4 times in the references",
    ]
    for part, (low, high) in zip(
        bins, [(1, 1), (2, 4), (5, 9), (10, 99), (100, 1e9)], strict=False
    ):
        counts = words.reference_counts[part.chosen]
        assert counts.min() >= low
        assert counts.max() <= high


def macrof_by_hand(data, system, chosen):
    """The mean F1 of these types over the whole test set."""
    sums = {word: [0, 0, 0] for word in chosen}
    for line, references in zip(data.systems[system], data.references, strict=True):
        has, wants = ngrams(line, 1), Counter()
        for reference in references:
            wants |= ngrams(reference, 1)
        for word in chosen:
            sums[word][0] += has[word]
            sums[word][1] += wants[word]
            sums[word][2] += min(has[word], wants[word])
    return 100 * np.mean([2 * m / (p + w) for p, w, m in sums.values()])


def frequency_findings(data, **options):
    records = assay.compare(data, ["bleu"], features=(), **options).records()
    return [record for record in records if record["kind"] == "frequency"]


def test_the_value_of_a_bin_is_the_mean_f_of_its_types(demo, words):
    data = replace(demo, systems={name: demo.systems[name] for name in ("atlas", "birch")})
    bins = {part.name: part.chosen for part in frequency_bins(words)}
    found = frequency_findings(data)
    assert len(found) >= 4
    for record in found:
        chosen = [w for w, c in zip(words.types, bins[record["slice"]], strict=True) if c]
        assert record["value"] == pytest.approx(macrof_by_hand(data, "birch", chosen))
        assert record["value_other"] == pytest.approx(macrof_by_hand(data, "atlas", chosen))


def test_one_bin_of_all_types_of_the_references_is_macrof_up_to_words_made_up(demo):
    """MacroF also counts types that only the output has, each with 0."""
    data = replace(demo, systems={name: demo.systems[name] for name in ("atlas", "birch")})
    counts = reference_counts(data)
    found = frequency_findings(data, frequencies=dict.fromkeys(counts, 1_000_000))
    [record] = found
    assert record["slice"] == "seen 1000 times or more in the training corpus"
    metric = parse("macrof")
    for value, system in (("value", "birch"), ("value_other", "atlas")):
        lines = data.systems[system]
        types = {*counts, *(word for line in tokenize(lines) for word in line)}
        references = [list(column) for column in zip(*data.references, strict=True)]
        score = metric.corpus_score(lines, {str(k): v for k, v in enumerate(references)}).score
        assert record[value] == pytest.approx(score * len(types) / len(counts))


def test_frequencies_of_a_training_corpus_make_other_bins(words):
    frequencies = {"the": 5000, "of": 12, "and": 1}
    bins = {
        part.name: {w for w, c in zip(words.types, part.chosen, strict=True) if c}
        for part in frequency_bins(words, frequencies)
    }
    assert bins["seen 1000 times or more in the training corpus"] == {"the"}
    assert bins["seen 10 to 99 times in the training corpus"] == {"of"}
    assert bins["seen 1 to 9 times in the training corpus"] == {"and"}
    assert "hospital" in bins["never seen in the training corpus"]


def slow_rare_words(data, one, other):
    """Words of one segment of two systems that neither source nor reference nor others have."""
    known = Counter()
    for lines in [data.sources, *zip(*data.references, strict=True)]:
        known.update(word for line in tokenize(list(lines)) for word in line)
    for name, lines in data.systems.items():
        if name not in (one, other):
            known.update(word for line in tokenize(list(lines)) for word in line)
    places = {}
    for name in (one, other):
        for segment, line in enumerate(tokenize(list(data.systems[name]))):
            for word in line:
                places.setdefault(word, set()).add(segment)
    rare = {
        word
        for word, where in places.items()
        if len(where) == 1 and word not in known and any(c.isalpha() for c in word)
    }
    return [
        [sum(word in rare for word in line) for line in tokenize(list(data.systems[name]))]
        for name in (one, other)
    ]


@pytest.mark.parametrize("pair", [(0, 1), (1, 2), (2, 0)])
def test_words_found_nowhere_else_are_those_found_by_looking_everywhere(demo, words, pair):
    names = list(demo.systems)
    counts = rare_words(demo, words, pair).counts
    assert counts[..., 0].tolist() == slow_rare_words(demo, *(names[at] for at in pair))
    wanted = slow_counts(demo, lambda word: True)[0, :, 1]
    assert np.array_equal(counts[..., 1], [wanted, wanted])


def annotated(line):
    """A text whose words in capitals are names (one for neighbours), and words in -s are NOUN."""
    tokens = tuple(line.split())
    upos = [TokenSpan(at, at + 1, "NOUN") for at, word in enumerate(tokens) if word.endswith("s")]
    names, start = [], None
    for at, word in enumerate([*tokens, ""]):
        if word.isupper() and start is None:
            start = at
        elif not word.isupper() and start is not None:
            names.append(TokenSpan(start, at, "PERSON"))
            start = None
    return Annotation(tokens, {"upos": tuple(upos), "ner": tuple(names)})


def test_tagged_words_have_the_counts_of_going_through_them():
    outputs = {
        "a": ["ANNA LEE sees cats cats and dogs", "nothing here", "BO runs"],
        "b": ["LEE sees cats", "BO BO eats figs", ""],
    }
    references = [("ANNA LEE sees dogs", "ANNA LEE has cats and cats"), ("BO eats figs",), ("x",)]
    features = [Feature("upos", "NOUN"), Feature("ner", "PERSON")]
    found = class_counts(
        {name: [annotated(line) for line in lines] for name, lines in outputs.items()},
        [tuple(map(annotated, texts)) for texts in references],
        features,
    )
    nouns, names = found
    assert [nouns.name, names.name] == ["upos:NOUN", "ner:PERSON"]
    # Predicted, wanted (the largest count over references), matched.
    assert nouns.counts.tolist() == [
        [[4, 5, 4], [0, 2, 0], [1, 0, 0]],
        [[2, 5, 2], [2, 2, 2], [0, 0, 0]],
    ]
    # "ANNA LEE" is one name, and neither "LEE" nor "BO BO" is the name of the reference.
    assert names.counts.tolist() == [
        [[1, 1, 1], [0, 1, 0], [1, 0, 0]],
        [[1, 1, 0], [1, 1, 0], [0, 0, 0]],
    ]
