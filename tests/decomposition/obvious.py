"""MuLER as one would write it first: sentence by sentence, with other people's metrics."""

import math
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sacrebleu
from nltk.metrics.distance import edit_distance
from nltk.translate.bleu_score import sentence_bleu
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from assay.decomposition.decompose import Annotated
from assay.features.annotation import Annotation, Feature, TokenSpan
from tests.corpora import read_lines


def tagged(text, tags):
    """One tag per word; a tag of several words is written on each, joined by a plus: `X+ X`."""
    words, labels = text.split(), tags.split()
    assert len(words) == len(labels)
    spans, start = [], 0
    for at, label in enumerate(labels):
        if not label.endswith("+"):
            spans.append(TokenSpan(start, at + 1, label))
            start = at + 1
    return Annotation(tuple(words), {"tags": tuple(spans)})


NOUN, VERB, NAME = (Feature("tags", name) for name in ("NOUN", "VERB", "NAME"))

SMALL = Annotated(
    {
        "first": [
            tagged("John loves bananas and apples .", "NAME VERB NOUN CC NOUN ."),
            tagged("Its unpredictability made people nervous .", "PRON NOUN VERB NOUN ADJ ."),
            tagged("", ""),
            tagged("the New York Times wrote it", "DET NAME+ NAME+ NAME VERB PRON"),
            tagged("dogs dogs dogs run", "NOUN NOUN NOUN VERB"),
        ],
        "second": [
            tagged("John likes apples and oranges .", "NAME VERB NOUN CC NOUN ."),
            tagged("It made people 's nerves worse .", "PRON VERB NOUN PART NOUN ADJ ."),
            tagged("something", "NOUN"),
            tagged("it was the Times", "PRON AUX DET NAME"),
            tagged("a dog runs", "DET NOUN VERB"),
        ],
    },
    [
        (tagged("John likes apples and oranges .", "NAME VERB NOUN CC NOUN ."),),
        (tagged("Its unpredictability unsettled people 's nerves .",
                "PRON X VERB NOUN PART NOUN ."),),
        (tagged("nothing here", "PRON ADV"),),
        (tagged("it was the New York Times", "PRON AUX DET NAME+ NAME+ NAME"),),
        (tagged("a dog runs", "DET NOUN VERB"),),
    ],
)  # fmt: skip


def ted(shared: Path, count=None, step=1):
    """The TED talks with their tags: one reference, two systems."""
    texts = {
        name: [
            tagged(line, tags)
            for line, tags in zip(
                read_lines(shared / "ted-pos" / f"{name}.tok.txt")[:count:step],
                read_lines(shared / "ted-pos" / f"{name}.pos.txt")[:count:step],
                strict=True,
            )
        ]
        for name in ("ref", "sys1", "sys2")
    }
    references = [(each,) for each in texts.pop("ref")]
    return Annotated(texts, references)


def tags_of(annotated):
    """All tags of the references, most frequent first."""
    counts = Counter(
        span.label
        for texts in annotated.references
        for text in texts
        for span in text.layers["tags"]
    )
    return [Feature("tags", tag) for tag, _ in counts.most_common()]


def places(text, feature):
    """The positions of a feature."""
    return sorted(
        {
            at
            for span in text.layers.get(feature.kind, ())
            if span.label == feature.name
            for at in range(span.start, span.end)
        }
    )


def occurrences(text, feature):
    """How many spans a text has of a feature."""
    return sum(span.label == feature.name for span in text.layers.get(feature.kind, ()))


def with_words(text, feature, word):
    """The text with one word in the place of each word of the feature."""
    here = places(text, feature)
    return " ".join(word if at in here else token for at, token in enumerate(text.tokens))


def with_letters(text, feature, letter):
    """The text with one letter in the place of each letter of the feature's words."""
    here = places(text, feature)
    return " ".join(
        letter * len(token) if at in here else token for at, token in enumerate(text.tokens)
    )


def masked_alike(replace, best, reference, output):
    """A way to mask both sides by the same rule."""

    def mask(text, references, feature):
        return (
            (replace(text, feature, best), [replace(r, feature, best) for r in references]),
            (replace(text, feature, output), [replace(r, feature, reference) for r in references]),
        )

    return mask


def masked_types(text, references, feature):
    """Wrong words become right ones as long as there are some; at worst all become others."""
    plain = [" ".join(r.tokens) for r in references]
    wanted = next(r for r in references if places(r, feature))
    right = [wanted.tokens[at] for at in places(wanted, feature)]
    here = places(text, feature)
    wrong = []
    for at in here:
        if text.tokens[at] in right:
            right.remove(text.tokens[at])
        else:
            wrong.append(at)
    best, worst = list(text.tokens), list(text.tokens)
    for at, word in zip(wrong, right, strict=False):
        best[at] = word
    for at in here:
        worst[at] = "wrong" + "".join(f"{ord(letter):x}x" for letter in worst[at])
    return (" ".join(best), plain), (" ".join(worst), plain)


WORDS = masked_alike(with_words, "Maskxx", "Refxx", "Sysxx")
LOWER = masked_alike(with_words, "maskxqz", "refxqz", "sysxqz")
LETTERS = masked_alike(with_letters, "\u4e01", "\u4e02", "\u4e03")


def mean(score):
    """The mean of sentence scores."""
    return lambda pairs: float(np.mean([score(*pair) for pair in pairs])) if pairs else math.nan


def nltk_bleu(output, references):
    """NLTK's sentence BLEU without smoothing; it gives 1e-78 or so where it means 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score = sentence_bleu([r.split() for r in references], output.split())
    return score if score > sys.float_info.epsilon else 0.0


def sacrebleu_corpus(metric):
    """The corpus score of a metric of sacreBLEU."""

    def score(pairs):
        if not pairs:
            return math.nan
        sets = list(zip(*(references for _, references in pairs), strict=True))
        return metric.corpus_score([output for output, _ in pairs], list(map(list, sets))).score

    return score


def sacrebleu_mean(metric):
    """The mean of the sentence scores of a metric of sacreBLEU."""
    return mean(lambda output, references: metric.sentence_score(output, references).score)


def rouge_precision(output, references):
    """ROUGE-L precision with stems, in the reference that has the best F."""
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    return scorer.score_multi(references, output)["rougeL"].precision


def rouge_f(output, references):
    """ROUGE-L in percent."""
    return 100 * RougeScorer(["rougeL"]).score_multi(references, output)["rougeL"].fmeasure


def word_errors(pairs):
    """Edits per word of the first reference, in percent."""
    edits = sum(edit_distance(r[0].split(), output.split()) for output, r in pairs)
    return 100 * edits / sum(len(r[0].split()) for _, r in pairs) if pairs else math.nan


def macro_f(pairs):
    """The mean F1 of all types, one reference."""
    if not pairs:
        return math.nan
    matches, wanted, given = Counter(), Counter(), Counter()
    for output, references in pairs:
        words, right = (Counter(Tokenizer13a()(text).split()) for text in (output, references[0]))
        matches, wanted, given = matches + (words & right), wanted + right, given + words
    types = {*wanted, *given}
    return 100 * sum(2 * matches[t] / (wanted[t] + given[t]) for t in types) / len(types)


class Way(NamedTuple):
    """A metric and a preset, and how to do the same by hand."""

    metric: str
    preset: str
    mask: object
    score: object
    sentence: object
    higher_is_better: bool = True


def _effective(**options):
    return sacrebleu.BLEU(effective_order=True, force=True, **options)


WAYS = (
    Way("bleu", "paper", WORDS, mean(nltk_bleu), nltk_bleu),
    Way("bleu", "corpus", WORDS, sacrebleu_corpus(sacrebleu.BLEU(force=True)), None),
    Way("bleu:effective_order=yes", "sentence", WORDS, sacrebleu_mean(_effective()),
        lambda output, references: _effective().sentence_score(output, references).score),
    Way("chrf", "corpus", LETTERS, sacrebleu_corpus(sacrebleu.CHRF()), None),
    Way("chrf:word_order=2", "sentence", LETTERS, sacrebleu_mean(sacrebleu.CHRF(word_order=2)),
        lambda output, r: sacrebleu.CHRF(word_order=2).sentence_score(output, r).score),
    Way("ter", "corpus", WORDS, sacrebleu_corpus(sacrebleu.TER()), None, False),
    Way("ter", "sentence", WORDS, sacrebleu_mean(sacrebleu.TER()),
        lambda output, r: sacrebleu.TER().sentence_score(output, r).score, False),
    Way("rouge", "paper", LOWER, mean(rouge_precision), rouge_precision),
    Way("rouge", "corpus", LOWER, mean(rouge_f), rouge_f),
    Way("wer", "corpus", WORDS, word_errors, None, False),
    Way("macrof", "corpus", masked_types, macro_f, None),
)  # fmt: skip


WAYS_BY_NAME = {f"{way.metric} {way.preset}": way for way in WAYS}


class Figures(NamedTuple):
    """What the obvious way finds, with the keys of a record."""

    n: int
    plain: float
    oracle: float
    anti: float
    muler: float
    abl: float
    under: float
    over: float
    equal: float
    frequency_ref: float
    frequency_sys: float
    uniqueness_ref: float
    uniqueness_sys: float
    per_sentence: float
    negative: int
    undefined: int


def chosen(annotated, feature, system):
    """The segments of I."""
    return [
        at
        for at, references in enumerate(annotated.references)
        if places(annotated.systems[system][at], feature)
        and any(places(reference, feature) for reference in references)
    ]


def texts_of(annotated, feature, system, mask):
    """Plain, oracle and anti-oracle pairs of the segments of I."""
    three = [], [], []
    for at in chosen(annotated, feature, system):
        text, references = annotated.systems[system][at], annotated.references[at]
        plain = " ".join(text.tokens), [" ".join(reference.tokens) for reference in references]
        for pairs, pair in zip(three, (plain, *mask(text, references, feature)), strict=True):
            pairs.append(pair)
    return three


def figures(annotated, feature, system, way):
    """All that `muler` says of one feature and system, but for intervals and tests."""
    three = texts_of(annotated, feature, system, way.mask)
    plain, oracle, anti = map(way.score, three)
    own = [(annotated.references[at][0], annotated.systems[system][at])
           for at in chosen(annotated, feature, system)]  # fmt: skip
    signs = [np.sign(occurrences(r, feature) - occurrences(s, feature)) for r, s in own]
    first = [references[0] for references in annotated.references]
    return Figures(
        len(own),
        plain,
        oracle,
        anti,
        (oracle - plain) / (oracle - anti) if oracle != anti else math.nan,
        oracle - plain,
        *(signs.count(sign) / len(signs) if signs else math.nan for sign in (1, -1, 0)),
        *usage(first, annotated.systems[system], feature),
        *(by_sentence(three, way) if way.sentence else (math.nan, -1, -1)),
    )


def usage(first, second, feature):
    """The frequency in both texts, and then the uniqueness."""
    both = [
        [text.tokens[at].lower() for text in texts for at in places(text, feature)]
        for texts in (first, second)
    ]
    totals = [sum(len(text.tokens) for text in texts) for texts in (first, second)]
    yield from (len(words) / total for words, total in zip(both, totals, strict=True))
    yield from (len(set(words)) / len(words) if words else math.nan for words in both)


def by_sentence(three, way):
    """The ratio of Tables 3 and 15, and how many sentences are negative and undefined."""
    if not three[0]:
        return math.nan, 0, 0
    total, negative, undefined = 0.0, 0, 0
    for pairs in zip(*three, strict=True):
        plain, oracle, anti = (way.sentence(*pair) for pair in pairs)
        sign = 1 if way.higher_is_better else -1
        gain, spread = sign * (oracle - plain), sign * (oracle - anti)
        if 1e-9 < gain <= spread + 1e-9:
            total += gain / spread
        negative += gain < -1e-9
        undefined += abs(spread) < 1e-9
    return total / len(three[0]), negative, undefined
