"""`compare` as people call it: what goes in, what is said, and what is an error."""

import re
from dataclasses import replace

import numpy as np
import pytest

import assay
from assay.data import DataError, Dataset, MissingInput
from assay.demo import read_demo, read_demo_suite
from assay.reports.people import read_errors
from assay.suites.check import FAIL, PASS
from tests.contract.varied import needs_tagger


@pytest.fixture(scope="module")
def demo():
    return read_demo()


@pytest.fixture(scope="module")
def pair(demo):
    return replace(
        demo, systems={name: demo.systems[name] for name in ("atlas", "birch")}, human={}
    )


def compare(data, metrics=("chrf",), **options):
    return assay.compare(data, metrics, **{"features": (), **options})


def by_slice(result, kind):
    return {record["slice"]: record for record in result.records() if record["kind"] == kind}


def with_outputs(data, **outputs):
    return replace(data, systems={name: tuple(lines) for name, lines in outputs.items()}, human={})


def test_the_verdict_says_who_is_better_by_what_and_where(pair):
    sentences = compare(pair, ["chrf", "bleu"]).summary()
    assert sentences[0].startswith("birch is better than atlas by BLEU (+13.0, 95")
    assert "not established by chrF2 (-2.7, 95" in sentences[0]
    assert re.search(r"birch is worse on .*capitalised words \(F 29\.3 % against 86\.5 %\)",
                     sentences[1])  # fmt: skip


def test_metrics_that_disagree_are_told(pair):
    sentences = compare(pair, ["bleu", "macrof"]).summary()
    assert sentences[0].startswith("The metrics disagree: birch is better than atlas by BLEU")
    assert "but worse by MacroF1 (-15.5" in sentences[0]


def test_nothing_is_called_better_or_worse_where_nothing_is_established(pair):
    first = pair.systems["atlas"]
    second = list(first)
    second[3], second[40] = "A different sentence.", pair.references[40][0]
    result = compare(with_outputs(pair, one=first, two=second), ["chrf", "bleu"])
    text = " ".join(result.summary())
    assert text.startswith("No metric tells two and one apart")
    assert "better" not in text
    assert "worse" not in text
    assert not any(finding.established for finding in result.findings)


def test_identical_systems_have_no_finding(pair):
    lines = pair.systems["atlas"]
    result = compare(with_outputs(pair, one=lines, two=lines), ["chrf", "bleu", "macrof"])
    assert result.records() == []
    assert "better" not in " ".join(result.summary())
    assert all(standing.difference(0, 1).p == 1 for standing in result.board.standings)
    assert str(result)


def test_one_segment_that_differs_is_too_little_to_test(pair):
    first = pair.systems["atlas"]
    result = compare(with_outputs(pair, one=first, two=("Nothing 12.", *first[1:])))
    assert result.records()
    assert all(record["p"] is None for record in result.records())
    assert all(record["segments"][0] == 1 for record in result.records())
    assert str(result)


def test_empty_outputs_are_a_finding_of_their_own(pair):
    first = pair.systems["atlas"]
    emptied = ["" if at % 6 == 0 else line for at, line in enumerate(first)]
    result = compare(with_outputs(pair, whole=first, emptied=emptied), ["chrf", "bleu", "macrof"])
    record = by_slice(result, "fault")["empty"]
    assert record["value"] == pytest.approx(100 / 6)
    assert record["value_other"] == 0
    assert record["p_adjusted"] < 0.05
    assert "no text at all" in " ".join(result.summary())


def test_a_system_that_says_nothing_at_all_can_be_compared(pair):
    result = compare(with_outputs(pair, whole=pair.systems["atlas"], none=[""] * 120))
    assert by_slice(result, "fault")["empty"]["value"] == 100
    assert str(result)


def test_three_systems_are_compared_with_the_first(demo):
    result = compare(demo)
    found = {(record["system"], record["other"]) for record in result.records()}
    assert found == {("birch", "atlas"), ("cedar", "atlas")}


def test_all_pairs_compare_every_two(demo):
    result = compare(demo, all_pairs=True)
    found = {frozenset((record["system"], record["other"])) for record in result.records()}
    assert len(found) == 3


def test_scores_of_people_stand_on_the_scoreboard(demo):
    board = compare(demo).board
    assert [standing.label for standing in board.standings] == ["chrF2", "da.seg"]
    values = demo.human["da.seg"].select(list(demo.systems)).values
    assert board.standings[1].scores == pytest.approx(np.nanmean(values, axis=1))


def test_labels_of_the_user_are_slices(pair):
    labels = {"domain": ["odd" if at % 2 else "even" for at in range(120)]}
    found = by_slice(compare(pair, labels=labels), "label")
    assert found["domain odd"]["n"] == found["domain even"]["n"] == 60


def test_labels_of_another_length_are_an_error(pair):
    with pytest.raises(DataError, match="2 values for 120 segments"):
        compare(pair, labels={"domain": ["a", "b"]})


def test_frequencies_come_from_a_file_of_text_or_from_counts(pair, tmp_path):
    path = tmp_path / "training.txt"
    path.write_text("the cat and the dog\n" * 600, "utf-8")
    counts = {"the": 1200, "cat": 600, "and": 600, "dog": 600}
    by_file = by_slice(compare(pair, frequencies=path), "frequency")
    by_counts = by_slice(compare(pair, frequencies=counts), "frequency")
    assert by_file == by_counts
    assert "seen 1000 times or more in the training corpus" in by_file


def test_phenomena_of_a_suite_have_its_accuracies(pair):
    suite, runs = read_demo_suite()
    spring = [run for run in runs if run.campaign == "spring"]
    result = assay.run_suite(suite, spring)
    found = by_slice(compare(pair, suite=result), "phenomenon")
    assert found
    verdicts = result.verdicts
    systems = [verdicts.systems.index(name) for name in ("birch", "atlas")]
    for name, record in found.items():
        items = [
            at
            for at, item in enumerate(verdicts.items)
            if name in (item.category, f"{item.category}: {item.phenomenon}")
        ]
        codes = verdicts.codes[systems][:, items]
        fair = codes[:, np.isin(codes, (PASS, FAIL)).all(axis=0)]
        expected = 100 * (fair == PASS).mean(axis=1)
        assert [record["value"], record["value_other"]] == pytest.approx(list(expected))
        assert record["n"] == fair.shape[1]
        assert record["share"] is None


def test_a_suite_without_outputs_of_a_system_is_an_error(demo):
    suite, runs = read_demo_suite()
    spring = [run for run in runs if run.campaign == "spring"]
    with pytest.raises(DataError, match="the suite has no outputs of cedar"):
        compare(demo, suite=assay.run_suite(suite, spring))


@pytest.fixture
def errors_file(tmp_path):
    """Ten segments rated: birch has a major error in names in each, atlas a minor one in two."""
    rows = ["system\tline\tcategory\tseverity"]
    for line in range(1, 11):
        rows.append(f"birch\t{line}\tAccuracy/Mistranslation\tMajor")
        rows.append(f"atlas\t{line}\tFluency/Grammar\tMinor" if line < 3
                    else f"atlas\t{line}\tNo-error\tno-error")  # fmt: skip
    rows.append("birch\t11\tStyle/Awkward\tMinor")
    path = tmp_path / "errors.tsv"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path


def test_errors_that_people_marked_are_counted_per_100_words(pair, errors_file):
    found = by_slice(compare(pair, errors=read_errors(errors_file, pair)), "human")
    # Segment 11 was rated for one system only.
    assert set(found) == {"Accuracy", "Fluency", "Major", "Minor"}
    words = sum(len(lines[0].split()) for lines in pair.references[:10])
    assert found["Accuracy"]["value"] == pytest.approx(100 * 10 / words)
    assert found["Accuracy"]["value_other"] == 0
    assert found["Accuracy"]["n"] == 10
    assert found["Accuracy"]["p"] == pytest.approx(2 / 2**10)
    assert found["Fluency"]["p"] is None


@pytest.mark.parametrize("line", ["0", "121", "x", ""])
def test_marked_errors_of_no_segment_are_an_error(pair, tmp_path, line):
    path = tmp_path / "errors.tsv"
    path.write_text(f"system\tline\tcategory\tseverity\natlas\t{line}\tA\tMinor\n", "utf-8")
    with pytest.raises(DataError, match=r"row 1: line .* is no segment from 1 to 120"):
        read_errors(path, pair)


def test_marked_errors_of_other_systems_only_are_an_error(pair, tmp_path):
    path = tmp_path / "errors.tsv"
    path.write_text("system\tline\tcategory\tseverity\nzebra\t1\tA\tMinor\n", "utf-8")
    with pytest.raises(DataError, match="no segment that was rated for all systems"):
        compare(pair, errors=read_errors(path, pair))


def test_one_system_is_not_enough(pair):
    with pytest.raises(MissingInput, match="at least two systems"):
        compare(with_outputs(pair, one=pair.systems["atlas"]))


def test_a_comparison_needs_references(pair):
    data = Dataset(dict(pair.systems), ((),) * 120, sources=pair.sources)
    with pytest.raises(MissingInput, match="a reference for every segment"):
        compare(data)


@pytest.mark.parametrize("level", [0, 1, 95])
def test_a_level_is_a_share(pair, level):
    with pytest.raises(DataError, match="give a share between 0 and 1"):
        compare(pair, level=level)


def test_a_higher_level_has_wider_intervals(pair):
    low, high = (by_slice(compare(pair, level=level), "label") for level in (0.8, 0.99))
    for name, record in low.items():
        if record["n"] > 1:
            assert high[name]["low"] < record["low"] <= record["high"] < high[name]["high"]


def test_lines_alone_are_enough(pair):
    """Neither sources nor documents nor languages."""
    references = tuple(lines[:1] for lines in pair.references)
    result = compare(Dataset(dict(pair.systems), references))
    assert result.records()
    assert not any(record["slice"].startswith("document") for record in result.records())
    assert any("copied left out" in note for note in result.notes)


CHINESE = ["他昨天没有来。", "会议在北京举行。", "价格上涨了5%。", "她说：“很好。”", "我们明天去。"]


def test_chinese_needs_no_tagger():
    references = [f"{line}这是第{at}句。" for at, line in enumerate(CHINESE * 12)]
    one = tuple(references)
    two = tuple(line.replace("。", ".").replace("没有", "") for line in references)
    data = Dataset({"one": one, "two": two}, tuple((r,) for r in references),
                   languages=("en", "zh"))  # fmt: skip
    result = assay.compare(data)
    assert any("no tagger for zh" in note for note in result.notes)
    assert by_slice(result, "words")["negations"]["p_adjusted"] < 0.05
    assert by_slice(result, "words")["punctuation"]["value"] < 50


def test_a_comparison_shows_itself_in_a_notebook(pair):
    shown = compare(pair)._repr_html_()
    assert "capitalised words" in shown
    assert "chrF2" in shown


def test_the_same_seed_gives_the_same_result(pair):
    one, other = (compare(pair, seed=5) for _ in range(2))
    assert one.records() == other.records()
    assert one.board.standings[0].intervals == other.board.standings[0].intervals


def test_the_text_names_the_number_of_tests_and_the_correction(pair):
    result = compare(pair)
    tested = sum(record["p"] is not None for record in result.records())
    assert f"{tested} tests: p by sign flips" in str(result)
    assert "Benjamini-Hochberg" in result.tests_note()


@needs_tagger
def test_tagged_words_are_looked_at_where_there_is_a_tagger(pair):
    found = by_slice(assay.compare(pair, ["chrf"], features=["upos"]), "words")
    assert found["upos:PROPN"]["value"] < found["upos:PROPN"]["value_other"]


@needs_tagger
def test_nobody_need_know_that_no_name_is_in_the_texts():
    lines = ("The cat sat on the mat.",) * 6
    outputs = {"old": lines, "new": ("A cat sits on a mat.",) * 6}
    result = assay.compare(Dataset(outputs, tuple((line,) for line in lines)), ["chrf"])
    kinds = {name.partition(":")[0] for name in by_slice(result, "words")}
    assert {"upos", "morph"} < kinds
    assert "ner" not in kinds
