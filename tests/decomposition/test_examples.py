"""The sentences behind a difference, and what people make of them without knowing the systems."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binomtest

from assay.data import DataError
from assay.decomposition.decompose import PRESETS, Annotated, decompose, ratio
from assay.decomposition.examples import (
    BlindItem,
    BlindKey,
    find_examples,
    read_judgements,
    read_key,
    tally,
    write_key,
)
from assay.decomposition.mask import judge_words, note_words
from assay.features.annotation import Annotation, Feature, TokenSpan
from assay.metrics.base import parse
from assay.rendering import render
from assay.results import Span
from tests.corpora import demo

BLEU = parse("bleu")
NAME = Feature("tags", "NAME")


def annotation(line):
    """Words with a capital are names."""
    words = tuple(line.split())
    spans = [TokenSpan(at, at + 1, "NAME") for at, word in enumerate(words) if word[0].isupper()]
    return Annotation(words, {"tags": tuple(spans)})


@pytest.fixture(scope="module")
def annotated():
    systems = {
        name: list(map(annotation, demo(f"systems/{name}.txt", 60))) for name in ("atlas", "birch")
    }
    systems["cedar"] = [annotation(line.lower()) for line in demo("systems/cedar.txt", 60)]
    return Annotated(systems, [(annotation(line),) for line in demo("ref.A.txt", 60)])


def look(annotated, **options):
    settings = {"count": 10, "rng": np.random.default_rng(7)} | options
    return find_examples(annotated, NAME, BLEU, ("atlas", "birch"), **settings)


def value(annotated, system, segments, preset):
    """MuLER of some segments of one system."""
    part = Annotated(
        {system: [annotated.systems[system][at] for at in segments]},
        [annotated.references[at] for at in segments],
    )
    found = decompose(part, BLEU, [NAME], preset=preset)
    return float(ratio(found.parts[NAME, system].scores()))


@pytest.mark.parametrize("preset", ["corpus", "paper"])
def test_a_sentence_adds_what_is_missing_without_it(annotated, preset):
    preset = PRESETS[preset]
    result = look(annotated, preset=preset, count=60)
    everything = range(len(annotated))
    for example in result.shown[::6]:
        rest = [at for at in everything if at != example.segment]
        slow = [
            value(annotated, name, everything, preset) - value(annotated, name, rest, preset)
            for name in ("atlas", "birch")
        ]
        assert example.contributions == pytest.approx(slow, abs=1e-9)
        assert example.difference == pytest.approx(slow[0] - slow[1], abs=1e-9)
    assert result.muler == pytest.approx(
        [value(annotated, name, everything, preset) for name in ("atlas", "birch")]
    )


def test_the_sentences_are_those_with_the_feature_everywhere_largest_difference_first(annotated):
    result = look(annotated, count=60)
    texts = [*annotated.systems.values()][:2]
    everywhere = {
        at
        for at, (reference,) in enumerate(annotated.references)
        if all(NAME.spans(text) for text in (reference, texts[0][at], texts[1][at]))
    }
    assert {example.segment for example in result.shown} == everywhere
    assert result.sentences == result.shown
    sizes = [abs(example.difference) for example in result.shown]
    assert sizes == sorted(sizes, reverse=True)
    assert look(annotated, count=4).shown == result.shown[:4]


def test_records_carry_the_texts(annotated):
    sources = [f"source {at}" for at in range(60)]
    first, *_ = look(annotated, sources=sources).records()
    at = first["segment"] - 1
    assert first["source"] == f"source {at}"
    assert first["reference"] == demo("ref.A.txt")[at]
    assert first["output"] == demo("systems/atlas.txt")[at]
    assert first["output_other"] == demo("systems/birch.txt")[at]
    assert (first["system"], first["other"]) == ("atlas", "birch")
    assert first["difference"] == first["contribution"] - first["contribution_other"]


def test_the_table_shows_source_reference_and_both_outputs(annotated):
    result = look(annotated, sources=["quelle"] * 60, count=2)
    summary, texts = result.tables()
    assert [row[0] for row in summary.rows] == ["atlas", "birch"]
    assert [row[1] for row in summary.rows] == list(result.sizes)
    assert [row[5] for row in summary.rows] == list(result.muler)
    assert [row[-1] for row in summary.rows] == ["few" if n < 30 else "" for n in result.sizes]
    assert [row[3] for row in texts.rows] == ["source", "reference", "atlas", "birch"] * 2
    assert [row[0] for row in texts.rows] == [1, None, None, None, 2, None, None, None]
    assert texts.rows[0][1] == 1000 * result.shown[0].difference
    marks = {span.mark for row in texts.rows for span in row[4]}
    assert marks == {"", "note", "good", "bad"}


def test_several_references_are_all_shown(annotated):
    double = Annotated(annotated.systems, [reference * 2 for reference in annotated.references])
    _, texts = look(double, count=1).tables()
    assert [row[3] for row in texts.rows] == ["reference 1", "reference 2", "atlas", "birch"]


def test_words_of_the_feature_are_good_as_often_as_a_reference_has_them():
    references = [annotation("in Oslo and Rome , oslo"), annotation("Bonn it is")]
    output = annotation("from OSLO to Oslo to Bonn to Paris and rome")
    assert judge_words(output, references, NAME) == (
        Span("from"),
        Span("OSLO", "good"),
        Span("to"),
        Span("Oslo", "bad"),
        Span("to"),
        Span("Bonn", "good"),
        Span("to"),
        Span("Paris", "bad"),
        Span("and rome"),
    )
    assert note_words(annotation("New York is"), NAME) == (Span("New York", "note"), Span("is"))


def test_blind_sentences_are_the_same_with_their_systems_shuffled(annotated):
    seen, blind = look(annotated, count=20), look(annotated, count=20, blind=True)
    assert {example.segment for example in blind.shown} == {
        example.segment for example in seen.shown
    }
    assert [example.segment for example in blind.shown] != [
        example.segment for example in seen.shown
    ]
    assert {item.x for item in blind.key.items} == {"atlas", "birch"}
    for record, item in zip(blind.records(), blind.key.items, strict=True):
        assert record["item"] == item.number
        assert {item.x, item.y} == {"atlas", "birch"}
        for column, system in (("X", item.x), ("Y", item.y)):
            assert record[column] == demo(f"systems/{system}.txt")[item.segment - 1]
        assert record["reference"] == demo("ref.A.txt")[item.segment - 1]


def test_blind_output_names_no_system_and_gives_no_hint(annotated):
    result = look(annotated, blind=True)
    assert result.charts() == []
    for layout in ("text", "json", "tsv", "latex", "html"):
        shown = render(result, layout)
        assert "atlas" not in shown
        assert "birch" not in shown
    (table,) = result.tables()
    assert {span.mark for row in table.rows for span in row[2]} == {"", "note"}
    assert list(result.records()[0]) == ["item", "better", "reference", "X", "Y"]
    assert "10 of the " in table.note


def test_another_seed_shuffles_anew(annotated):
    orders = {
        look(annotated, blind=True, rng=np.random.default_rng(seed)).key.items for seed in range(5)
    }
    assert len(orders) == 5
    again = [look(annotated, blind=True, rng=np.random.default_rng(1)).key for _ in range(2)]
    assert again[0] == again[1]


def test_a_key_is_read_as_it_was_written(annotated, tmp_path):
    key = look(annotated, blind=True).key
    write_key(key, tmp_path / "key.tsv")
    assert read_key(tmp_path / "key.tsv") == key


def key_of(count, muler=(0.4, 0.2)):
    items = [
        BlindItem(at, at + 100, *(("p", "q") if at % 3 else ("q", "p")))
        for at in range(1, count + 1)
    ]
    return BlindKey("tags:NAME", ("p", "q"), muler, tuple(items))


def test_judgements_are_counted_by_system():
    rng = np.random.default_rng(2)
    key = key_of(60)
    judgements = {item: str(rng.choice(["X", "Y", "Y", "="])) for item in range(1, 51)}
    slow = Counter()
    for item, answer in judgements.items():
        if answer == "=":
            slow["equal"] += 1
        else:
            x, y = ("p", "q") if item % 3 else ("q", "p")
            slow[x if answer == "X" else y] += 1
    found = tally(judgements, key)
    assert (found.a, found.b, found.muler_a, found.muler_b) == ("q", "p", 0.2, 0.4)
    assert (found.equal, found.a_better, found.b_better) == (slow["equal"], slow["q"], slow["p"])
    assert found.unjudged == 10
    assert found.agreement == slow["q"] / (slow["q"] + slow["p"])
    assert found.p == pytest.approx(binomtest(slow["q"], slow["q"] + slow["p"]).pvalue)
    assert found.records()[0]["a_better"] == slow["q"]
    (table,) = found.tables()
    row = dict(zip(table.headings, table.rows[0], strict=True))
    assert (row["A=B"], row["A>B"], row["B>A"]) == (slow["equal"], slow["q"], slow["p"])


def test_the_figures_of_the_papers_table_10_come_out():
    key = key_of(54, muler=(0.30, 0.32))
    wanted = ["="] * 30 + ["p"] * 23 + ["q"]
    judgements = {
        each.number: "=" if winner == "=" else "XY"[winner == each.y]
        for each, winner in zip(key.items, wanted, strict=True)
    }
    found = tally(judgements, key)
    assert (found.a, found.equal, found.a_better, found.b_better) == ("p", 30, 23, 1)


def test_nothing_judged_is_nothing_known():
    found = tally({}, key_of(3, muler=(math.nan, 0.1)))
    assert (found.a, found.unjudged, found.p) == ("p", 3, 1.0)
    assert found.records()[0]["agreement"] is None
    assert found.records()[0]["muler_a"] is None


def test_judgements_are_read_as_lines_or_as_the_filled_in_sheet(tmp_path):
    lines, sheet = tmp_path / "lines.tsv", tmp_path / "sheet.tsv"
    lines.write_text("1\tX\n\n3\t=\n2\ty \n")
    sheet.write_text("item\tbetter\tX\tY\n1\tX\ta\tb\n2\ty\ta\tb\n3\t=\ta\tb\n4\t\ta\tb\n")
    assert read_judgements(lines, key_of(4)) == {1: "X", 3: "=", 2: "Y"}
    assert read_judgements(sheet, key_of(4)) == {1: "X", 2: "Y", 3: "="}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\tX\n9\tY\n", "line 2: no item '9' in the key; items are 1 to 4"),
        ("1\tX\n2\tboth\n", "line 2: 'both' is no answer: write X, Y or ="),
        ("1\tX\n1\tY\n", "line 2: item 1 is judged twice"),
        ("1 X\n", "line 1: no tab"),
        ("item\tbetter\n5\tX\n", "line 2: no item '5'"),
        ("number\tbetter\n1\tX\n", "no column item"),
        ("", "is empty"),
    ],
)
def test_bad_judgements_are_refused(tmp_path, text, message):
    path = tmp_path / "judgements.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as error:
        read_judgements(path, key_of(4))
    assert "judgements.tsv" in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("muler_X", "other", "no column muler_x"),
        ("0.4", "low", "line 2: 'low' is not a number"),
        ("\tq\t", "\tr\t", "a key is of two systems, not 3"),
        ("1\t101", "one\t101", "line 2: 'one' is not a line number"),
    ],
)
def test_a_bad_key_is_refused(tmp_path, old, new, message):
    path = tmp_path / "key.tsv"
    write_key(key_of(2), path)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(DataError, match=message):
        read_key(path)


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        (("atlas", "cedar"), {}, "no segment has tags:NAME in the reference and in the outputs"),
        (("atlas", "nobody"), {}, "no system 'nobody'; there are atlas, birch, cedar"),
        (("atlas", "atlas"), {}, "name two different ones"),
        (("atlas", "birch"), {"count": 0}, "ask for at least 1"),
    ],
)
def test_what_cannot_be_shown_is_refused(annotated, systems, options, message):
    with pytest.raises(DataError, match=message):
        find_examples(annotated, NAME, BLEU, systems, rng=np.random.default_rng(1), **options)


@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize("layout", ["text", "json", "tsv", "latex", "html"])
def test_one_sentence_is_enough_to_show(annotated, layout, blind):
    texts = {name: [lines[0]] for name, lines in annotated.systems.items()}
    one = Annotated(texts, annotated.references[:1])
    result = look(one, blind=blind)
    assert len(result.shown) == 1
    assert render(result, layout)
