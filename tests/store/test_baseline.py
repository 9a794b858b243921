"""`check` against the systems of earlier runs: their outputs need not be given again."""

from dataclasses import replace

import pytest

import assay
from assay.data import DataError, StoreWarning
from assay.demo import read_demo
from assay.store.results import ResultStore

LIMITS = {
    "chrf": {"min_difference": -0.5},
    "bleu": {"worse": "never significantly"},
    "slice:with a number": {"worse": "never significantly"},
    "fault:numbers": {"max_rate": 0.01},
}


def only(*names):
    data = read_demo()
    one = tuple(lines[:1] for lines in data.references)
    return replace(data, systems={name: data.systems[name] for name in names}, references=one,
                   human={})  # fmt: skip


@pytest.fixture
def filled(tmp_path):
    assay.score(only("atlas"), ["chrf"], store=tmp_path, run_name="first")
    return tmp_path


def figures(result):
    return [{**record, "other": ""} for record in result.records()]


@pytest.mark.parametrize("baseline", ["last", "last/atlas", "run:first", "run:first/atlas"])
def test_a_check_from_the_store_is_that_from_files(filled, baseline):
    plain = assay.check(only("atlas", "birch"), LIMITS)
    stored = assay.check(only("birch"), LIMITS, store=filled, baseline=baseline)
    assert stored.baseline == "atlas (first)"
    assert figures(stored) == figures(plain)
    assert not stored.passed


def test_a_better_candidate_passes_and_becomes_the_baseline(tmp_path):
    assay.score(only("cedar"), ["chrf"], store=tmp_path, run_name="old")
    first = assay.check(only("atlas"), LIMITS, store=tmp_path, baseline="last", run_name="new")
    assert (first.passed, first.baseline) == (True, "cedar (old)")
    second = assay.check(only("birch"), LIMITS, store=tmp_path, baseline="last")
    assert (second.passed, second.baseline) == (False, "atlas (new)")


def test_what_failed_a_check_is_no_baseline(filled):
    assert not assay.check(only("birch"), LIMITS, store=filled, baseline="last").passed
    again = assay.check(only("cedar"), LIMITS, store=filled, baseline="last")
    assert again.baseline == "atlas (first)"


def test_a_failed_one_can_still_be_named(filled):
    assay.check(only("birch"), LIMITS, store=filled, baseline="last", run_name="bad")
    named = assay.check(only("cedar"), LIMITS, store=filled, baseline="run:bad")
    assert named.baseline == "birch (bad)"


def test_a_run_of_the_candidate_itself_is_not_the_last(filled):
    assay.score(only("birch"), ["chrf"], store=filled, run_name="just now")
    result = assay.check(only("birch"), LIMITS, store=filled, baseline="last")
    assert result.baseline == "atlas (first)"


def test_a_check_writes_down_what_limits_are_about(filled):
    assay.check(only("birch"), LIMITS, store=filled, baseline="last", run_name="gate")
    run = ResultStore(filled).runs()[-1]
    assert (run.command, run.name, run.passed) == ("check", "gate", False)
    assert [(each.system, each.kind, each.name) for each in run.observations] == [
        ("birch", "metric", "chrF2"),
        ("birch", "metric", "BLEU"),
        ("birch", "slice", "with a number"),
        ("birch", "fault", "numbers"),
    ]
    seen = assay.history(filled, slices="fault:numbers").records()
    assert [round(record["value"], 1) for record in seen] == [27.5]


def test_from_files_both_systems_are_written_down(tmp_path):
    assay.check(only("atlas", "birch"), {"chrf": {"min": 10}}, store=tmp_path)
    (run,) = ResultStore(tmp_path).runs()
    assert [(each.system, each.role) for each in run.observations] == [
        ("atlas", "baseline"), ("birch", "candidate"),
    ]  # fmt: skip
    result = assay.check(only("cedar"), {"chrf": {"min": 10}}, store=tmp_path, baseline="last")
    assert result.baseline.startswith("birch (")


def test_no_metric_is_computed_twice_for_the_baseline(filled):
    store = ResultStore(filled)
    keys = {store.key(only("atlas"), assay.parse("chrf"), "atlas")}
    before = {path.stem for path in filled.glob("rows/*/*.npz")}
    assert before == keys
    assay.check(only("birch"), {"chrf": {"min": 10}}, store=filled, baseline="last")
    assert len(list(filled.glob("rows/*/*.npz"))) == 2


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        ("run:frist", r"no run 'frist' .*\(did you mean 'first'\?\). There are: first"),
        ("run:first/birch", r"no system 'birch' in the store"),
        ("last/birch", r"no system 'birch' in the store .* There are: atlas"),
    ],
)
def test_unknown_names_are_told(filled, baseline, message):
    with pytest.raises(DataError, match=message):
        assay.check(only("birch"), LIMITS, store=filled, baseline=baseline)


def test_another_test_set_has_no_baseline_here(filled):
    data = only("birch")
    other = replace(data, references=(("another",), *data.references[1:]))
    with pytest.raises(DataError, match="has 1 run, but none with these references"):
        assay.check(other, LIMITS, store=filled, baseline="last")


def test_of_a_run_with_several_systems_one_is_named(tmp_path):
    assay.score(only("atlas", "cedar"), ["chrf"], store=tmp_path, run_name="both")
    with pytest.raises(DataError, match=r"several systems \(atlas, cedar\): name one, as in last/"):
        assay.check(only("birch"), LIMITS, store=tmp_path, baseline="last")
    named = assay.check(only("birch"), LIMITS, store=tmp_path, baseline="last/cedar")
    assert named.baseline == "cedar (both)"


def test_outputs_that_are_gone_or_damaged_are_told(filled):
    (path,) = filled.glob("texts/*/*.npz")
    path.write_bytes(path.read_bytes()[:50])
    with (
        pytest.warns(StoreWarning, match="damaged"),
        pytest.raises(DataError, match="no longer has the outputs of atlas in the run first"),
    ):
        assay.check(only("birch"), LIMITS, store=filled, baseline="last")


def test_a_system_of_the_data_may_be_called_last(filled):
    data = only("atlas", "birch")
    named = replace(data, systems=dict(zip(("last", "new"), data.systems.values(), strict=True)))
    result = assay.check(named, LIMITS, store=filled, baseline="last", candidate="new")
    assert result.baseline == "last"


def test_a_report_with_limits_is_one_run(tmp_path):
    assay.report(only("atlas", "birch"), metrics=["chrf"], features=(), limits=LIMITS,
                 store=tmp_path, run_name="page")  # fmt: skip
    (run,) = ResultStore(tmp_path).runs()
    assert (run.command, run.name, run.passed) == ("report", "page", False)
    assert {"metric", "slice", "fault"} <= {each.kind for each in run.observations}
