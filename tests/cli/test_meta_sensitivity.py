"""`assay meta sensitivity` on the command line: both stages, what is asked besides, bad input."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.agreement import studies
from tests.corpora import DEMO

KEYS = ["metric", "system", "quality", "sensitivity", "low", "high"]
TEXTS = "ref.txt -i systems/s0.txt systems/s1.txt systems/s2.txt systems/s3.txt systems/s4.txt"
LINE = f"meta sensitivity {TEXTS} --docs docs.tsv --human da.seg.tsv --resamples 40"


@pytest.fixture
def files(here):
    """Five systems, documents, and human scores of segments, documents and systems."""
    texts = studies.dataset(systems=5)
    values = studies.ratings(texts)
    for name in ("ref.txt", "docs.tsv"):
        Path(name).unlink()
    Path("systems").mkdir()
    _lines("ref.txt", [line for (line,) in texts.references])
    _lines("docs.tsv", ["line\tdoc_id", *(f"{n}\t{d}" for n, d in enumerate(texts.documents, 1))])
    for name, lines in texts.systems.items():
        _lines(f"systems/{name}.txt", lines)
    rows = [
        f"{name}\t{at + 1}\t{values[s, at]}"
        for s, name in enumerate(texts.systems)
        for at in range(len(texts))
        if not math.isnan(values[s, at])
    ]
    _lines("da.seg.tsv", ["system\tline\tz", *rows])
    means = np.nanmean(values, axis=1)
    systems = [f"{name}\t{means[s]}" for s, name in enumerate(texts.systems)]
    _lines("da.sys.tsv", ["system\tz", *systems])
    documents = [f"{n}\t{d}\t{s + t}" for s, n in enumerate(texts.systems)
                 for t, d in enumerate(dict.fromkeys(texts.documents))]  # fmt: skip
    _lines("whole.doc.tsv", ["system\tdoc_id\tz", *documents])
    return here


def _lines(path, lines):
    Path(path).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def records(ran):
    assert (ran.status, ran.err) == (0, "")
    return json.loads(ran.out)["records"]


def test_every_system_has_a_record_and_every_metric_one_for_the_second_stage(run, files):
    found = records(run(f"{LINE} -m bleu chrf macrof --format json"))
    assert all(list(each)[:6] == KEYS for each in found)
    assert [each["system"] for each in found[:6]] == ["s0", "s1", "s2", "s3", "s4", None]
    assert [each["metric"] for each in found if each["system"] is None] == [
        *("bleu", "chrf", "macrof"),
    ]
    second = found[5]
    assert second["quality"] is None
    assert second["low"] <= second["sensitivity"] <= second["high"]


def test_the_human_file_stands_among_the_inputs(run, files):
    inputs = json.loads(run(f"{LINE} --format json").out)["inputs"]
    assert [each["path"] for each in inputs][-2:] == ["docs.tsv", "da.seg.tsv"]


def test_one_seed_gives_one_output(run, files):
    first, again = (run(f"{LINE} -m bleu --best --sizes --format json") for _ in range(2))
    other = run(f"{LINE} -m bleu --best --sizes --format json --seed 7")
    assert first.out == again.out
    assert json.loads(first.out)["records"] != json.loads(other.out)["records"]


@pytest.mark.parametrize("form", ["text", "json", "tsv", "latex", "html"])
def test_every_format_shows_everything(run, files, form):
    pytest.importorskip("vl_convert", reason="needs: pip install 'assay-mt[report]'")
    ran = run(f"{LINE} -m bleu ter --best --sizes 50 100 --slope s1 --format {form}")
    assert (ran.status, ran.err) == (0, "")
    # LaTeX has the one table that a paper prints.
    assert ("s4" if form != "latex" else "given spread") in ran.out


def test_the_text_says_how_far_to_trust_it(run, files):
    out = " ".join(run(f"{LINE} -m bleu").out.split())
    assert "With 5 systems nothing can be concluded from the second stage alone" in out
    assert "human scores: means of the rated segments in da.seg.tsv." in out


def test_sections_need_no_documents(run, files):
    found = records(
        run(
            f"meta sensitivity {TEXTS} --section 4 --human da.seg.tsv -m chrf --resamples 40 "
            "--format json"
        )
    )
    assert found[0]["n"] == len(Path("ref.txt").read_text().splitlines()) // 4


def test_scores_of_documents_do_as_well(run, files):
    found = records(run(f"{LINE} -m chrf --format json".replace("da.seg", "whole.doc")))
    assert {each["n"] for each in found if each["system"]} == {9}
    assert {each["human"] for each in found} == {"whole"}


def test_two_kinds_of_human_score_have_a_result_each(run, files):
    found = records(run(f"{LINE} --human whole.doc.tsv -m chrf --format json"))
    second = [each for each in found if each["system"] is None]
    assert [each["human"] for each in second] == ["da", "whole"]


def test_a_reference_among_the_systems_is_left_out_and_said(run, files):
    Path("systems/Human-A.txt").write_text(Path("ref.txt").read_text())
    line = LINE.replace("-i ", "-i systems/Human-A.txt ")
    ran = run(f"{line} -m bleu")
    assert "left out (human translations): Human-A." in ran.out
    kept = records(run(f"{line} -m bleu --humans in --format json"))
    assert kept[0]["system"] == "Human-A"
    assert kept[0]["reason"] == "people rated none of its texts"


def test_systems_without_ratings_are_null_with_a_reason(run, files):
    rows = Path("da.seg.tsv").read_text().splitlines()
    _lines("da.seg.tsv", [row for row in rows if not row.startswith("s2\t")])
    found = records(run(f"{LINE} -m bleu --format json"))
    assert found[2]["sensitivity"] is found[2]["quality"] is None
    assert found[2]["reason"] == "people rated none of its texts"
    assert found[5]["n"] == 4


def test_scores_from_elsewhere_are_another_metric(run, files):
    rows = [f"s{s}\t{at / 7 % 1}" for s in range(5) for at in range(_segments())]
    _lines("comet.seg.score", rows)
    found = records(run(f"{LINE} -m bleu --scores comet.seg.score --format json"))
    assert {each["metric"] for each in found} == {"bleu", "comet"}


def test_less_can_be_better_in_given_scores(run, files):
    plain = records(run(f"{LINE} -m bleu --format json"))
    turned = records(run(f"{LINE} -m bleu --lower da --format json"))
    assert turned[0]["sensitivity"] == pytest.approx(-plain[0]["sensitivity"])
    assert turned[0]["quality"] == pytest.approx(-plain[0]["quality"])


def _segments():
    return len(Path("ref.txt").read_text().splitlines())


BAD = {
    "no texts": (LINE.replace("--docs docs.tsv", ""), "give document ids with --docs FILE"),
    "no human scores": (LINE.replace("--human da.seg.tsv", ""), "name a file with scores of"),
    "systems only": (
        LINE.replace("da.seg", "da.sys"),
        "needs human scores of segments (a column line) or documents (doc_id), but da.sys.tsv "
        "has scores of systems",
    ),
    "documents for sections": (
        LINE.replace("--docs docs.tsv", "--docs docs.tsv --section 4").replace(
            "da.seg", "whole.doc"
        ),
        "needs human scores of segments",
    ),
    "no correlation": (f"{LINE} --coefficient accuracy", "sensitivity is a correlation"),
    "unknown coefficient": (f"{LINE} --coefficient pearsn", "did you mean 'pearson'?"),
    "unknown reference system": (f"{LINE} --slope s9", "no such system"),
    "too many words": (f"{LINE} --sizes 99999999", "the test set has"),
    "impossible agreement": (f"{LINE} --sizes --reach 1.5", "between -1 and 1"),
    "unknown metric": (f"{LINE} -m blue", "did you mean 'bleu'?"),
    "no resamples": (f"{LINE} --resamples 0", "at least 1"),
    "system scores of a metric": (f"{LINE} --scores da.sys.tsv", "scores of segments are needed"),
    "output over input": (f"{LINE} -o da.seg.tsv", "is one of the inputs"),
}


@pytest.mark.parametrize(("line", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_line_that_says_what_to_do(refusal, files, line, message):
    assert message in refusal(line)


def test_a_rating_of_a_segment_that_is_not_there_is_refused(refusal, files):
    with Path("da.seg.tsv").open("a") as file:
        file.write("s1\t9999\t0.5\n")
    assert "there is no segment 9999" in refusal(LINE)


def test_human_scores_of_unknown_systems_are_refused(refusal, files):
    _lines("da.seg.tsv", ["system\tline\tz", "nobody\t1\t0.5"])
    assert "none of the systems" in refusal(LINE)


@pytest.mark.parametrize(
    ("folder", "reference", "systems"),
    [("wmt20/en-de", "ref.txt", 14), ("wmt21/de-en", "ref.A.txt", 19)],
)
def test_real_systems_give_the_figures_of_the_documentation(
    run, shared, folder, reference, systems
):
    home = shared / folder
    outputs = sorted(map(str, (home / "systems").glob("*.txt")))
    found = records(
        run(
            "meta sensitivity",
            str(home / reference),
            "-i",
            *outputs,
            *("--docs", str(home / "docs.tsv"), "--human", str(home / "human/da.seg.tsv")),
            *("-m", "bleu", "chrf", "--resamples", "100", "--format", "json"),
        )
    )
    second = [each for each in found if each["system"] is None]
    assert [each["n"] for each in second] == [systems] * 2
    assert [each["sensitivity"] for each in second] == pytest.approx(DOCUMENTED[folder], abs=5e-4)
    assert [each["tendency"] for each in second] == [
        "falls" if folder == "wmt20/en-de" else "cannot tell"
    ] * 2


DOCUMENTED = {"wmt20/en-de": [-0.749, -0.692], "wmt21/de-en": [0.172, 0.187]}


def test_names_in_the_output_are_a_metric_like_any_other(run):
    pytest.importorskip("spacy", reason="needs: pip install 'assay-mt[tag]'")
    line = "meta sensitivity ref.txt -i a.txt b.txt c.txt --names atlas birch cedar --docs docs.tsv"
    human = ["--human", str(DEMO / "human" / "da.seg.tsv")]
    found = records(run(f"{line} -l de-en -m bleu entities:types=all --format json", *human))
    names = [each for each in found if each["metric"] == "entities:types=all"]
    assert [each["system"] for each in names] == ["atlas", "birch", "cedar", None]
    assert all(each["sensitivity"] is not None for each in names)


def test_every_table_has_the_signatures_and_scores_alone_add_no_metric(run, files):
    ran = run(f"{LINE} -m bleu chrf --best")
    tables = ran.out.split("\n\n")
    assert len(tables) > 3
    for table in tables:
        assert "\nBLEU|nrefs:1|case:mixed|" in table
        assert "\nchrF2|nrefs:1|" in table
    found = records(run(f"{LINE} --scores da.seg.tsv -f json"))
    assert {each["metric"] for each in found} == {"da"}
