"""Runs in a store, and what `history` makes of them."""

import json
import math
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.data import DataError, Dataset, StoreWarning
from assay.demo import read_demo, read_demo_suite
from assay.metrics.base import parse, system_statistics
from assay.statistics.intervals import standard_error
from assay.statistics.signflips import sign_flip_p
from assay.store.packing import DamagedError
from assay.store.results import ResultStore
from assay.store.runs import read_run, run_lines


def nights(count=3, names=("atlas",)):
    """The demonstration with outputs that change from night to night, better and worse."""
    data = read_demo()
    plain = Dataset(
        {name: data.systems[name] for name in names},
        tuple(lines[:1] for lines in data.references),
        sources=data.sources,
        documents=data.documents,
        name="demo",
        languages=("de", "en"),
    )
    for night in range(count):
        chosen = set(np.random.default_rng(night).choice(len(data), 20, replace=False).tolist())
        systems = {
            name: tuple(
                (data.references[at][0] if night % 2 else data.systems["cedar"][at])
                if at in chosen
                else line
                for at, line in enumerate(lines)
            )
            for name, lines in plain.systems.items()
        }
        yield f"night {night + 1}", replace(plain, systems=systems)


@pytest.fixture
def filled(tmp_path):
    for name, data in nights():
        assay.score(data, ["bleu", "chrf"], store=tmp_path, run_name=name)
    return tmp_path


def test_a_run_is_lines_of_json_that_make_a_table(filled):
    pandas = pytest.importorskip("pandas")
    paths = sorted((filled / "runs").glob("*.jsonl"))
    frame = pandas.concat([pandas.read_json(path, lines=True) for path in paths])
    assert list(frame["name"]) == ["night 1"] * 2 + ["night 2"] * 2 + ["night 3"] * 2
    assert set(frame["test_set"]) == {"demo"}
    assert set(frame["segments"]) == {120}
    _, data = next(nights())
    score = assay.score(data, ["bleu"]).records()[0]
    line = json.loads(paths[0].read_text("utf-8").splitlines()[0])
    assert (line["value"], line["signature"]) == (score["score"], score["signature"])


def test_a_run_keeps_the_intervals_that_the_command_printed(tmp_path):
    _, data = next(nights())
    result = assay.score(data, ["bleu"], confidence=True, level=0.9, store=tmp_path)
    (run,) = ResultStore(tmp_path).runs()
    (seen,) = run.observations
    ends = result.by_metric[0].intervals[0]
    assert (seen.low, seen.high, seen.interval, seen.level) == (ends.low, ends.high, "bca", 0.9)


def test_without_intervals_a_run_has_those_of_the_jackknife(tmp_path):
    _, data = next(nights())
    assay.score(data, ["bleu"], store=tmp_path)
    asked = assay.score(data, ["bleu"], interval="jackknife").by_metric[0].intervals[0]
    (seen,) = ResultStore(tmp_path).runs()[0].observations
    assert (seen.low, seen.high, seen.interval) == (asked.low, asked.high, "jackknife")


def test_a_run_is_read_back_as_it_was_written(filled):
    run = ResultStore(filled).runs()[0]
    assert read_run(run_lines(run)) == run
    odd = replace(run, name="a\nb\u2028\ud800", observations=(
        replace(run.observations[0], system='"\\', value=math.nan, higher=None),
    ))  # fmt: skip
    again = read_run(run_lines(odd))
    assert (again.name, again.observations[0].system) == (odd.name, '"\\')
    assert math.isnan(again.observations[0].value)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null\n", "1", '{"run": "x"}', "[" * 100_000, '{"run": 1, "time": []}'],
)
def test_what_is_no_run_is_damaged(text):
    with pytest.raises(DamagedError):
        read_run(text)


def test_a_damaged_run_is_told_and_left_out(filled):
    path = min((filled / "runs").glob("*.jsonl"))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.warns(StoreWarning, match="is damaged and left out"):
        assert [run.name for run in ResultStore(filled).runs()] == ["night 2", "night 3"]


def test_the_history_of_a_metric_has_every_run_with_interval_and_change(filled):
    result = assay.history(filled, "chrf")
    records = result.records()
    assert [record["run_name"] for record in records] == ["night 1", "night 2", "night 3"]
    scores = [assay.score(data, ["chrf"]).records()[0]["score"] for _, data in nights()]
    assert [record["value"] for record in records] == scores
    assert records[0]["change"] is None
    assert records[2]["change"] == pytest.approx(scores[2] - scores[1])
    assert all(record["low"] < record["value"] < record["high"] for record in records)


def test_the_change_has_the_interval_and_p_of_the_two_outputs_segment_by_segment(filled):
    record = assay.history(filled, "chrf").records()[1]
    (_, before), (_, after), _ = nights()
    metric = parse("chrf")
    one, other = (metric.statistics(data.segments("atlas")) for data in (after, before))
    assert record["p"] == sign_flip_p(one.contributions(other))
    error = standard_error(one.without_each() - other.without_each())
    half = (record["change_high"] - record["change_low"]) / 2
    assert half == pytest.approx(1.9801 * error, rel=1e-4)  # t of 119 degrees of freedom
    assert record["p"] < 0.05


def test_the_change_of_a_sparse_metric_has_them_too(tmp_path):
    for name, data in nights(2):
        assay.score(data, ["macrof"], store=tmp_path, run_name=name)
    (_, before), (_, after) = nights(2)
    pair = replace(before, systems={"x": after.systems["atlas"], "y": before.systems["atlas"]})
    one, other = system_statistics(pair, parse("macrof"))
    record = assay.history(tmp_path).records()[1]
    assert record["p"] == sign_flip_p(one.contributions(other))
    assert record["change"] == one.corpus() - other.corpus()
    error = standard_error(one.without_each() - other.without_each())
    assert (record["change_high"] - record["change"]) == pytest.approx(1.9801 * error, rel=1e-4)


def test_without_the_rows_the_change_is_there_without_an_interval(filled):
    whole = assay.history(filled, "chrf").records()[1]
    ResultStore(filled).prune(0)
    record = assay.history(filled, "chrf").records()[1]
    assert record["change"] == whole["change"]
    assert record["change_low"] is record["p"] is None


def test_tables_and_charts_have_a_row_and_a_line_for_each_system(tmp_path):
    for name, data in nights(names=("atlas", "birch")):
        assay.score(data, ["chrf"], store=tmp_path, run_name=name)
    result = assay.history(tmp_path)
    (table,) = result.tables()
    assert table.title == "chrF2 on demo de-en"
    assert [row[:3:2] for row in table.rows[:3]] == [
        ["night 1", "atlas"], ["night 1", "birch"], ["night 2", "atlas"],
    ]  # fmt: skip
    (chart,) = result.charts()
    values = chart.spec["data"]["values"]
    assert [(each["x"], each["series"]) for each in values[:3]] == [
        ("night 1", "atlas"), ("night 1", "birch"), ("night 2", "atlas"),
    ]  # fmt: skip
    assert {layer["mark"]["type"] for layer in chart.spec["layer"]} == {"area", "line", "point"}
    assert chart.after == table.title
    assert "chrF2 on demo de-en" in str(result)


def test_one_run_has_a_table_and_no_chart(tmp_path):
    _, data = next(nights())
    assay.score(data, ["chrf"], store=tmp_path)
    result = assay.history(tmp_path)
    assert (len(result.tables()), len(result.charts())) == (1, 0)


def test_another_test_set_or_signature_has_a_table_of_its_own(tmp_path):
    _, data = next(nights())
    other = replace(data, references=(("another",), *data.references[1:]))
    for given, metric in ((data, "bleu"), (other, "bleu"), (data, "bleu:lowercase=yes")):
        assay.score(given, [metric], store=tmp_path)
    result = assay.history(tmp_path)
    tables = result.tables()
    assert len({table.title for table in tables}) == len(tables) == 3
    assert all("has a table of its own: not comparable" in table.note for table in tables)
    assert [record["change"] for record in result.records()] == [None] * 3


def test_another_version_of_the_package_is_comparable_and_told(filled):
    path = min((filled / "runs").glob("*.jsonl"))
    text = path.read_text("utf-8")
    version = assay.__version__
    path.write_text(text.replace(f"assay-{version}", "assay-0.0.1").replace(
        f'"version": "{version}"', '"version": "0.0.1"'), "utf-8")  # fmt: skip
    (table,) = assay.history(filled, "chrf").tables()
    assert len(table.rows) == 3
    assert f"Scored by assay 0.0.1, {version}." in table.note


def test_slices_faults_and_documents_have_histories(tmp_path):
    for name, data in nights(2, names=("atlas", "birch")):
        assay.compare(data, ["chrf"], features=(), store=tmp_path, run_name=name)
    seen = assay.history(
        tmp_path, slices=["with a number", "fault:numbers", "seen once in the references"]
    )
    records = [each for each in seen.records() if each["system"] == "birch"]
    kinds = [(each["kind"], each["metric"]) for each in records[::2]]
    assert kinds == [("slice", "chrF2"), ("slice", "MacroF1"), ("fault", "segments")]
    assert all(each["low"] <= each["value"] <= each["high"] for each in records)
    (_, data), _ = nights(2, names=("atlas", "birch"))
    chosen = [at for at, line in enumerate(data.sources) if re.search(r"\d", line)]
    part = parse("chrf").statistics([data.segments("birch")[at] for at in chosen])
    assert records[0]["value"] == part.corpus()
    assert records[0]["n"] == len(chosen)
    faults = assay.score(data, ["fault:numbers"]).records()[1]["score"]
    assert next(each["value"] for each in records if each["kind"] == "fault") == faults


def test_a_bin_of_frequencies_has_the_jackknifes_interval(tmp_path):
    from assay.comparison.words import Vocabulary, frequency_bins
    from assay.reports.probes import bin_probe

    _, data = next(nights(1))
    data = replace(data, systems={"atlas": data.systems["atlas"]})
    words = Vocabulary.of(data)
    part = next(iter(frequency_bins(words, None)))
    found = bin_probe(part, words).estimate(0, level=0.95)
    columns = np.flatnonzero(part.chosen)
    had, matched = (each[:, columns].toarray() for each in words.of_system(0))
    wanted = words.reference[:, columns].toarray()
    slow = []
    for left_out in range(len(data)):
        kept = np.arange(len(data)) != left_out
        p, m, w = (each[kept].sum(axis=0) for each in (had, matched, wanted))
        whole = p + w
        slow.append(100 * np.mean(np.divide(2 * m, whole, out=np.zeros_like(whole, float),
                                            where=whole > 0)))  # fmt: skip
    there = (had + wanted).any(axis=1)
    error = standard_error(np.array(slow)[there])
    assert found.n == there.sum()
    from scipy.special import stdtrit

    reach = float(stdtrit(found.n - 1, 0.975)) * error
    assert (found.low, found.high) == pytest.approx((found.value - reach, found.value + reach))


def test_phenomena_of_suites_have_histories(tmp_path):
    suite, runs = read_demo_suite()
    for campaign in ("spring", "autumn"):
        chosen = [run for run in runs if run.campaign == campaign]
        assay.run_suite(suite, chosen, store=tmp_path, run_name=campaign)
    seen = assay.history(tmp_path, phenomena="Negation", systems="atlas").records()
    assert [each["run_name"] for each in seen] == ["spring", "autumn"]
    result = assay.run_suite(suite, [run for run in runs if run.campaign == "autumn"])
    report = assay.suite_report(result, policy="each")
    row = report.accuracies.row("category", "Negation")
    assert (seen[1]["value"], seen[1]["low"], seen[1]["n"]) == (
        row.accuracy[0], row.low[0], row.items[0],
    )  # fmt: skip
    assert [each["subject"] for each in assay.history(tmp_path, systems="atlas").records()] == [
        "micro-average"
    ] * 2


def test_a_report_of_a_suite_is_another_line_than_a_run_of_it(tmp_path):
    suite, runs = read_demo_suite()
    result = assay.run_suite(suite, runs[:3], store=tmp_path)
    assay.suite_report(result, store=tmp_path)
    tables = assay.history(tmp_path, phenomena="micro-average").tables()
    assert [table.title.rpartition("policy:")[2] for table in tables] == ["each", "fair"]


def test_runs_are_chosen_by_day_number_and_system(filled):
    store = ResultStore(filled)
    path = min((filled / "runs").glob("*.jsonl"))
    old = store.runs()[0].time
    path.write_text(path.read_text("utf-8").replace(old, "2020-01-31T12:00:00.000000+00:00"))
    names = lambda **options: [  # noqa: E731
        each["run_name"] for each in assay.history(filled, "chrf", **options).records()
    ]
    assert names(since="2020-02-01") == names(since=date(2020, 2, 1)) == ["night 2", "night 3"]
    assert names(since="2020-01-31") == ["night 1", "night 2", "night 3"]
    assert names(last=1) == ["night 3"]
    with pytest.raises(DataError, match=r"since=9999-01-01: no run is that new; the newest is of"):
        names(since="9999-01-01")
    with pytest.raises(DataError, match="write a day as in 2026-11-01"):
        names(since="yesterday")


def test_names_that_no_run_has_together_are_refused(tmp_path):
    for metric, system in (("bleu", "atlas"), ("chrf", "birch")):
        (name, data), *_ = nights(1, (system,))
        assay.score(data, [metric], store=tmp_path, run_name=name)
    with pytest.raises(DataError, match="has all of that"):
        assay.history(tmp_path, "chrf", systems="atlas")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "blue"}, r"no metric 'blue' in the runs of .*\(did you mean 'bleu'\?\)"),
        ({"slices": "with a nummer"}, r"no slice 'with a nummer' .* There are: none\."),
        ({"phenomena": "x"}, "no phenomenon 'x'"),
        ({"systems": "atlsa"}, r"no system 'atlsa' .*\(did you mean 'atlas'\?\). There are: atlas"),
        ({"last": 0}, "last=0: give at least 1"),
    ],
)
def test_unknown_names_are_told_with_a_suggestion(filled, options, message):
    with pytest.raises(DataError, match=message):
        assay.history(filled, **options)


def test_an_empty_store_says_how_to_fill_it(tmp_path):
    with pytest.raises(DataError, match="is empty: fill it by assay score"):
        assay.history(tmp_path)
    with pytest.raises(DataError, match="does not exist"):
        assay.history(tmp_path / "no")
    assert not (tmp_path / "no").exists()
    ResultStore(tmp_path)
    with pytest.raises(DataError, match="has no runs yet"):
        assay.history(tmp_path)


def test_hostile_names_are_shown_and_never_run(tmp_path):
    _, data = next(nights())
    name = "<script>alert(1)</script>\n\x1b[31m"
    for turn in ("one", "two"):
        assay.score(replace(data, systems={name: data.systems["atlas"]}), ["chrf"],
                    store=tmp_path / "store", run_name=f"<b>{turn}")  # fmt: skip
    result = assay.history(tmp_path / "store")
    assert "\x1b" not in str(result)
    result.save(tmp_path / "page.html")
    page = Path(tmp_path / "page.html").read_text("utf-8")
    assert "<script>alert(1)" not in page
    assert "<b>one" not in page
    assert result.records()[0]["system"] == name


def test_rows_of_another_metric_than_the_run_says_give_no_interval(filled):
    """A run that was tampered with: its rows are BLEU's, it says chrF."""
    runs = ResultStore(filled).runs()
    bleu = [run.observations[0].rows for run in runs]
    for run, path in zip(runs, sorted((filled / "runs").glob("*.jsonl")), strict=True):
        tampered = [replace(each, rows=bleu[0] if run.name == "night 1" else bleu[1])
                    for each in run.observations]  # fmt: skip
        path.write_text(run_lines(replace(run, observations=tuple(tampered))), "utf-8")
    records = assay.history(filled, "chrf").records()
    assert all(record["change_low"] is None for record in records[:2])
