"""The checks of the paper's section 5, against masking and counting by hand."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import DataError
from assay.decomposition import trials as synthetic
from assay.decomposition.analysis import muler_scores
from assay.decomposition.decompose import FEW, PRESETS, Annotated, decompose, ratio
from assay.decomposition.trials import (
    Alphabet,
    FeatureDraws,
    Hybrid,
    Portion,
    RangeCheck,
    RobustnessCheck,
    SpecificityCheck,
    batches,
    check_range,
    check_robustness,
    draw_features,
    trials,
)
from assay.decomposition.validate import validate
from assay.features.annotation import Annotation, Feature, TokenSpan
from assay.metrics.base import parse
from assay.rendering import render
from tests.corpora import demo, read_lines

BLEU = parse("bleu")
PAPER = PRESETS["paper"]
NN, DT, UH = Feature("tags", "NN"), Feature("tags", "DT"), Feature("tags", "UH")


def annotation(line, tags):
    spans = [TokenSpan(at, at + 1, tag) for at, tag in enumerate(tags.split())]
    return Annotation(tuple(line.split()), {"tags": tuple(spans)})


@pytest.fixture(scope="module")
def ted(shared):
    """Builds the first segments of the TED talks with the tags that come with them."""
    folder = shared / "ted-pos"

    def texts(name, count):
        lines = (read_lines(folder / f"{name}.{kind}.txt")[:count] for kind in ("tok", "pos"))
        return list(map(annotation, *lines))

    def build(count=None, systems=("sys1", "sys2")):
        references = [(text,) for text in texts("ref", count)]
        return Annotated({name: texts(name, count) for name in systems}, references)

    return build


@pytest.fixture
def small():
    """Words of the demonstration set, tagged by their length: the tags do not matter."""

    def texts(name):
        return [
            annotation(line, " ".join("NN" if len(word) % 3 else "DT" for word in line.split()))
            for line in demo(name, 60)
        ]

    references = list(zip(texts("ref.A.txt"), texts("ref.B.txt"), strict=True))
    return Annotated({"atlas": texts("systems/atlas.txt")}, references)


def all_features(annotated):
    spans = (s for texts in annotated.references for t in texts for s in t.layers["tags"])
    return [Feature("tags", name) for name in sorted({span.label for span in spans})]


def sentence_bleu(hypothesis, reference):
    """Unsmoothed sentence BLEU on the scale 0-1."""
    logs = 0.0
    for order in range(1, 5):
        mine, goal = (
            Counter(tuple(text[at : at + order]) for at in range(len(text) - order + 1))
            for text in (hypothesis, reference)
        )
        if not (mine & goal).total():
            return 0.0
        logs += math.log((mine & goal).total() / mine.total())
    return math.exp(logs / 4 + min(0, 1 - len(reference) / len(hypothesis)))


def tagged(text, name):
    return {span.start for span in text.layers["tags"] if span.label == name}


def chosen(annotated, system, name):
    pairs = zip(annotated.systems[system], annotated.references, strict=True)
    return [(o, r) for o, (r,) in pairs if tagged(o, name) and tagged(r, name)]


def first_initials(pairs, name, alpha):
    """The letters a, b, c ... until their words are the share alpha of all."""
    words = [t.tokens[at].lower() for pair in pairs for t in pair for at in tagged(t, name)]
    letters = ""
    for letter in sorted({word[0] for word in words}, key=lambda c: (not c.isalpha(), c)):
        if sum(word[0] in letters for word in words) >= alpha * len(words):
            break
        letters += letter
    return letters


def slow_mask(text, name, change):
    places = tagged(text, name)
    return [change(word) if at in places else word for at, word in enumerate(text.tokens)]


def slow_scores(pairs, name, letters, first, rest):
    """Sentence scores with words up to a letter masked one way and the rest another."""

    def change(side):
        masks = {"oracle": "<MASK>", "anti": f"<{side}>"}
        return lambda word: masks.get(first if word[0].lower() in letters else rest, word)

    return np.array(
        [
            sentence_bleu(slow_mask(o, name, change("S")), slow_mask(r, name, change("R")))
            for o, r in pairs
        ]
    )


@given(st.lists(st.text("abcXYZ1.é", min_size=1), min_size=1), st.floats(0, 1))
def test_a_cut_takes_the_fewest_initials_that_give_the_share(words, alpha):
    cut = Alphabet.of(words).cut(alpha)
    inside = [word for word in words if word.casefold()[0] in cut.initials]
    assert cut.share == len(inside) / len(words) >= alpha - 1e-9
    if cut.initials:
        last = max(cut.initials, key=lambda c: (not c.isalpha(), c))
        assert sum(word.casefold()[0] != last for word in inside) < alpha * len(words)


def test_the_ends_of_the_alphabet_are_nothing_and_everything():
    alphabet = Alphabet.of(["bee", "Ant", "1st", "ant"])
    assert alphabet.cut(0).initials == frozenset()
    assert alphabet.cut(1).initials == {"a", "b", "1"}
    assert alphabet.cut(0.5).initials == {"a"}
    assert alphabet.cut(0.51).initials == {"a", "b"}


def test_words_in_upper_case_can_be_left_out():
    cut = Alphabet.of(["Ant", "bee", "cow"], lower_initial=True).cut(0.5)
    assert (cut.share, cut.initials) == (0.5, {"b"})
    treat = cut.treat("oracle", "anti")
    assert [treat(word) for word in ("Ant", "bee", "cow", "Bee")] == [
        "plain",
        "oracle",
        "anti",
        "plain",
    ]


def test_hybrids_of_every_tag_go_from_the_anti_oracle_to_the_oracle(ted):
    annotated = ted()
    features = all_features(annotated)
    found = decompose(annotated, BLEU, features, preset=PAPER)
    seen = 0
    for trial in trials(annotated, BLEU, features, preset=PAPER):
        check = check_range(trial, (0.3, 0.5, 0.7))
        parts = found.parts[trial.feature, trial.system]
        if not len(parts.chosen):
            assert check.holds is None
            continue
        _, oracle, anti = parts.scores() * PAPER.scale
        scores = [hybrid.score for hybrid in check.hybrids]
        assert scores[0] == anti
        assert scores[-1] == oracle
        assert scores == sorted(scores)
        assert check.holds
        seen += 1
    assert seen > 70


def test_hybrids_are_those_of_masking_by_hand(ted):
    annotated = ted(250, ["sys2"])
    for trial in trials(annotated, BLEU, [NN, DT], preset=PAPER):
        name = trial.feature.name
        pairs = chosen(annotated, "sys2", name)
        check = check_range(trial, (0.3, 0.6))
        assert check.n == len(pairs) > 50
        for hybrid in check.hybrids:
            letters = first_initials(pairs, name, hybrid.alpha)
            slow = slow_scores(pairs, name, letters, "oracle", "anti").mean()
            assert hybrid.score == pytest.approx(slow, abs=1e-12)
        ends = check.hybrids[0].score, check.hybrids[-1].score
        assert check.positions[1] == pytest.approx(
            (check.hybrids[1].score - ends[0]) / (ends[1] - ends[0])
        )


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "macrof", "rougeL"])
@pytest.mark.parametrize("preset", ["corpus", "sentence"])
def test_hybrids_move_to_the_oracle_by_every_metric(ted, name, preset):
    annotated = ted(300)
    for trial in trials(annotated, parse(name), [NN, DT], preset=PRESETS[preset]):
        check = check_range(trial, (0.2, 0.4, 0.6, 0.8))
        assert check.holds
        assert check.positions[0] == 0
        assert check.positions[-1] == 1
        better = check.hybrids[-1].score > check.hybrids[0].score
        assert better == (name != "ter")


def test_hybrids_of_lower_case_leave_capitals_alone():
    reference = annotation("Oslo bee cow and all the rest", "NN NN NN CC DT DT NN")
    output = annotation("Rome bee cat and all the rest", "NN NN NN CC DT DT NN")
    annotated = Annotated({"s": [output]}, [(reference,)])
    (trial,) = trials(annotated, parse("bleu:max_ngram_order=1"), [NN], preset=PAPER)
    check = check_range(trial, (0.3,), lower_initial=True)
    assert [hybrid.share for hybrid in check.hybrids] == pytest.approx([0, 1 / 3, 1])
    assert [hybrid.score for hybrid in check.hybrids] == pytest.approx([3 / 7, 4 / 7, 6 / 7])
    assert check_range(trial, (0.3,)).hybrids[-1].score == pytest.approx(1)


def test_a_score_that_falls_or_leaves_the_range_does_not_hold():
    def check(*scores):
        hybrids = tuple(Hybrid(at / 3, at / 3, score) for at, score in enumerate(scores))
        return RangeCheck(NN, "s", 50, hybrids).holds

    assert check(0.1, 0.2, 0.3, 0.4)
    assert check(4, 3, 3, 1)
    assert not check(0.1, 0.3, 0.2, 0.4)
    assert not check(0.1, 0.2, 0.5, 0.4)
    assert check(0.4, 0.4, 0.4, 0.4) is None


def test_robustness_is_that_of_masking_by_hand(ted):
    annotated = ted(250, ["sys1"])
    (trial,) = trials(annotated, BLEU, [NN], preset=PAPER)
    pairs = chosen(annotated, "sys1", "NN")
    plain = slow_scores(pairs, "NN", "", "plain", "plain")
    found = check_robustness(trial, (0.5,))
    assert [portion.alpha for portion in found.portions] == [0.5, 1]
    for portion in found.portions:
        letters = first_initials(pairs, "NN", portion.alpha)
        oracle = slow_scores(pairs, "NN", letters, "oracle", "plain")
        anti = slow_scores(pairs, "NN", letters, "anti", "plain")
        gain, spread = oracle - plain, oracle - anti
        good = (gain > 1e-9) & (gain <= spread + 1e-9)
        assert portion.abl == pytest.approx(gain.mean(), abs=1e-12)
        assert portion.muler == pytest.approx(gain.mean() / spread.mean())
        assert portion.per_sentence == pytest.approx((gain[good] / spread[good]).sum() / len(gain))
    half, whole = found.portions
    assert found.change("muler") == pytest.approx(abs(half.muler / whole.muler - 1))
    assert found.holds == (found.change("muler") < found.change("abl"))


def test_the_change_is_from_everything_to_what_is_nearest_to_half():
    portions = [
        Portion(0.3, 0.35, 0.1, 0.1, 0.01),
        Portion(0.5, 0.55, 0.3, 0.2, 0.02),
        Portion(0.7, 1.0, 0.4, 0.4, 0.08),
        Portion(1.0, 1.0, 0.4, 0.4, 0.08),
    ]
    check = RobustnessCheck(NN, "s", 30, tuple(portions))
    changes = [check.change(measure) for measure in ("muler", "per_sentence", "abl")]
    assert changes == pytest.approx([0.25, 0.5, 0.75])
    assert check.holds
    assert RobustnessCheck(NN, "s", 29, tuple(portions)).holds is None
    assert RobustnessCheck(NN, "s", 30, tuple(portions[2:])).holds is None
    worse = [portions[0]._replace(muler=1.2), portions[-1]]
    assert RobustnessCheck(NN, "s", 30, tuple(worse)).holds is False


def test_all_words_masked_is_plain_muler(ted):
    annotated = ted(400)
    scores = muler_scores(annotated, BLEU, [NN, DT], preset=PAPER, tested=False)
    for trial, each in zip(
        trials(annotated, BLEU, [NN, DT], preset=PAPER), scores.scores, strict=True
    ):
        whole = check_robustness(trial, (0.4,)).portions[-1]
        assert (whole.muler, whole.per_sentence, whole.abl) == pytest.approx(
            (each.muler, each.per_sentence, each.abl)
        )


@pytest.mark.parametrize("name", ["bleu", "chrf", "macrof", "ter", "rougeL", "bleu:tok=char"])
@pytest.mark.parametrize("preset", ["corpus", "paper"])
def test_a_random_feature_is_one_that_marks_its_words(small, name, preset, monkeypatch):
    """With two references, in batches of a few draws, against an annotation of the same words."""
    monkeypatch.setattr(synthetic, "BATCH", 500)
    metric, preset = parse(name), PRESETS[preset]
    rng = np.random.default_rng(5)
    parts = list(draw_features(small, "atlas", metric, groups=7, draws=9, preset=preset, rng=rng))
    assert len(parts) == batches(small, 9) > 1
    drawn = FeatureDraws.joined(parts)
    texts = [
        *small.systems["atlas"],
        *(text for reference in small.references for text in reference),
    ]
    words = sorted({token for text in texts for token in text.tokens})
    rng = np.random.default_rng(5)
    for at in range(9):
        group = {words[place] for place in rng.permutation(len(words))[: len(words) // 7]}

        def marked(text, group=group):
            places = [p for p, token in enumerate(text.tokens) if token in group]
            return text.with_layer("random", [TokenSpan(p, p + 1, "in") for p in places])

        annotated = Annotated(
            {"atlas": list(map(marked, small.systems["atlas"]))},
            [tuple(map(marked, reference)) for reference in small.references],
        )
        feature = Feature("random", "in")
        slow = decompose(annotated, metric, [feature], preset=preset)
        parts = slow.parts[feature, "atlas"]
        usage = slow.usage[feature, "atlas"]
        assert drawn.muler[at] == pytest.approx(float(ratio(parts.scores())), nan_ok=True)
        assert drawn.n[at] == len(parts.chosen)
        assert drawn.frequency_ref[at] == pytest.approx(usage[0].frequency)
        assert drawn.frequency_sys[at] == pytest.approx(usage[1].frequency)


def test_random_features_all_score_alike_and_nouns_do_not(ted):
    result = validate(
        ted(systems=["sys2"]), BLEU, [NN, DT], preset=PAPER, draws=100, rng=np.random.default_rng(1)
    )
    assert (result.segments, result.total) == (500, 2445)
    for check in result.specificity:
        assert check.deviation < 0.04
        assert check.holds
        assert check.extreme <= 0.02
        assert check.frequency == pytest.approx(1 / check.groups, rel=0.3)
        assert check.draws.frequency_ref.mean() == pytest.approx(1 / check.groups, rel=0.15)
    note = result.tables()[2].note
    assert note.startswith("100 draws on 500 of 2445 segments, taken at random.")


def test_features_of_similar_frequency_share_their_draws(small):
    result = validate(small, BLEU, [NN, DT, UH], draws=5, rng=np.random.default_rng(1))
    assert result.segments == result.total == 60
    first, second, none = result.specificity
    assert first.groups == 2
    assert second.groups == 3
    assert none.draws is not first.draws
    again = validate(small, BLEU, [NN, NN], draws=5, rng=np.random.default_rng(1))
    assert again.specificity[0].draws.muler.tolist() == first.draws.muler.tolist()


def test_the_spread_is_that_of_the_known_draws():
    values = np.array([0.1, 0.2, np.nan, 0.4])
    many, shares = np.full(4, 50), np.full(4, 0.1)
    check = SpecificityCheck(NN, "s", 50, 0.39, 0.1, 10, FeatureDraws(values, many, shares, shares))
    known = [0.1, 0.2, 0.4]
    assert check.mean == pytest.approx(np.mean(known))
    assert check.variance == pytest.approx(np.var(known, ddof=1))
    assert check.deviation == pytest.approx(np.std(known, ddof=1))
    assert check.extreme == pytest.approx(1 / 3)
    assert check.holds is False
    assert check.records()[0]["undefined"] == 1
    few = check.draws._replace(n=np.full(4, 29))
    assert SpecificityCheck(NN, "s", 50, 0.39, 0.1, 10, few).holds is None


def test_verdicts_tables_and_records_tell_the_same(ted):
    result = validate(
        ted(400), BLEU, [NN, UH], preset=PAPER, alphas=[0.5, 0.3, 0.5], draws=20,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    verdicts, ranges, specificity, robustness = result.tables()
    assert [row[0] for row in verdicts.rows] == [
        "range and monotonicity",
        "specificity",
        "robustness to frequency",
    ]
    assert {row[3] for row in verdicts.rows} == {"holds"}
    assert result.holds
    assert verdicts.rows[0][2] == "so in 4 of 4 cases"
    assert ranges.headings[3:7] == ("anti-oracle", "0.3", "0.5", "oracle")
    assert [row[1] for row in ranges.rows] == ["NN", "NN", "UH (few)", "UH (few)"]
    assert f"fewer than {FEW} sentences" in verdicts.note
    assert [row[-1] for row in specificity.rows][:2] == ["holds", "holds"]
    assert robustness.headings[4:7] == ("30%", "50%", "100%")
    records = result.records()
    assert Counter(record["check"] for record in records) == {
        "range": 4 * 4,
        "specificity": 4,
        "robustness": 4 * 3,
    }
    shown = [record["hybrid"] for record in records if record["check"] == "range"][:4]
    assert list(ranges.rows[0][3:7]) == shown
    assert [chart.after for chart in result.charts()] == [
        ranges.title,
        specificity.title,
        robustness.title,
    ]


def test_the_same_seed_gives_the_same_result(small):
    runs = [
        validate(small, BLEU, [NN], draws=10, segments=40, rng=np.random.default_rng(3)).records()
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("layout", ["text", "json", "tsv", "latex", "html"])
def test_what_cannot_be_said_is_said_to_be_so(small, layout):
    nowhere = Feature("tags", "XX")
    result = validate(small, BLEU, [nowhere], draws=3, rng=np.random.default_rng(1))
    assert [row[3] for row in result.tables()[0].rows] == ["cannot be said"] * 3
    assert result.holds
    assert all(record["holds"] is None for record in result.records())
    assert render(result, layout)


def test_the_steps_of_all_draws_are_tracked_and_change_nothing(small, monkeypatch):
    monkeypatch.setattr(synthetic, "BATCH", 500)
    seen = []

    def track(steps, /, *, total):
        for at, step in enumerate(steps, 1):
            seen.append((at, total))
            yield step

    def records(**options):
        rng = np.random.default_rng(3)
        return validate(small, BLEU, [NN, DT], draws=9, rng=rng, **options).records()

    assert records(track=track) == records()
    total = len(seen)
    assert total > batches(small, 9) > 1
    assert seen == [(at + 1, total) for at in range(total)]


def test_specificity_can_be_left_out(small):
    result = validate(small, BLEU, [NN], draws=0, rng=np.random.default_rng(1))
    assert result.specificity == ()
    assert len(result.tables()) == 3
    assert len(result.charts()) == 2


@pytest.mark.parametrize(
    ("features", "alphas", "message"),
    [
        ([], [0.5], "no feature to look at"),
        ([NN], [], "no alpha given"),
        ([NN], [0.5, 1], "alpha 1 is no share"),
        ([NN], [math.nan], "alpha nan is no share"),
    ],
)
def test_bad_settings_are_refused(small, features, alphas, message):
    with pytest.raises(DataError, match=message):
        validate(small, BLEU, features, alphas=alphas, rng=np.random.default_rng(1))
