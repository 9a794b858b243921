"""`assay meta correlate` on the command line: the examples, the sources, and bad input."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from assay.agreement.agree import confidences
from assay.data import Dataset, Scores
from assay.io import read_folder, read_scores, write_folder, write_scores
from assay.metrics.base import parse, system_statistics
from tests.agreement.obvious import soft_accuracy
from tests.corpora import DEMO, demo

SYSTEMS = ("atlas", "birch", "cedar")
CORRELATE = "meta correlate ref.txt -i systems/atlas.txt systems/birch.txt systems/cedar.txt"
SEGMENTS = "--granularity segment"
FIELDS = ["pair", "granularity", "metric", "resolved", "human", "coefficient", "value", "p", "n"]


@pytest.fixture(autouse=True)
def human(here):
    """The demonstration set, whole in `demo`, and its human scores beside the texts."""
    shutil.copytree(DEMO, "demo", ignore=shutil.ignore_patterns("*.py", "__pycache__", "suite"))
    shutil.copytree(DEMO / "systems", "systems")
    for name in ("da.sys.tsv", "da.seg.tsv"):
        shutil.copy(DEMO / "human" / name, name)


@pytest.fixture
def records(run):
    """Run a command; what it gives back as JSON."""

    def call(line):
        ran = run(f"{line} --format json")
        assert (ran.status, ran.err) == (0, "")
        return json.loads(ran.out)["records"]

    return call


def by_metric(records):
    return {each["metric"]: each for each in records}


def test_records_have_the_metric_as_asked_for_and_as_resolved(records):
    options = "--human da.sys.tsv --granularity system -l de-zh -m bleu bleu:tok=13a --compare"
    found = records(f"{CORRELATE} {options} --coefficient accuracy")
    assert {(each["metric"], each["resolved"]) for each in found} == {
        ("bleu", "bleu:tok=zh"),
        ("bleu:tok=13a", "bleu"),
    }
    assert {each["other"] for each in found} <= {None, "bleu", "bleu:tok=13a"}


def test_the_first_example_works_as_written(records):
    found = records(
        f"{CORRELATE} --human da.sys.tsv -m bleu macrof microf chrf --granularity system "
        "--coefficient kendall --round 1"
    )
    assert [each["metric"] for each in found] == ["bleu", "macrof", "microf", "chrf"]
    dataset = read_folder(DEMO)
    people = [1.1, -0.179, -0.921]
    one_reference = Dataset(dataset.systems, tuple((each[0],) for each in dataset.references))
    for each in found:
        assert list(each)[:9] == FIELDS
        scores = system_statistics(one_reference, parse(each["metric"]))
        rounded = [float(f"{s.corpus():.1f}") for s in scores]
        theirs = stats.kendalltau(rounded, people)
        assert (each["value"], each["p"]) == pytest.approx((theirs.statistic, theirs.pvalue))
        assert each["n"] == 3


def test_the_second_example_works_as_written(run):
    line = "meta correlate --data demo --refs A -m bleu chrf --granularity segment --by item"
    ran = run(f"{line} --coefficient pearson kendall acc-eq --compare")
    assert (ran.status, ran.err) == (0, "")
    assert "agreement with da at segment level" in ran.out
    assert ran.out.count("Which metrics agree better?") == 3
    assert "Human scores: demo/human/da.seg.tsv." in ran.out
    again = run(f"{line} --coefficient pearson kendall acc-eq --compare")
    assert again == ran


def test_the_second_example_works_on_a_real_test_set(run, shared):
    ran = run(
        f"meta correlate --data {shared / 'wmt20' / 'en-de'} --refs ref -m bleu chrf "
        "--granularity segment --by item --coefficient pearson kendall acc-eq --compare "
        "--trials 20 --format json"
    )
    assert (ran.status, ran.err) == (0, "")
    found = [each for each in json.loads(ran.out)["records"] if each["other"] is None]
    assert {each["human"] for each in found} == {"da", "mqm"}
    assert {each["pair"] for each in found} == {"en-de"}
    assert all(0.15 < each["value"] < 0.7 and each["groups"] > 1000 for each in found)
    assert {each["n"] for each in found if each["human"] == "mqm"} == {7 * 1418}


def test_mt_metrics_evals_layout_is_read(records):
    texts = {name: tuple(demo(f"systems/{name}.txt")) for name in SYSTEMS}
    references = tuple((line,) for line in demo("ref.A.txt"))
    write_folder(Dataset(texts, references, languages=("de", "en")), "eval/wmt21")
    write_folder(Dataset(texts, references, languages=("en", "de")), "eval/wmt21")
    Path("eval/wmt21/human-scores").mkdir()
    scores = [f"{name}\t{value}\n" for name, value in zip(SYSTEMS, (3, 2, 1), strict=True)]
    for name in ("de-en.mqm.sys.score", "de-en.wmt-z.sys.score", "en-de.mqm.sys.score"):
        Path(f"eval/wmt21/human-scores/{name}").write_text("".join(scores) + "refA\t9\n")
    found = records("meta correlate --data eval/wmt21 -l de-en -m chrf --coefficient kendall")
    assert [(each["pair"], each["human"]) for each in found] == [
        ("de-en", "mqm"), ("de-en", "wmt-z"),
    ]  # fmt: skip
    both = records(
        "meta correlate --data eval/wmt21 -l de-en en-de -m chrf --coefficient kendall --human mqm"
    )
    assert [(each["pair"], each["human"]) for each in both] == [("de-en", "mqm"), ("en-de", "mqm")]
    assert all(each["value"] == 1.0 for each in both)


def test_folders_of_one_pair_go_by_their_test_sets(records, run):
    for name in ("wmt98", "wmt99"):
        shutil.copytree("demo", f"{name}/de-en")
    line = (
        "meta correlate --data wmt98/de-en wmt99/de-en --refs A -m bleu chrf --coefficient kendall"
    )
    assert [each["pair"] for each in records(line)] == ["wmt98/de-en"] * 2 + ["wmt99/de-en"] * 2
    shown = run(line).out
    for name in ("wmt98/de-en", "Median", "Mean", "SD", "Wins"):
        assert f"\n{name} " in shown


def test_every_level_and_coefficient_at_once(records):
    names = "pearson spearman kendall kendall-c wmt:gap=0.5 accuracy acc-eq spa"
    found = records(
        "meta correlate --data demo --refs A -m bleu ter --granularity system document segment "
        f"--coefficient {names} --trials 50"
    )
    assert len(found) == 3 * 2 * 8
    assert {each["granularity"] for each in found} == {"system", "document", "segment"}
    assert all(each["value"] is not None for each in found)
    assert all(each["value"] > 0 for each in found if each["granularity"] == "segment")


def test_ter_agrees_as_its_negative_would(records):
    line = f"{CORRELATE} --human da.seg.tsv --granularity segment -m ter"
    (own,) = records(f"{line} --coefficient kendall")
    assert own["value"] > 0
    dataset = read_folder(DEMO)
    one_reference = Dataset(dataset.systems, tuple((each[0],) for each in dataset.references))
    scores = [each.segments() for each in system_statistics(one_reference, parse("ter"))]
    for name, sign in (("ter", 1), ("turned", -1)):
        rows = [
            f"{system}\t{at}\t{sign * value!r}\n"
            for system, values in zip(dataset.systems, scores, strict=True)
            for at, value in enumerate(map(float, values), 1)
        ]
        Path(f"{name}.seg.tsv").write_text("system\tline\tscore\n" + "".join(rows))
    found = by_metric(
        records(
            f"{line} --coefficient kendall --scores turned.seg.tsv".replace("-m ter", "-m bleu")
        )
    )
    assert found["turned"]["value"] == own["value"]
    found = by_metric(
        records(f"{line} --coefficient kendall --scores ter.seg.tsv".replace("-m ter", "-m bleu"))
    )
    assert found["ter"]["value"] == own["value"]


def test_scores_from_elsewhere_can_be_said_to_be_errors(records):
    Path("loss.sys.tsv").write_text("system\tscore\natlas\t0.1\nbirch\t0.2\ncedar\t0.3\n")
    line = f"{CORRELATE} --human da.sys.tsv -m bleu --coefficient kendall --scores loss.sys.tsv"
    assert by_metric(records(line))["loss"]["value"] == -1.0
    assert by_metric(records(f"{line} --lower loss"))["loss"]["value"] == 1.0


def test_systems_without_output_or_rating_are_named(run):
    Path("few.sys.tsv").write_text(
        "system\tz\natlas\t1\nbirch\t0\nHuman-A.0\t2\nunknown\t3\n", "utf-8"
    )
    ran = run(f"{CORRELATE} --human few.sys.tsv -m bleu --coefficient kendall")
    assert (ran.status, ran.err) == (0, "")
    assert "Left out (rated, but no output here): Human-A.0, unknown." in ran.out
    assert "Left out (no human score): cedar." in ran.out
    assert "no kendall of BLEU: only 2 scores to compare; Kendall's tau needs 3." in ran.out


def test_two_systems_are_null_with_a_reason(records):
    line = "meta correlate ref.txt -i systems/atlas.txt systems/birch.txt --human da.sys.tsv"
    found = records(f"{line} -m bleu chrf --compare")
    assert len(found) == 4
    for each in found:
        assert (each["value"], each["p"], each["cluster"]) == (None, None, None)
        assert each["reason"].startswith("only 2 scores to compare")


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("atlas\t1\nbirch\t1\ncedar\t1\n", "all human scores are equal"),
        ("atlas\tNone\nbirch\t\ncedar\tNone\n", "no score is known on both sides"),
    ],
)
def test_human_scores_that_say_nothing_are_null_with_a_reason(records, rows, reason):
    Path("odd.sys.tsv").write_text(f"system\tz\n{rows}")
    names = "pearson spearman kendall kendall-c wmt accuracy"
    found = records(f"{CORRELATE} --human odd.sys.tsv -m bleu --coefficient {names}")
    assert len(found) == 6
    assert {(each["value"], each["p"], each["reason"]) for each in found} == {(None, None, reason)}


def test_a_metric_that_says_nothing_is_null_with_a_reason(records):
    for name in ("birch", "cedar"):
        shutil.copy("systems/atlas.txt", f"systems/{name}.txt")
    found = records(f"{CORRELATE} --human da.sys.tsv -m bleu --coefficient kendall pearson")
    assert {(each["value"], each["reason"]) for each in found} == {
        (None, "all metric scores are equal")
    }


def test_missing_ratings_are_left_out_and_counted(run):
    ran = run(f"{CORRELATE} --human da.seg.tsv -m bleu --granularity segment --coefficient kendall")
    assert "9 of 360 human scores are missing." in ran.out
    assert " 351 " in ran.out


def test_a_reference_among_the_systems_is_left_out_or_in(records, run):
    shutil.copy("ref.txt", "systems/copy.txt")
    rows = Path("da.sys.tsv").read_text() + "copy\t2.0\n"
    Path("more.sys.tsv").write_text(rows)
    line = f"{CORRELATE} systems/copy.txt --human more.sys.tsv -m bleu --coefficient kendall"
    assert records(line)[0]["n"] == 3
    assert "Left out (human translations): copy." in run(line).out
    assert records(f"{line} --humans in")[0]["n"] == 4
    assert "Human translations, left in: copy." in run(f"{line} --humans in").out


def test_outliers_go_on_request(run):
    scores = {"atlas": 1.0, "birch": 1.1, "cedar": 0.9, "a": 1.05, "b": -9.0}
    rows = "".join(f"{name}\t{value}\n" for name, value in scores.items())
    Path("five.sys.tsv").write_text(f"system\tz\n{rows}")
    line = f"{CORRELATE} a.txt b.txt --human five.sys.tsv -m bleu --coefficient kendall"
    assert "outliers" not in run(line).out
    shown = run(f"{line} --outliers drop").out
    assert "Left out (outliers: " in shown
    assert shown.split("from the median): ")[1].startswith("b.")


@pytest.mark.parametrize(("gold", "share"), [("mqm", 0.2), ("da", 1.0)])
def test_real_ratings_of_part_of_a_test_set(gold, share, shared, run, tmp_path):
    """Imported scores of segments at system level: MQM cut to a fifth, and DA, which is ragged."""
    folder = shared / "wmt20" / "en-de"
    dataset = read_folder(folder)
    names = [name for name in dataset.systems if not name.startswith("trans-")][:6]
    everything = read_scores(folder / "human" / f"{gold}.seg.tsv", names, length=len(dataset))
    rated = np.random.default_rng(1).random(len(dataset)) < share
    human = np.where(rated, everything.values, np.nan)
    scored = system_statistics(dataset, parse("chrf"))
    order = list(dataset.systems)
    metric = np.array([scored[order.index(name)].segments() for name in names])
    items = tuple(str(at) for at in range(1, len(dataset) + 1))
    for name, values in ((gold, human), ("own", metric)):
        write_scores(
            Scores(name, "segment", tuple(names), items, values), tmp_path / f"{name}.seg.score"
        )
    ran = run(
        f"meta correlate --data {folder} -q -i {' '.join(names)} "
        f"--human {tmp_path}/{gold}.seg.score --scores {tmp_path}/own.seg.score --coefficient spa "
        "--trials 60 -f json"
    )
    found = {each["metric"]: each["value"] for each in json.loads(ran.out)["records"]}
    keep = ~np.isnan(human).all(axis=1)
    assert keep.sum() > 3
    human, metric = human[keep], metric[keep]
    assert 0.05 < 1 - np.isnan(human).mean() < 0.6
    assert found["own"] == pytest.approx(
        soft_accuracy(human, metric, trials=60, seed=12345), abs=1e-12
    )
    # People's scores come in steps; trials that tie with what is observed are that rare.
    assert found["own"] == pytest.approx(
        soft_accuracy(human, metric, trials=60, seed=12345, ties=1), abs=0.01
    )
    everywhere = [
        confidences(each, trials=60, rng=np.random.default_rng(12345)) for each in (metric, human)
    ]
    mixed = 1 - np.nanmean(np.abs(everywhere[0] - everywhere[1]))
    assert abs(mixed - found["own"]) > 1e-3


def test_soft_accuracy_without_segment_ratings_is_null_with_a_reason(records):
    (found,) = records(f"{CORRELATE} --human da.sys.tsv -m bleu --coefficient spa")
    assert found["reason"] == "soft pairwise accuracy needs human scores of segments"
    (found,) = records(f"{CORRELATE} --human da.sys.tsv da.seg.tsv -m bleu --coefficient spa")
    assert 0 < found["value"] <= 1
    assert found["n"] == 3


def test_human_columns_are_chosen(records):
    Path("two.sys.tsv").write_text(
        "system\tz\traw\natlas\t3\t1\nbirch\t2\t2\ncedar\t1\t3\n", "utf-8"
    )
    line = f"{CORRELATE} --human two.sys.tsv -m chrf --coefficient kendall"
    assert [each["human"] for each in records(line)] == ["two"]
    found = records(f"{line} --human-column z raw")
    assert [(each["human"], each["value"]) for each in found] == [("two:z", 1.0), ("two:raw", -1.0)]


def test_tables_of_scores_need_no_texts(records, run):
    rows = [
        f"{pair}\ts{at}\t{at}\t{(at * 7) % 5}\t{-at}\n"
        for pair in ("aa-bb", "cc-dd")
        for at in range(1, 7)
    ]
    Path("scores.tsv").write_text("Langs\tSystem\tHuman\tBLEU\tTER\n" + "".join(rows))
    found = records("meta correlate --table scores.tsv --coefficient kendall")
    assert [(each["pair"], each["metric"]) for each in found][:2] == [
        ("aa-bb", "BLEU"), ("aa-bb", "TER"),
    ]  # fmt: skip
    theirs = stats.kendalltau([(at * 7) % 5 for at in range(1, 7)], range(1, 7))
    assert found[0]["value"] == pytest.approx(theirs.statistic)
    assert found[1]["value"] == -1.0
    shown = run("meta correlate --table scores.tsv --coefficient kendall --leave-out paper").out
    assert f"{abs(theirs.statistic):.3f}×" in shown
    assert "1.000" in shown


def test_a_page_has_the_charts(run):
    ran = run("meta correlate --data demo -m bleu ter -o page.html")
    assert ran.status == 0
    page = Path("page.html").read_text("utf-8")
    assert "system level: TER against da" in page
    assert page.count("<svg") >= 2


def test_every_table_says_how_metrics_were_computed_and_from_how_many_references(run):
    line = "meta correlate --data demo -m bleu ter --coefficient pearson spa --compare --trials 20"
    for options, count, names in (("", 1, "refA"), ("--refs B A", 2, "refB, refA")):
        ran = run(f"{line} {options}")
        assert ("compared with refA alone; there is also refB" in ran.err) is not bool(options)
        tables = ran.out.split("\n\n")
        assert len(tables) == 3
        for table in tables:
            assert f"BLEU|nrefs:{count}|case:mixed|eff:no|tok:13a|" in table
            assert f"TER|nrefs:{count}|" in table
        assert f"Reference: {names}." in tables[0]
        assert (
            "spa: 3 pairs of systems, each over the segments that are rated for both "
            "(demo/human/da.seg.tsv), by 20 random swaps." in tables[0]
        )


def test_records_have_the_signature(records):
    Path("own.sys.tsv").write_text("system\tscore\natlas\t1\nbirch\t2\ncedar\t3\n")
    bleu, own = records(f"{CORRELATE} --human da.sys.tsv -m bleu --scores own.sys.tsv "
                        "--coefficient kendall")  # fmt: skip
    assert bleu["signature"].startswith("BLEU|nrefs:1|")
    assert own["signature"] is None


def test_scores_alone_add_no_metric_of_ours(records, run):
    Path("own.sys.tsv").write_text("system\tscore\natlas\t1\nbirch\t2\ncedar\t3\n")
    line = f"{CORRELATE} --human da.sys.tsv --scores own.sys.tsv --coefficient kendall"
    assert [each["metric"] for each in records(line)] == ["own"]
    assert [each["metric"] for each in records(f"{line} -m ter")] == ["ter", "own"]
    assert "|nrefs:" not in run(line).out
    without = records(f"{CORRELATE} --human da.sys.tsv --coefficient kendall")
    assert [each["metric"] for each in without] == ["bleu", "chrf"]


def test_human_translations_in_a_folder_are_systems_only_where_they_are_asked_for(run):
    texts = {name: tuple(demo(f"systems/{name}.txt")) for name in SYSTEMS}
    texts |= {"refA": tuple(demo("ref.A.txt")), "refB": tuple(demo("ref.B.txt"))}
    references = tuple(zip(demo("ref.A.txt"), demo("ref.B.txt"), strict=True))
    write_folder(Dataset(texts, references, languages=("de", "en")), "eval/wmt21")
    Path("eval/wmt21/human-scores").mkdir()
    rows = [f"{name}\t{at}\n" for at, name in enumerate(texts)]
    Path("eval/wmt21/human-scores/de-en.mqm.sys.score").write_text("".join(rows))
    line = "meta correlate --data eval/wmt21 -m bleu --coefficient kendall -f json"
    for options, count, note in (
        ("", 3, "no system, but a reference: refA, refB; left out."),
        ("--humans in", 4, "no system, but a reference: refA; left out."),
        ("--humans in --refs refB", 4, "no system, but a reference: refB; left out."),
    ):
        ran = run(f"{line} {options}")
        (found,) = json.loads(ran.out)["records"]
        assert found["n"] == count
        assert note in ran.err


def test_the_word_alone_tells_of_its_commands(run):
    ran = run("meta")
    assert (ran.status, ran.err) == (0, "")
    assert "meta correlate" in ran.out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (CORRELATE, "no human scores to agree with: name a file with --human."),
        (f"{CORRELATE} --human nobody.tsv", "none of the systems atlas, birch, cedar is in"),
        (f"{CORRELATE} --human far.tsv --granularity segment", "line 2: there is no segment 121"),
        (
            f"{CORRELATE} --human da.sys.tsv --granularity segment",
            "no human scores fit segment level",
        ),
        (
            f"{CORRELATE} --human da.seg.tsv --granularity document",
            "document level needs document ids",
        ),
        (f"{CORRELATE} --human da.sys.tsv --human-column raw", "no column 'raw'"),
        (f"{CORRELATE} --human da.sys.tsv --coefficient kendal", "did you mean 'kendall'"),
        (f"{CORRELATE} --human da.sys.tsv --round one", "give a number of decimals"),
        (f"{CORRELATE} --human da.sys.tsv --round ter=1", "no metric 'ter'"),
        (f"{CORRELATE} --human da.sys.tsv --alpha 7", "alpha 7: give a share between 0 and 1"),
        (f"{CORRELATE} --human da.sys.tsv --pair-column x", "go with --table"),
        (f"{CORRELATE} --human da.sys.tsv -l de-en en-de", "go with --data"),
        (f"{CORRELATE} --human da.sys.tsv da.sys.tsv", "are both human scores called 'da'"),
        (
            "meta correlate --data demo --refs A --human mqm",
            "demo has no such human scores. It has da.",
        ),
        ("meta correlate --data demo demo --refs A", "is given twice"),
        ("meta correlate --data demo systems --human da.sys.tsv", "go with one language pair"),
        ("meta correlate --data bare", "bare has no human scores: neither human/*.tsv nor"),
        ("meta correlate --table da.sys.tsv -i a.txt", "--table brings all scores"),
        (
            "meta correlate --table da.sys.tsv --granularity segment",
            "--table has scores of systems",
        ),
        ("meta correlate --table da.sys.tsv", "no column of numbers beside people's"),
        ("meta correlates", "did you mean 'meta correlate'"),
    ],
)
def test_bad_input_is_told_in_one_line(refusal, line, message):
    Path("nobody.tsv").write_text("system\tz\nx\t1\n")
    Path("far.tsv").write_text("system\tline\tz\natlas\t121\t1\n")
    shutil.copytree("systems", "bare/systems")
    shutil.copy("ref.txt", "bare/ref.txt")
    assert message in refusal(line)
