"""`assay compare` on the command line."""

import json
from pathlib import Path

import pytest

from tests.cli.example_files import lay_out_examples

BASE = "compare ref.txt -i a.txt b.txt -F none"


def records(ran):
    assert (ran.status, json.loads(ran.out)["assay"] != "") == (0, True)
    return json.loads(ran.out)["records"]


def slices(ran):
    return {record["slice"] for record in records(ran)}


def test_the_line_of_the_documents_works_as_written(run):
    ran = run("compare ref.txt -i a.txt b.txt -s src.txt --docs docs.tsv -l de-en --format json")
    found = records(ran)
    assert {"document council", "domain politics"} <= {record["slice"] for record in found}
    first = found[0]
    assert (first["system"], first["other"], first["rank"]) == ("b", "a", 1)
    inputs = [each["path"] for each in json.loads(ran.out)["inputs"]]
    assert inputs == ["ref.txt", "a.txt", "b.txt", "src.txt", "docs.tsv"]


def test_the_verdict_stands_above_the_tables(run):
    out = run(f"{BASE} -n 2").out
    verdict, scoreboard, findings = (
        out.index("b is worse than a"),
        out.index("Scoreboard"),
        out.index("Where they differ"),
    )
    assert verdict < scoreboard < findings
    assert "numbers lost or made up" in out


def test_so_many_findings_are_shown_and_records_have_all(run):
    few, many = run(f"{BASE} -n 1").out, run(f"{BASE} -n 20").out
    assert len(few) < len(many)
    assert slices(run(f"{BASE} -n 1 --format json")) == slices(run(f"{BASE} --format json"))


def test_the_first_metric_scores_the_segments(run):
    ran = run(f"{BASE} -m ter bleu --format json")
    assert {each["metric"] for each in records(ran) if each["kind"] == "text"} == {"TER"}


def test_labels_are_the_columns_of_a_table(run):
    rows = [f"{at}\t{'short' if at % 2 else 'long'}\t\n" for at in range(120, 0, -1)]
    Path("labels.tsv").write_text("line\tkind\tempty\n" + "".join(rows))
    found = records(run(f"{BASE} --labels labels.tsv --format json"))
    (part,) = [each for each in found if each["slice"] == "kind short"]
    assert part["n"] == 60
    assert all(segment % 2 for segment in part["segments"])
    assert not any(each["slice"].startswith(("empty", "line")) for each in found)


def test_groups_and_frequencies_make_slices(run):
    Path("groups.txt").write_text("news\n" * 60 + "sport\n" * 60)
    ran = run(f"{BASE} --groups groups.txt --frequencies src.txt --format json")
    assert {"group news", "group sport"} <= slices(ran)


def test_people_and_suites_are_further_evidence(run):
    lay_out_examples()
    marks = [f"{name}\t{at}\tAccuracy/Omission\tmajor\n" for name in "ab" for at in range(1, 40)]
    marks += [f"a\t{at}\tno-error\t\n" for at in range(40, 121)]
    marks += [f"b\t{at}\tAccuracy\tminor\n" for at in range(40, 121)]
    Path("errors.tsv").write_text("system\tline\tcategory\tseverity\n" + "".join(marks))
    suite = "--suite items.json sysA.txt sysB.txt --ids item_ids.txt"
    ran = run(f"{BASE} --errors errors.tsv --human da.seg.tsv {suite} --format json")
    kinds = {record["kind"] for record in records(ran)}
    assert {"human", "phenomenon"} <= kinds
    assert "outputs taken as those of a, b, in this order" in ran.err
    assert "b is better than a by da (" in run(f"{BASE} --human da.seg.tsv").out


def test_a_folder_brings_its_human_scores(run):
    lay_out_examples()
    ran = run("compare --data folder -i atlas birch -F none -m chrf -l de-en")
    assert (ran.status, "da.seg" in ran.out) == (0, True)


def test_all_pairs(run):
    line = "compare ref.txt -i a.txt b.txt c.txt -F none --format json"
    pairs = {(each["system"], each["other"]) for each in records(run(line))}
    assert pairs == {("b", "a"), ("c", "a")}
    pairs = {(each["system"], each["other"]) for each in records(run(f"{line} --all-pairs"))}
    assert len(pairs) == 3


def test_the_confidence_level_is_of_the_intervals(run):
    wide, narrow = (
        records(run(f"{BASE} --confidence-level {level} --format json"))[0] for level in (0.99, 0.5)
    )
    assert wide["low"] < narrow["low"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("compare ref.txt -i a.txt", "a comparison needs at least two systems"),
        (f"{BASE} --labels ref.txt", "Give one row per segment"),
        (f"{BASE} --labels nowhere.tsv", "nowhere.tsv"),
        (f"{BASE} --ids ids.txt", "--ids goes with --suite"),
        (f"{BASE} --suite items.json", "name the outputs of the systems, too"),
        (f"{BASE} --errors docs.tsv", "no segment that was rated for all systems"),
        (f"{BASE} --confidence-level 95", "share between 0 and 1"),
        (f"{BASE} -m blue", "did you mean 'bleu'"),
    ],
)
def test_bad_input_is_told_in_one_line(refusal, line, message):
    assert message in refusal(line)
