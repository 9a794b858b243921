"""BM25 finds what a slow and obvious BM25 finds, always in the same order."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agreement.retrieval.collection import BM25, words
from assay.data import DataError


def obvious_scores(collection, query, k1, b):
    """Lucene's BM25 by the formula, one document after the other."""
    texts = {name: words(text) for name, text in collection.items()}
    average = sum(map(len, texts.values())) / len(texts)
    scores = {}
    for name, text in texts.items():
        score = 0.0
        for word in words(query):
            frequency = text.count(word)
            holders = sum(word in other for other in texts.values())
            rarity = math.log(1 + (len(texts) - holders + 0.5) / (holders + 0.5))
            length = 1 - b + b * len(text) / average
            score += rarity * frequency / (frequency + k1 * length) if frequency else 0.0
        scores[name] = score
    return scores


texts = st.text("abcd ", max_size=12)


@given(
    st.lists(texts, min_size=1, max_size=6).filter(lambda lines: any(map(words, lines))),
    texts,
    st.floats(0, 3),
    st.floats(0, 1),
)
def test_scores_are_those_of_the_formula(lines, query, k1, b):
    collection = {f"d{at}": line for at, line in enumerate(lines)}
    ranking = BM25(k1, b).search(collection, {"q": query})["q"]
    slow = obvious_scores(collection, query, k1, b)
    assert set(ranking.documents) == {name for name, score in slow.items() if score > 0}
    assert list(ranking.scores) == pytest.approx([slow[name] for name in ranking.documents])
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)


def test_cranfields_ranking_is_that_of_the_formula(cranfield):
    some = dict(list(cranfield.documents.items())[:150])
    queries = dict(list(cranfield.queries.items())[:3])
    for query, ranking in BM25().search(some, queries).items():
        slow = obvious_scores(some, queries[query], 1.5, 0.75)
        found = sorted((name for name in slow if slow[name] > 0), key=lambda n: -slow[n])
        assert ranking.documents == tuple(found)
        assert list(ranking.scores) == pytest.approx([slow[name] for name in found])


def test_of_equal_scores_the_greater_id_stands_first():
    collection = {"b": "cat", "c": "cat", "a": "cat", "d": "cat cat cat", "e": "dog"}
    assert BM25().search(collection, {"q": "cat"})["q"].documents == ("d", "c", "b", "a")


def test_a_query_without_known_words_finds_nothing():
    run = BM25().search({"a": "cat", "b": ""}, {"one": "zebra", "two": "?!", "three": "Cat"})
    assert [run[query].documents for query in ("one", "two", "three")] == [(), (), ("a",)]


def test_no_more_documents_are_kept_than_asked_for(cranfield):
    some = dict(list(cranfield.queries.items())[:5])
    short = BM25(depth=7).search(cranfield.documents, some)
    for query, ranking in short.items():
        assert ranking.documents == cranfield.run[query].documents[:7]


def test_characters_of_unspaced_scripts_are_found():
    collection = {"a": "東京は大きい", "b": "大阪"}
    assert BM25().search(collection, {"q": "東京"})["q"].documents == ("a",)


def test_documents_without_any_word_cannot_be_searched():
    with pytest.raises(DataError, match="no words at all"):
        BM25().search({"a": "", "b": "..."}, {"q": "cat"})


@pytest.mark.parametrize("settings", [(-1, 0.75), (1.5, 1.1), (1.5, 0.75, 0)])
def test_senseless_settings_are_refused(settings):
    with pytest.raises(DataError, match="k1 is at least 0"):
        BM25(*settings)
