"""The jobs on a suite from Python: what goes in, what comes out, and what is refused."""

import pytest

import assay
from assay.data import DataError, MissingInput
from assay.demo import read_demo_suite
from assay.suites.accuracy import accuracies
from assay.suites.check import check
from assay.suites.sampling import read_key, write_key


@pytest.fixture(scope="module")
def demo():
    return read_demo_suite()


@pytest.fixture(scope="module")
def autumn(demo):
    return [run for run in demo.runs if run.campaign == "autumn"]


def test_lines_outputs_by_item_and_runs_are_judged_alike(demo, autumn):
    ids = [item.id for item in demo.suite.items if item.id in autumn[0].outputs]
    lines = {run.system: [run.outputs[name] for name in ids] for run in autumn}
    by_item = {run.system: run.outputs for run in autumn}
    wanted = assay.run_suite(demo.suite, autumn).records()
    assert assay.run_suite(demo.suite, lines, ids=ids).records() == wanted
    assert assay.run_suite(demo.suite, by_item).records() == wanted


def test_a_report_is_that_of_the_accuracies(demo, autumn):
    report = assay.suite_report(assay.run_suite(demo.suite, autumn), policy="each", test="z")
    verdicts = check(demo.suite, autumn).verdicts
    wanted = accuracies(verdicts, policy="each", test="z").rows
    assert list(map(repr, report.accuracies.rows)) == list(map(repr, wanted))
    assert str(report).startswith("Systems")


def test_systems_of_one_run_are_compared_as_versions(demo, autumn):
    result = assay.suite_compare(assay.run_suite(demo.suite, autumn))
    assert result.versions.campaigns == ("atlas", "birch", "cedar")


def test_no_outputs_are_missing_input(demo):
    with pytest.raises(MissingInput, match="pass outputs="):
        assay.run_suite(demo.suite, {})


@pytest.mark.parametrize(
    ("outputs", "told"),
    [
        ({"a": ["x"]}, r"a: 1 outputs, but there are 48 items.*pass ids="),
        ({"a": "x" * 48}, r"a: one text, but there are 48 items"),
        ({"a": {"neg9": "x"}}, r"a: no item of the suite has the id 'neg9' \(did you mean 'neg"),
    ],
)
def test_outputs_that_do_not_belong_to_the_suite_are_refused(demo, outputs, told):
    with pytest.raises(DataError, match=told):
        assay.run_suite(demo.suite, outputs)


def test_unknown_ids_are_refused(demo):
    with pytest.raises(DataError, match="ids: no item of the suite has the id 'x'"):
        assay.run_suite(demo.suite, {"a": ["y"]}, ids=["x"])


def test_the_same_seed_draws_the_same_text(demo):
    sentences = [f"Satz {number}." for number in range(100)]
    one, two, other = (
        assay.sample_suite(demo.suite, count=2, distractors=sentences, ratio=3, seed=seed)
        for seed in (1, 1, 2)
    )
    assert one == two != other
    assert len(one.lines) == 4 * one.items == 64


def test_what_was_sampled_is_collected_from_lines_and_from_files(demo, tmp_path):
    text = assay.sample_suite(
        demo.suite, count=1, distractors=["Eins."] * 9 + list("abcdefghijklmnop")
    )
    lines = [f"<{line}>" for line in text.lines]
    (tmp_path / "b.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    write_key(tmp_path / "key.tsv", text.key)
    collected = assay.collect_suite(text, {"a": lines, "b": tmp_path / "b.txt"})
    assert collected["a"] == collected["b"]
    assert collected["a"] == {line.item: f"<{line.source}>" for line in text.key if line.item}
    assert assay.collect_suite(read_key(tmp_path / "key.tsv"), {"a": lines})["a"] == collected["a"]


def test_fewer_lines_than_the_text_has_are_refused(demo):
    text = assay.sample_suite(demo.suite, count=1)
    with pytest.raises(DataError, match="a: 1 lines, but the text has 8"):
        assay.collect_suite(text, {"a": ["x"]})
