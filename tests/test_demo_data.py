"""The demonstration set and suite: whole, and telling the story they were written for."""

import statistics
from collections import Counter
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

import assay
from assay.demo import demo_suite_files, read_demo_suite
from assay.suites.check import PASS, WARNING, check, code_of
from assay.suites.files import read_suite
from assay.suites.lint import lint_suite

DEMO = Path(assay.__file__).parent / "demo"
SYSTEMS = ("atlas", "birch", "cedar")
OUTPUTS = tuple(f"systems/{name}.txt" for name in SYSTEMS)
REFERENCES = {"A": ("ref.A.txt",), "B": ("ref.B.txt",), "A and B": ("ref.A.txt", "ref.B.txt")}
TEXTS = ("src.txt", "ref.A.txt", "ref.B.txt", *OUTPUTS)


@pytest.mark.parametrize("name", TEXTS)
def test_every_text_has_120_clean_lines(name):
    text = (DEMO / name).read_bytes().decode("utf-8")
    assert text.endswith("\n")
    assert len(lines(name)) == 120
    assert all(line and line == " ".join(line.split()) for line in lines(name))


@pytest.mark.parametrize("name", TEXTS)
def test_no_sentence_stands_twice_in_a_text(name):
    assert [line for line, count in Counter(lines(name)).items() if count > 1] == []


def test_the_two_references_never_agree():
    same = [a for a, b in zip(lines("ref.A.txt"), lines("ref.B.txt"), strict=True) if a == b]
    assert same == []


def test_documents_are_contiguous_runs_of_8_to_12_segments():
    rows = table("docs.tsv", "line", "doc_id", "seg_in_doc", "domain")
    assert [int(line) for line, *_ in rows] == list(range(1, 121))
    documents = {name: list(run) for name, run in groupby(rows, key=lambda row: row[1])}
    assert len(documents) == 12
    assert sum(map(len, documents.values())) == 120  # no document comes back later
    for run in documents.values():
        assert 8 <= len(run) <= 12
        assert [int(row[2]) for row in run] == list(range(1, len(run) + 1))
        assert len({row[3] for row in run}) == 1


@pytest.mark.parametrize("references", REFERENCES.values(), ids=REFERENCES)
def test_bleu_prefers_birch_and_macrof_clearly_prefers_atlas(references):
    bleu = {name: corpus_bleu(f"systems/{name}.txt", references) for name in SYSTEMS}
    macrof = {name: macrof1(f"systems/{name}.txt", references) for name in SYSTEMS}
    assert bleu["birch"] > bleu["atlas"] > bleu["cedar"] + 10
    assert macrof["atlas"] > macrof["birch"] + 10 > macrof["cedar"] + 10


def test_birch_leaves_out_more_and_cedar_repeats_itself():
    lengths = {name: len(" ".join(lines(f"systems/{name}.txt")).split()) for name in SYSTEMS}
    assert lengths["birch"] < 0.92 * lengths["atlas"]
    assert {name: stutters(f"systems/{name}.txt") for name in ("atlas", "birch")} == {
        "atlas": 0,
        "birch": 0,
    }
    assert stutters("systems/cedar.txt") >= 8


def test_only_atlas_keeps_the_rare_words_of_both_references():
    """A word that both translators chose, and that stands in one segment only."""
    rare = shared_rare_words()
    kept = {name: recall_of(rare, f"systems/{name}.txt") for name in SYSTEMS}
    assert len(rare) > 200
    assert kept["atlas"] > 0.9
    assert kept["birch"] < 0.5


def test_people_rate_segments_from_0_to_100_and_leave_a_few_out():
    rows = table("human/da.seg.tsv", "system", "line", "raw")
    rated = [(system, int(line)) for system, line, _ in rows]
    assert len(set(rated)) == len(rated)
    assert {system for system, _ in rated} == set(SYSTEMS)
    assert all(1 <= line <= 120 for _, line in rated)
    assert all(0 <= float(raw) <= 100 for *_, raw in rows)
    assert 5 <= 3 * 120 - len(rated) <= 15


def test_system_ratings_are_the_mean_standardised_segment_ratings():
    rows = table("human/da.seg.tsv", "system", "line", "raw")
    values = [float(raw) for *_, raw in rows]
    mean, spread = statistics.mean(values), statistics.pstdev(values)
    z = {
        name: statistics.mean(
            (float(raw) - mean) / spread for system, _, raw in rows if system == name
        )
        for name in SYSTEMS
    }
    written = {system: float(value) for system, value in table("human/da.sys.tsv", "system", "z")}
    assert written == pytest.approx(z, abs=5e-4)
    assert z["atlas"] > z["birch"] + 0.5 > z["cedar"] + 0.5


def test_the_suite_has_48_items_of_6_per_phenomenon():
    suite, _ = read_demo_suite()
    assert len(suite) == 48
    assert set(Counter(item.phenomenon for item in suite.items).values()) == {6}
    assert len({item.phenomenon for item in suite.items}) == 8
    assert len({item.category for item in suite.items}) == 7
    assert len({item.source for item in suite.items}) == 48


def test_every_item_of_the_suite_has_a_rule_for_and_a_rule_against():
    suite, _ = read_demo_suite()
    kinds = Counter(rule.kind for item in suite.items for rule in item.rules)
    assert kinds == {"regex": 2 * 48, "fixed": 8}
    for item in suite.items:
        assert {rule.polarity for rule in item.rules} == {"positive", "negative"}


def test_the_suite_has_no_error_and_nothing_to_note_but_its_size():
    suite, _ = read_demo_suite()
    records = lint_suite(suite).records()
    assert [each for each in records if each["severity"] == "error"] == []
    assert Counter(each["check"] for each in records) == {"few-items": 8}


def test_three_systems_translated_the_suite_and_two_of_them_before():
    _, runs = read_demo_suite()
    assert [(run.campaign, run.system) for run in runs] == [
        ("spring", "atlas"),
        ("spring", "birch"),
        *(("autumn", system) for system in SYSTEMS),
    ]
    assert all(len(run.outputs) == 48 for run in runs)


def test_the_systems_fail_the_suite_in_different_ways():
    """Passed items of six, and what is left to people, counted by hand."""
    assert passed("autumn") == {
        "Lexical ambiguity": (6, 4, 1),
        "Compound": (3, 4, 3),
        "Phrasal verb": (4, 5, 2),
        "False friends": (2, 5, 2),
        "Idiom": (1, 5, 0),
        "Negation": (6, 1, 5),
        "Quotation marks": (5, 4, 0),
        "Modal - pluperfect": (5, 0, 0),
    }
    assert counts("autumn", "warning") == [2, 9, 5]
    assert counts("autumn", "not tested") == [0, 0, 1]


def test_rules_leave_between_8_and_15_percent_of_the_answers_to_people():
    for campaign in ("spring", "autumn"):
        left = counts(campaign, "warning")
        assert 0.08 <= sum(left) / (48 * len(left)) <= 0.15


def test_one_decision_settles_the_same_warning_of_all_systems():
    warned = warnings_of("autumn")
    assert sorted(Counter(warned).values())[-2:] == [2, 3]


def test_birch_has_gained_idioms_and_lost_negation_since_spring():
    spring, autumn = passed("spring"), passed("autumn")
    assert (spring["Idiom"][1], autumn["Idiom"][1]) == (2, 5)
    assert (spring["Negation"][1], autumn["Negation"][1]) == (5, 1)
    assert all(autumn[name][0] >= spring[name][0] for name in spring)


def test_the_files_of_the_suite_are_all_there_is_of_it(tmp_path):
    for name, content in demo_suite_files().items():
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content)
    assert read_suite(tmp_path / "items.json") == read_demo_suite().suite
    assert {path.name for path in tmp_path.iterdir()} == {
        "items.json",
        "item_ids.txt",
        "spring",
        "autumn",
    }


def checked(campaign):
    suite, runs = read_demo_suite()
    return check(suite, [run for run in runs if run.campaign == campaign]).verdicts


def passed(campaign):
    """How many items of each phenomenon each system passes."""
    verdicts = checked(campaign)
    phenomena = np.array([item.phenomenon for item in verdicts.items])
    return {
        name: tuple((verdicts.codes[:, phenomena == name] == PASS).sum(axis=1))
        for name in dict.fromkeys(phenomena)
    }


def counts(campaign, verdict):
    return (checked(campaign).codes == code_of(verdict)).sum(axis=1).tolist()


def warnings_of(campaign):
    """The item and the text of every answer that the rules leave to people."""
    verdicts = checked(campaign)
    return [
        (verdicts.items[at].id, verdicts.outputs[system][at])
        for system, at in np.argwhere(verdicts.codes == WARNING)
    ]


def lines(name):
    return (DEMO / name).read_text("utf-8").removesuffix("\n").split("\n")


def table(name, *columns):
    header, *rows = (line.split("\t") for line in lines(name))
    assert header == list(columns)
    assert all(len(row) == len(columns) for row in rows)
    return rows


def corpus_bleu(system, references):
    return sacrebleu.corpus_bleu(lines(system), [lines(name) for name in references]).score


def macrof1(system, references):
    """The mean over types of 2 match / (preds + refs), written out (Gowda et al., 2021)."""
    preds, refs, match = Counter(), Counter(), Counter()
    sets = zip(*(lines(name) for name in references), strict=True)
    for hypothesis, alternatives in zip(lines(system), sets, strict=True):
        said, wanted = types(hypothesis), Counter()
        for reference in alternatives:
            wanted |= types(reference)
        preds += said
        refs += wanted
        match += said & wanted
    vocabulary = preds.keys() | refs.keys()
    return 100 * statistics.mean(2 * match[c] / (preds[c] + refs[c]) for c in vocabulary)


def types(text, tokenize=Tokenizer13a()):  # noqa: B008 - one tokenizer serves all calls
    return Counter(tokenize(text).split())


def shared_rare_words():
    pairs = zip(lines("ref.A.txt"), lines("ref.B.txt"), strict=True)
    both = [types(a).keys() & types(b).keys() for a, b in pairs]
    spread = Counter(word for words in both for word in words)
    return [(at, word) for at, words in enumerate(both) for word in words if spread[word] == 1]


def recall_of(rare, system):
    said = [types(line) for line in lines(system)]
    return sum(word in said[at] for at, word in rare) / len(rare)


def stutters(system):
    """Segments in which one, two or three words follow themselves at once."""
    return sum(
        any(_repeats(line.lower().rstrip(".").split(), n) for n in (1, 2, 3))
        for line in lines(system)
    )


def _repeats(words, n):
    return any(
        words[at : at + n] == words[at + n : at + 2 * n] for at in range(len(words) - 2 * n + 1)
    )
