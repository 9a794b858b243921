"""Small test sets with people's scores, for the tests of sensitivity."""

import numpy as np

from assay.agreement.sensitivity.study import Study, documents_of, ratings_of, sections_of
from assay.data import Dataset, Scores
from assay.metrics.base import parse, system_statistics

WORDS = [
    "the",
    "old",
    "man",
    "saw",
    "a",
    "small",
    "dog",
    "near",
    "red",
    "house",
    "she",
    "told",
    "him",
    "why",
    "so",
]


def dataset(systems=6, documents=9, *, seed=1):
    """Systems that lose more and more words; documents of two to six segments."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, documents)
    labels = tuple(f"d{at}" for at, size in enumerate(sizes) for _ in range(size))
    lines = [list(rng.permutation(WORDS)[: rng.integers(6, 15)]) for _ in labels]
    return Dataset(
        systems={
            f"s{at}": tuple(" ".join(spoilt(words, 0.05 + 0.1 * at, rng)) for words in lines)
            for at in range(systems)
        },
        references=tuple((" ".join(words),) for words in lines),
        documents=labels,
    )


def spoilt(words, share, rng):
    """The words with some of them lost."""
    return [word for word in words if rng.random() > share] or words[:1]


def ratings(texts, *, missing=0.2, seed=2):
    """Human scores of segments: better for better systems, with noise; some are missing."""
    rng = np.random.default_rng(seed)
    systems, length = len(texts.systems), len(texts)
    values = -0.3 * np.arange(systems)[:, None] + rng.normal(size=(systems, length))
    values[rng.random((systems, length)) < missing] = np.nan
    return values


def scores(texts, values, *, name="da", level="segment"):
    """The scores as they come from a file."""
    items = {
        "segment": tuple(str(at) for at in range(1, len(texts) + 1)),
        "document": tuple(dict.fromkeys(texts.documents)),
        "system": ("",),
    }[level]
    return Scores(name, level, tuple(texts.systems), items, values, f"{name}.{level}")


def study(texts=None, values=None, *, metrics=("bleu", "chrf"), section=0, human=None):
    """A study of the texts; ratings of one's own, or some that fit."""
    texts = texts or dataset()
    values = ratings(texts) if values is None else values
    parts = sections_of(texts, section) if section else documents_of(texts)
    (ratings_of_texts,) = ratings_of(human or [scores(texts, values)], parts)
    statistics = [system_statistics(texts, parse(metric)) for metric in metrics]
    return Study.of(list(texts.systems), parts, ratings_of_texts, statistics)
