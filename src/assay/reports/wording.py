"""The verdict and the findings in words, never more certain than the figures."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assay.metrics.faults import FAULTS
from assay.reports.findings import Finding
from assay.reports.scoreboard import Difference, Scoreboard, Standing

__all__ = ["describe", "subject", "verdict"]

PARTS_OF_SPEECH = {
    "ADJ": "adjectives", "ADP": "prepositions", "ADV": "adverbs", "AUX": "auxiliary verbs",
    "CCONJ": "conjunctions such as and", "DET": "articles and determiners", "INTJ": "interjections",
    "NOUN": "nouns", "NUM": "number words and figures", "PART": "particles such as not and to",
    "PRON": "pronouns", "PROPN": "proper names", "PUNCT": "punctuation marks",
    "SCONJ": "conjunctions such as because", "SYM": "symbols", "VERB": "verbs", "X": "other words",
}  # fmt: skip
MORPHOLOGY = {
    "Aspect": "verb aspect", "Case": "case", "Definite": "articles (definite or not)",
    "Degree": "comparatives and superlatives", "Foreign": "foreign words", "Gender": "gender",
    "Mood": "mood of verbs", "NumType": "kinds of numbers", "Number": "singular and plural",
    "Person": "grammatical person", "Polarity": "negation", "Poss": "possessives",
    "PronType": "kinds of pronouns and articles", "PunctSide": "opening and closing marks",
    "PunctType": "kinds of punctuation", "Reflex": "reflexive pronouns", "Tense": "tense",
    "VerbForm": "forms of verbs", "VerbType": "modal verbs", "Voice": "voice of verbs",
}  # fmt: skip
"""What features of words are called in plain words."""

FINE = 5
"""Scores below this size are told more finely."""

CLOSE = 4
"""So many systems that cannot be told from the best are counted, not named."""

TOLD = 4
"""At most so many findings of each direction are told in the verdict."""


def subject(finding: Finding) -> str:
    """What a finding is about, as it stands in a list: `numbers lost or made up`."""
    name = finding.slice
    match finding.kind:
        case "text":
            return f"segments {name}"
        case "difficulty":
            return f"{name} of the segments"
        case "fault":
            return FAULTS[name].description if name in FAULTS else name
        case "frequency":
            return f"words {name}"
        case "phrases" if finding.metric == "uses":
            return f"how often {name} is written"
        case "human":
            return f"errors marked as {name}"
        case "words":
            return _word_class(name)
        case _:
            return name


def _in_a_sentence(finding: Finding) -> str:
    """The same where nothing around tells that it is words: `the word “on”`, `the marks ‘, "’`."""
    told = subject(finding)
    if finding.kind != "phrases" or told != finding.slice:
        return told
    if not any(map(str.isalnum, told)):
        return f"the {'marks' if ' ' in told else 'mark'} {told}"
    return f"the {'words' if ' ' in told else 'word'} {told}"


def _word_class(name: str) -> str:
    """A class of words in plain words."""
    kind, colon, label = name.partition(":")
    if not colon:
        return name
    if kind == "ner":
        return f"names of the type {label}"
    words = {"upos": PARTS_OF_SPEECH, "morph": MORPHOLOGY}.get(kind, {})
    return words.get(label, f"words with {kind} {label}")


def describe(finding: Finding) -> str:
    """A finding as a sentence."""
    about, values = _in_a_sentence(finding), _values(finding)
    sure = "" if finding.established else " (not established)"
    if finding.kind == "phrases" and finding.metric == "uses":
        return (
            f"{finding.system} writes {finding.slice} {finding.value:.0f} times, "
            f"{finding.other} {finding.value_other:.0f} times{sure}."
        )
    if not finding.difference:
        return f"{finding.system} and {finding.other} are equal on {about}: {values}{sure}."
    word = "better" if finding.better else "worse"
    return f"{finding.system} is {word} than {finding.other} on {about}: {values}{sure}."


def _values(finding: Finding) -> str:
    digits = 1 if finding.unit == "%" else 4 if finding.finer else 2
    unit = f" {finding.unit}" if finding.unit else ""
    value, other = (
        "unknown" if math.isnan(x) else f"{x:.{digits}f}{unit}"
        for x in (finding.value, finding.value_other)
    )
    match finding.metric:
        case "segments":
            return f"{value} of the segments against {other}"
        case "accuracy":
            return f"{value} right against {other}"
        case _:
            return f"{finding.metric} {value} against {other}"


def verdict(
    board: Scoreboard,
    findings: Sequence[Finding],
    pairs: Sequence[tuple[int, int]],
    *,
    level: float,
) -> list[str]:
    """What was found, in a few sentences: who is better, at what, and how sure that is."""
    if len(board.systems) == 2:
        first, second = pairs[0]
        sentences = _two(board, first, second, level)
    else:
        sentences = _many(board)
    leading = [finding for finding in findings if finding.leads]
    told = [finding for finding in leading if finding.established]
    sentences += _strengths(told)
    sentences += _place(told, board)
    if told and not any(finding.better is not None for finding in told):
        sentences.append(f"They differ in wording: {describe(told[0])}")
    if not told:
        count = sum(not math.isnan(finding.p) for finding in findings)
        sentences.append(
            f"None of the {count} slices and words looked at shows a difference that is "
            "established after correction for all of them."
        )
    return sentences


def _two(board: Scoreboard, first: int, second: int, level: float) -> list[str]:
    """Two systems: what each metric says, and where metrics disagree."""
    names = board.systems[first], board.systems[second]
    up: list[str] = []
    down: list[str] = []
    open_: list[str] = []
    for standing in board.standings:
        difference = standing.difference(first, second)
        if math.isnan(difference.value):
            continue
        told = f"{standing.label} {_difference(standing, difference, level)}"
        if not difference.p < 0.05:
            open_.append(told)
        elif (difference.value > 0) == standing.metric.higher_is_better:
            up.append(told)
        else:
            down.append(told)
    if up and down:
        found = (
            f"The metrics disagree: {names[0]} is better than {names[1]} by {_join(up)}, but worse "
            f"by {_join(down)}"
        )
    elif up or down:
        word = "better" if up else "worse"
        found = f"{names[0]} is {word} than {names[1]} by {_join(up or down)}"
    else:
        return [f"No metric tells {names[0]} and {names[1]} apart: {_join(open_)}."]
    more = f"; not established by {_join(open_)}" if open_ else ""
    return [f"{found}{more}."]


def _difference(standing: Standing, difference: Difference, level: float) -> str:
    digits = _digits(standing)
    low, high = (f"{end:.{digits}f}" for end in (difference.low, difference.high))
    return f"({difference.value:+.{digits}f}, {100 * level:g} % CI {low} to {high})"


def _digits(standing: Standing) -> int:
    """Digits after the point that scores of this size deserve."""
    return 1 if float(np.nanmax(np.abs(standing.scores), initial=0.0)) >= FINE else 3


def _many(board: Scoreboard) -> list[str]:
    """Many systems: who leads by which metrics, and who cannot be told from the leader."""
    by_leader: dict[str, list[str]] = {}
    for standing in board.standings:
        goodness = standing.metric.oriented(standing.scores)
        best = [at for at, (low, _) in enumerate(standing.ranks) if low == 1]
        best.sort(key=lambda at: -float(goodness[at]))
        names = [board.systems[at] for at in best]
        digits = _digits(standing)
        score = f"{standing.scores[best[0]]:.{digits}f}"
        close = names[1:] if len(names) < CLOSE else [f"{len(names) - 1} others"]
        more = f"; not significantly better than {_join(close)}" if len(names) > 1 else ""
        by_leader.setdefault(names[0], []).append(f"{standing.label} ({score}{more})")
    found = [f"{name} leads by {_join(metrics)}" for name, metrics in by_leader.items()]
    return [f"{'; '.join(found)}."]


def _strengths(told: Sequence[Finding]) -> list[str]:
    """What each system is worse and better at than the other, the strongest first."""
    sentences = []
    pairs = dict.fromkeys((finding.system, finding.other) for finding in told)
    for system, other in list(pairs)[:3]:
        own = [finding for finding in told if (finding.system, finding.other) == (system, other)]
        parts = []
        for better, word in ((False, "worse"), (True, "better")):
            found = [finding for finding in own if finding.better is better][:TOLD]
            if found:
                items = [f"{_in_a_sentence(finding)} ({_values(finding)})" for finding in found]
                parts.append(f"{word} on {_join(items)}")
        if parts:
            sentences.append(f"{system} is {', and '.join(parts)}, compared with {other}.")
    return sentences


def _place(told: Sequence[Finding], board: Scoreboard) -> list[str]:
    """A document or label in which most of the difference sits, where there is one at all."""
    for finding in told:
        if finding.kind == "label" and finding.share >= 0.5:
            pair = board.systems.index(finding.system), board.systems.index(finding.other)
            if not board.standings[0].difference(*pair).p < 0.05:
                continue
            share = f"{100 * finding.share:.0f} %" if finding.share < 1 else "All"
            return [
                f"{share} of the difference between {finding.system} and {finding.other} by "
                f"{finding.metric} sits in {finding.slice} ({finding.n} segments)."
            ]
    return []


def _join(items: Sequence[str]) -> str:
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"
