"""`assay boost` and `assay boost tune` on the command line: the examples, and bad input."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from assay.data import Segment
from assay.explanation.boosted import Boosted
from assay.io import read_lines
from assay.metrics.base import parse
from tests.corpora import DEMO

TUNE = "boost tune ref.txt -i a.txt b.txt --human scores.tsv"
FIELDS = ["explainer", "metric", "w", "p", "pearson", "base"]


@pytest.fixture(autouse=True)
def _scores(here):
    """`sys.txt` and `scores.tsv` beside the texts, under the names of the issue's examples."""
    shutil.copy("a.txt", "sys.txt")
    rows = (DEMO / "human" / "da.seg.tsv").read_text("utf-8")
    for new, old in (("a", "atlas"), ("b", "birch"), ("c", "cedar")):
        rows = rows.replace(f"{old}\t", f"{new}\t")
    own = [line.replace("a\t", "sys\t", 1) for line in rows.splitlines() if line[:2] == "a\t"]
    Path("scores.tsv").write_text(rows + "\n".join(own) + "\n", "utf-8")


@pytest.fixture
def records(run):
    """Run a command; what it gives back as JSON."""

    def call(line):
        ran = run(f"{line} --format json")
        assert (ran.status, ran.err) == (0, "")
        return json.loads(ran.out)["records"]

    return call


def segments(system="sys"):
    pairs = zip(read_lines(f"{system}.txt"), read_lines("ref.txt"), strict=True)
    return [Segment(line, (reference,)) for line, reference in pairs]


def test_the_example_of_boost_works_as_written(records):
    found = records("boost ref.txt -i sys.txt -m chrf -e lime --w 0.4 --p -1.4")
    assert [list(each) for each in found] == [
        ["system", "segment", "base", "explanation", "boosted"]
    ] * 120
    assert [each["segment"] for each in found] == list(range(1, 121))
    plain = parse("chrf").statistics(segments()).segments()
    assert [each["base"] for each in found] == pytest.approx(plain)
    for each in found:
        assert each["boosted"] == pytest.approx(0.4 * each["base"] + 0.6 * each["explanation"])
    assert [each["boosted"] for each in found] == pytest.approx(
        parse("boost").statistics(segments()).segments()
    )


def test_the_example_of_tuning_works_as_written(run, records):
    line = (
        "boost tune ref.txt -i sys.txt --human scores.tsv -m bleu:effective_order=yes chrf "
        "-e erasure lime shap"
    )
    ran = run(line)
    assert (ran.status, ran.err) == (0, "")
    assert [title in ran.out for title in ("The best weight and power", "Medians")] == [True] * 2
    found = records(line)
    assert [list(each)[:6] for each in found] == [FIELDS] * 6
    assert [(each["metric"], each["explainer"]) for each in found] == [
        (metric, explainer)
        for metric in ("bleu:effective_order=yes", "chrf")
        for explainer in ("erasure", "lime", "shap")
    ]
    for each in found:
        assert each["pearson"] >= each["base"] - 1e-9
        assert each["held_out_significance"] > 0
        assert each["collapsed"] <= 1
    assert run(line) == ran


def human(systems):
    rows = [line.split("\t") for line in Path("scores.tsv").read_text("utf-8").splitlines()]
    at, line = rows[0].index("raw"), rows[0].index("line")
    by_place = {(row[0], int(row[line])): float(row[at]) for row in rows[1:] if row[at]}
    return {place: z for place, z in by_place.items() if place[0] in systems}


def test_tuning_tells_the_correlations_that_boosting_has(records):
    (found,) = records(f"{TUNE} -m chrf -e erasure")
    gold = human(["a", "b"])
    at = {"w": found["w"], "p": found["p"]}
    scores = {
        (system, number): score
        for system in "ab"
        for number, score in enumerate(
            Boosted(metric="chrf", explainer="erasure", **at)
            .statistics(segments(system))
            .segments(),
            1,
        )
    }
    both = np.array([(scores[place], z) for place, z in gold.items()])
    assert found["n"] == len(both)
    assert found["pearson"] == pytest.approx(stats.pearsonr(*both.T).statistic)


def test_the_whole_grid_can_be_had(records):
    found = records(f"{TUNE} -m chrf -e erasure --grid")
    assert len(found) == 6 * 601
    (best,) = records(f"{TUNE} -m chrf -e erasure")
    assert max(each["pearson"] for each in found) == pytest.approx(best["pearson"], abs=1e-9)


def test_several_data_sets_are_tuned_and_others_tried(records, run):
    for name in ("wmt98", "wmt99", "other"):
        folder = shutil.copytree(
            DEMO, f"{name}/de-en", ignore=shutil.ignore_patterns("*.py", "suite", "__pycache__")
        )
        assert folder
    line = "boost tune --data wmt98/de-en wmt99/de-en --refs A -m chrf -e erasure "
    line += "--test-data other/de-en"
    found = records(line)
    assert [(each["what"], each["dataset"]) for each in found] == [
        ("best", "wmt98"), ("best", "wmt99"), ("test", "other"),
    ]  # fmt: skip
    assert found[0]["pearson"] == found[1]["pearson"] == pytest.approx(found[2]["pearson"])
    assert "On other data sets" in run(line).out


def test_options_reach_the_metric(records):
    found = records(
        "boost ref.txt -i sys.txt -m bleu -lc -e erasure --w 0.2 --p=-inf --regular shift "
        "--sides hypothesis --seed 3"
    )
    metric = parse(
        "boost:metric=bleu(lowercase=yes),explainer=erasure,w=0.2,p=-inf,regular=shift,"
        "sides=hypothesis,random_seed=3"
    )
    wanted = metric.statistics(segments()).segments()
    assert [each["boosted"] for each in found] == pytest.approx(wanted)


def test_the_papers_medians_are_taken_where_nothing_is_said(run):
    shown = run("boost ref.txt -i sys.txt -e erasure").out
    assert "boosted chrF2: means over segments" in shown
    assert "|explainer:erasure|w:0.6|p:-0.3|" in shown
    assert "boosted = 0.6 · base + 0.4 · explanation" in shown


def test_a_metric_with_less_for_better_has_its_signs_turned(run, records):
    line = "boost ref.txt -i sys.txt -m ter -e erasure"
    assert "Lower is better: signs are turned." in run(line).out
    plain = parse("ter").statistics(segments()).segments()
    assert [each["base"] for each in records(line)] == pytest.approx(-plain)


def test_segments_are_listed_for_people_when_asked(run):
    assert run("boost ref.txt -i sys.txt -e erasure").out.count("\nsys ") == 1
    assert run("boost ref.txt -i sys.txt -e erasure --segments").out.count("\nsys ") == 121


def test_a_boosted_metric_is_scored_tested_and_taken_apart_like_any_other(run):
    boosted = "boost:metric=bleu(effective_order=yes),explainer=erasure,w=0.6,p=-0.3"
    ran = run(f"score ref.txt -i a.txt c.txt --paired-bs -m {boosted}")
    assert (ran.status, ran.err) == (0, "")
    assert "boosted BLEU" in ran.out
    ran = run(f"muler ref.txt -i a.txt -l de-en -F gender --resamples 0 -m {boosted}")
    assert (ran.status, ran.err) == (0, "")
    ran = run(
        "meta correlate ref.txt -i a.txt b.txt --human scores.tsv --granularity segment "
        f"-m chrf {boosted}"
    )
    assert (ran.status, ran.err) == (0, "")
    assert "boosted BLEU" in ran.out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("boost ref.txt -i a.txt -m chrf bleu", "boost looks at one metric"),
        ("boost ref.txt -i a.txt -e lyme", "unknown explainer 'lyme' (did you mean 'lime'?)"),
        ("boost ref.txt -i a.txt --w 2", "boost:w=2.0: give a share from 0 to 1."),
        ("boost ref.txt -i a.txt --p much", "boost:p=much: this setting takes a number"),
        ("boost tune ref.txt -i a.txt", "no human scores to tune on: name a file with --human."),
        ("boost tune ref.txt -i a.txt --human scores.tsv -e lyme", "unknown explainer 'lyme'"),
        ("boost tune ref.txt -i a.txt --human sys.tsv", "there are sys (system)"),
        ("boost tune ref.txt -i a.txt --human scores.tsv more.tsv", "scores (segment), more"),
        (
            "boost tune --data x y --human scores.tsv",
            "--human FILE goes with one dataset; with several it lies in the folders.",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(refusal, here, line, message):
    Path("sys.tsv").write_text("system\tz\na\t0.5\n")
    shutil.copy("scores.tsv", "more.tsv")
    assert message in refusal(line)
