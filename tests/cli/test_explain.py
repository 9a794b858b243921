"""`assay explain` on the command line: every word of a segment and what it does to the score."""

import json
from pathlib import Path

import numpy as np
import pytest

from assay.data import Dataset, Segment
from assay.explanation.explain import mean_quality
from assay.explanation.explainers import EXPLAINERS
from assay.explanation.importances import explain_segments, worst_segments
from assay.metrics.base import parse
from assay.registry import SEED

NAMES = ["system", "segment", "side", "position", "token", "importance"]


def lines(name):
    return tuple(Path(name).read_text("utf-8").splitlines())


def records(ran):
    assert (ran.status, ran.err) == (0, "")
    return json.loads(ran.out)["records"]


def segments_of(found):
    return list(dict.fromkeys(record["segment"] for record in found))


@pytest.fixture
def tags(here):
    """Words with a capital are wrong."""
    for name in "ab":
        rows = [[str(int(w[0].isupper())) for w in line.split()] for line in lines(f"{name}.txt")]
        Path(f"{name}.tags").write_text("".join(f"{' '.join(row)}\n" for row in rows))


def test_every_word_of_both_sides_has_a_record(run):
    found = records(run("explain ref.txt -i a.txt -m chrf -e shap --format json"))
    assert [list(record) for record in found] == [NAMES] * len(found)
    texts = {"reference": lines("ref.txt"), "hypothesis": lines("a.txt")}
    for side, expected in texts.items():
        rows = [[] for _ in expected]
        for record in found:
            if record["side"] == side:
                rows[record["segment"] - 1].append(record["token"])
                assert record["position"] == len(rows[record["segment"] - 1])
        assert rows == [line.split() for line in expected]


def test_importances_are_those_of_the_library(run):
    found = records(run("explain ref.txt -i a.txt -m chrf -e lime --only 3 7 --format json"))
    segments = [Segment(lines("a.txt")[at], (lines("ref.txt")[at],)) for at in (2, 6)]
    own = explain_segments(parse("chrf"), segments, EXPLAINERS.parse("lime"), seed=SEED)
    expected = np.concatenate([each.importances for each in own])
    assert [record["importance"] for record in found] == expected.tolist()


def test_the_seed_decides_what_is_drawn(run):
    command = "explain ref.txt -i a.txt -e lime:samples=20 --only 1-3 --format json --seed"
    first, again, other = (records(run(f"{command} {seed}")) for seed in (1, 1, 2))
    assert first == again != other


def test_two_systems_stand_side_by_side_on_a_page(run):
    for name in ("ref.txt", "a.txt", "b.txt"):
        Path(name).write_text("".join(f"{line}\n" for line in lines(name)[:4]), "utf-8")
    command = "explain ref.txt -i a.txt b.txt -m bertscore -l de-en -e lime:samples=10 --worst 2"
    ran = run(f"{command} --format html -o why.html")
    assert (ran.status, ran.err) == (0, "wrote why.html\n")
    page = Path("why.html").read_text("utf-8")
    assert '<h2 id="table-1-title" dir="auto">BERTScore of a and b, word by word</h2>' in page
    assert page.count('class="shaded"') == 2
    assert '<mark class="good-4" title="+' in page


def test_the_worst_segments_come_first(run):
    dataset = Dataset(
        {"a": lines("a.txt"), "b": lines("b.txt")}, tuple((line,) for line in lines("ref.txt"))
    )
    worst = [at + 1 for at in worst_segments(dataset, parse("ter"), 5)]
    command = "explain ref.txt -i a.txt b.txt -m ter -e erasure --worst 5 --format json"
    assert segments_of(records(run(command))) == worst


def test_segments_are_chosen_by_number_and_range_once_each(run):
    command = "explain ref.txt -i a.txt -e erasure --only 7 10-12 11 7 --format json"
    assert segments_of(records(run(command))) == [7, 10, 11, 12]


def test_tables_show_the_ten_worst_unless_told_otherwise(run):
    ran = run("explain ref.txt -i a.txt -e erasure")
    assert ran.status == 0
    assert ran.out.count("  score  ") == 10
    assert "These are the 10 worst of 120 segments" in " ".join(ran.out.split())
    assert run("explain ref.txt -i a.txt -e erasure --only 1-12").out.count("  score  ") == 12


def test_the_output_alone_can_be_explained(run):
    command = "explain ref.txt -i a.txt -e erasure --only 1 --sides hypothesis --format json"
    assert {record["side"] for record in records(run(command))} == {"hypothesis"}


def test_a_metric_without_references_explains_the_source(run):
    pairs = zip(lines("src.txt")[:3], lines("a.txt")[:3], strict=True)
    rows = [json.dumps({"src": source, "mt": output}) for source, output in pairs]
    Path("a.jsonl").write_text("\n".join(rows) + "\n")
    words = [line.split() for line in lines("src.txt")[:3]]
    Path("src.tags").write_text("".join(f"{' '.join('1' + '0' * (len(w) - 1))}\n" for w in words))
    command = (
        "explain -i a.jsonl -l de-en -m xbertscore -e erasure --only 1-2 --source-tags src.tags"
    )
    found = records(run(f"{command} --format json"))
    sources = [record for record in found if record["side"] == "source"]
    assert [record["token"] for record in sources] == words[0] + words[1]
    assert {record["tag"] for record in found if record["side"] == "hypothesis"} == {None}
    assert sum(record["tag"] for record in sources) == 2


def test_tags_of_people_tell_how_well_wrong_words_are_found(run, tags):
    command = "explain ref.txt -i a.txt b.txt -m chrf -e erasure --tags a.tags b.tags"
    shown = run(command).out
    found = records(run(f"{command} --format json"))
    assert list(found[0]) == [*NAMES, "tag", "auc", "average_precision", "recall"]
    rows = [line.split() for line in shown.splitlines() if " hypothesis   " in line][:2]
    for row, system in zip(rows, "ab", strict=True):
        own = [each for each in found if each["system"] == system and each["side"] == "hypothesis"]
        texts = [[each for each in own if each["segment"] == at] for at in range(1, 121)]
        quality = mean_quality(
            [-np.array([each["importance"] for each in text]) for text in texts],
            [np.array([each["tag"] for each in text], bool) for text in texts],
        )
        counts = [str(quality.texts), str(quality.alike)]
        assert row == [system, "hypothesis", *counts, *(f"{value:.3f}" for value in quality.mean)]
        aucs = [text[0]["auc"] for text in texts if text[0]["auc"] is not None]
        assert np.mean(aucs) == pytest.approx(quality.mean.area)


def test_the_files_of_tags_are_among_the_inputs(run, tags):
    ran = run("explain ref.txt -i a.txt -e erasure --only 1 --tags a.tags --format json")
    assert [each["path"] for each in json.loads(ran.out)["inputs"]] == [
        "ref.txt",
        "a.txt",
        "a.tags",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-m bleu chrf", "explain looks at one metric"),
        ("-e limes", "unknown explainer 'limes' (did you mean 'lime'?)"),
        ("-e lime:samples=0", "samples"),
        ("--worst 0", "give at least 1, not 0"),
        ("--worst 3 --only 4", "--worst 3 chooses segments itself: leave --only out"),
        ("--only 0", "--only 0: give numbers from 1 up"),
        ("--only 5-3", "--only 5-3: give numbers from 1 up"),
        ("--only 3-", "--only 3-: give numbers from 1 up"),
        ("--only 121", "--only 121: the texts have 120 segments"),
        ("--top 3", "--top 3 counts among words that people tagged: give tags with --tags FILE"),
        ("--tags a.tags b.tags", "tags: 2 files, but there are 1 systems"),
        ("--tags no.tags", "no.tags does not exist"),
        ("--tags b.tags", "b.tags, line 1: "),
        ("--source-tags a.tags", "words of the source, which is not explained here"),
        ("--tags a.tags -o a.tags", "-o a.tags is one of the inputs"),
    ],
)
def test_what_makes_no_sense_is_refused(refusal, tags, options, message):
    assert message in refusal(f"explain ref.txt -i a.txt {options}")
