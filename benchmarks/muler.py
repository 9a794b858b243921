"""MuLER against masking and re-scoring feature by feature: `make bench`.

All 16 universal tags for all systems of newstest2018 de-en, in the published setting (the mean of
unsmoothed sentence BLEU over tokens). The tags are given: a hash of the word, so that no tagger is
timed. Texts are read from the folder that ASSAY_DATA names (default: ../shared/data beside the
project) or, where there is none, the demo data are repeated.

The peers mask the tokens and score the masked sentences one by one, the plain ones once per
system: sacreBLEU through its own functions for statistics and scores, NLTK through
`sentence_bleu`. Both run on a sample of the segments and are scaled up; assay runs on all.
"""

from __future__ import annotations

import os
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sacrebleu

from assay.decomposition.decompose import PRESETS, Annotated, decompose
from assay.features.annotation import Annotation, Feature, TokenSpan
from assay.features.select import UPOS
from assay.metrics.bleu import BLEU
from assay.text import tokenize

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ASSAY_DATA", PROJECT.parent / "shared" / "data"))
FEATURES = [Feature("upos", name) for name in UPOS]
SAMPLE = 50
"""The peers score every so-manieth segment."""
WANTED = 20

Score = Callable[[list[list[str]], list[list[str]]], list[float]]
"""Sentence scores of tokenized outputs against tokenized references."""


class Peer(NamedTuple):
    """Another way to score sentences."""

    name: str
    score: Score


def main() -> None:
    annotated = _annotated()
    print(
        f"MuLER, 16 tags: {len(annotated.systems)} systems x {len(annotated)} segments, tags given"
    )
    ours, found = min(
        (_timed(lambda: _ours(annotated)) for _ in range(3)), key=lambda each: each[0]
    )
    part = _every(annotated, SAMPLE)
    expected = _ours(part)
    for peer in (Peer("sacreBLEU", _sacrebleu), Peer("NLTK", _nltk)):
        seconds, figures = _timed(lambda: _feature_by_feature(part, peer.score))  # noqa: B023
        np.testing.assert_allclose(figures, expected, atol=1e-9)
        theirs = seconds * len(annotated) / len(part)
        print(
            f"{peer.name:>12}{theirs:>9.1f}s{ours:>9.2f}s{theirs / ours:>8.0f}x{WANTED:>7}x  "
            f"theirs scaled up from {len(part)} of {len(annotated)} segments"
        )
    print(f"{np.isfinite(found).all(axis=-1).sum()} figures of {len(found)}, equal on the sample")


def _annotated() -> Annotated:
    folder = DATA / "wmt18" / "de-en"
    times = 1 if folder.is_dir() else 25
    if not folder.is_dir():
        folder = PROJECT / "src" / "assay" / "demo"
    references = _tagged(next(folder.glob("ref*.txt")), times)
    systems = {path.stem: _tagged(path, times) for path in sorted(folder.glob("systems/*.txt"))}
    return Annotated(systems, [(each,) for each in references])


def _tagged(path: Path, times: int) -> list[Annotation]:
    lines = path.read_text("utf-8").removesuffix("\n").split("\n") * times
    return [_annotation(tuple(tokens)) for tokens in tokenize(lines)]


def _annotation(tokens: tuple[str, ...]) -> Annotation:
    tags = [UPOS[zlib.crc32(word.encode()) % len(UPOS)] for word in tokens]
    return Annotation(
        tokens, {"upos": tuple(TokenSpan(at, at + 1, tag) for at, tag in enumerate(tags))}
    )


def _every(annotated: Annotated, step: int) -> Annotated:
    systems = {name: texts[::step] for name, texts in annotated.systems.items()}
    return Annotated(systems, annotated.references[::step])


def _timed(function: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


def _ours(annotated: Annotated) -> np.ndarray:
    """Plain, oracle and anti-oracle of every tag and system, (tags x systems, 3)."""
    found = decompose(annotated, BLEU(), FEATURES, preset=PRESETS["paper"])
    return np.array([found.parts[feature, system].scores() / 100 for feature in FEATURES
                     for system in found.systems])  # fmt: skip


def _feature_by_feature(annotated: Annotated, score: Score) -> np.ndarray:
    references = [texts[0] for texts in annotated.references]
    plain = {
        name: score([list(text.tokens) for text in texts], [list(r.tokens) for r in references])
        for name, texts in annotated.systems.items()
    }
    return np.array([
        _figures(texts, references, tag, plain[name], score)
        for tag in UPOS
        for name, texts in annotated.systems.items()
    ])  # fmt: skip


def _figures(
    texts: Sequence[Annotation],
    references: Sequence[Annotation],
    tag: str,
    plain: Sequence[float],
    score: Score,
) -> tuple[float, float, float]:
    chosen = [
        at
        for at, both in enumerate(zip(texts, references, strict=True))
        if all(any(span.label == tag for span in text.layers["upos"]) for text in both)
    ]
    if not chosen:
        return np.nan, np.nan, np.nan
    wanted = [_masked(references[at], tag, "MASK") for at in chosen]
    oracle = score([_masked(texts[at], tag, "MASK") for at in chosen], wanted)
    anti = score([_masked(texts[at], tag, "WRONG") for at in chosen], wanted)
    return (
        float(np.mean([plain[at] for at in chosen])),
        float(np.mean(oracle)),
        float(np.mean(anti)),
    )


def _masked(text: Annotation, tag: str, mask: str) -> list[str]:
    pairs = zip(text.tokens, text.layers["upos"], strict=True)
    return [mask if span.label == tag else token for token, span in pairs]


def _sacrebleu(outputs: list[list[str]], references: list[list[str]]) -> list[float]:
    metric = sacrebleu.BLEU(tokenize="none", smooth_method="none", force=True)
    rows = metric._extract_corpus_statistics(
        [" ".join(each) for each in outputs], [[" ".join(each) for each in references]]
    )
    return [metric._compute_score_from_stats(row).score / 100 for row in rows]


def _nltk(outputs: list[list[str]], references: list[list[str]]) -> list[float]:
    from nltk.translate.bleu_score import sentence_bleu

    pairs = zip(outputs, references, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [sentence_bleu([reference], output) for output, reference in pairs]


if __name__ == "__main__":
    main()
