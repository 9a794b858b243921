"""The command `assay meta retrieval`."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from scipy.stats import kendalltau

from assay.io import read_documents, read_lines
from assay.metrics.base import parse
from tests.corpora import DEMO

FIELDS = [
    *("system", "metric", "resolved", "measure", "coefficient"),
    *("value", "p", "n", "human", "reason"),
]


@pytest.fixture
def asked(here):
    """Queries and judgements for the small test set: a word of each document's first line."""
    documents, lines = read_documents("docs.tsv"), read_lines("ref.txt")
    first = {}
    for document, line in zip(documents, lines, strict=True):
        first.setdefault(document, line)
    queries = {
        f"q{at}": (document, " ".join(content_words(line)))
        for at, (document, line) in enumerate(first.items())
    }
    rows = [f"{query}\t{words}\n" for query, (_, words) in queries.items()]
    Path("queries.tsv").write_text("".join(rows), encoding="utf-8")
    rows = [f"{query} 0 {document} 1\n" for query, (document, _) in queries.items()]
    Path("qrels.txt").write_text("".join(rows), encoding="utf-8")
    shutil.copytree(DEMO / "systems", "systems")
    return queries


def content_words(line):
    return [word for word in re.findall(r"\w+", line.lower()) if len(word) > 3][:8]


def records(ran):
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)["records"]
    assert all(list(record) == FIELDS for record in found)
    return found


def values(found, **wanted):
    """The values of the records in which these fields are so."""
    return [r["value"] for r in found if all(r[key] == each for key, each in wanted.items())]


def test_the_line_of_the_issue_works_as_written(run, asked):
    systems = " ".join(sorted(map(str, Path("systems").glob("*.txt"))))
    line = (
        f"meta retrieval --documents docs.tsv --queries queries.tsv --qrels qrels.txt -i {systems}"
    )
    ran = run(f"{line} ref.txt --format json")
    found = records(ran)
    assert [r["system"] for r in found if r["measure"] == "map" and r["system"]] == [
        "atlas",
        "birch",
        "cedar",
        "ref",
    ]
    assert values(found, system="ref", measure="rbo") == [pytest.approx(1.0)]
    assert [r["human"] for r in found if r["measure"] == "map"][:4] == [False, False, False, True]
    correlated = [r for r in found if r["coefficient"]]
    assert {r["n"] for r in correlated} == {3}
    assert {r["metric"] for r in correlated} == {"bleu", "macrof", "microf", "chrf"}
    assert {r["measure"] for r in correlated} == {"map", "ndcg", "aqwv", "rbo"}
    given = {Path(each["path"]).name for each in json.loads(ran.out)["inputs"]}
    assert {"docs.tsv", "queries.tsv", "qrels.txt", "ref.txt", "atlas.txt"} <= given


def test_a_reference_before_the_systems_is_the_same_human_translation(run, asked):
    rest = "--documents docs.tsv --queries queries.tsv -m bleu"
    after = run(f"meta retrieval {rest} -f json -i a.txt b.txt c.txt ref.txt")
    before = run(f"meta retrieval ref.txt {rest} -f json -i a.txt b.txt c.txt")
    assert records(after) == records(before)


def test_names_stay_with_their_systems(run, asked):
    rest = "--documents docs.tsv --queries queries.tsv --measure map -m bleu -f json"
    ran = run(f"meta retrieval {rest} -i a.txt ref.txt b.txt --names one human two")
    assert [r["system"] for r in records(ran) if r["measure"] == "map" and r["system"]] == [
        "one",
        "two",
        "ref",
    ]


def test_without_a_human_translation_judgements_are_enough(run, asked):
    line = "meta retrieval --documents docs.tsv --queries queries.tsv --qrels qrels.txt -i a.txt"
    ran = run(f"{line} b.txt")
    assert ran.status == 0
    assert "no human translation: no RBO" in ran.out
    assert not re.search("BLEU|Kendall", ran.out)
    same = run(f"{line} b.txt ref.txt --measure map -f json")
    alone = run(f"{line} b.txt --measure map -f json")
    assert values(records(alone), measure="map") == values(records(same), measure="map")[:2]


def test_scores_from_elsewhere_are_correlated_like_a_metric(run, asked):
    Path("ter.tsv").write_text("system\tscore\na\t3\nb\t2\nc\t1\n")
    line = "meta retrieval ref.txt -i a.txt b.txt c.txt --docs docs.tsv --queries queries.tsv"
    found = records(run(f"{line} --scores ter.tsv --measure map -f json"))
    assert values(found, metric="ter", measure=None) == [3.0, 2.0, 1.0]
    theirs = kendalltau([-3, -2, -1], values(found, measure="map", metric=None)[:3]).statistic
    assert values(found, metric="ter", measure="map") == [pytest.approx(theirs)]


def test_the_page_has_a_map_and_points(run, asked):
    line = "meta retrieval ref.txt -i a.txt b.txt c.txt --docs docs.tsv --queries queries.tsv"
    assert run(f"{line} -m bleu ter -o page.html").status == 0
    page = Path("page.html").read_text("utf-8")
    assert "Kendall" in page
    assert "MAP against BLEU" in page
    assert "TER, less is better" in page


def test_the_output_does_not_depend_on_the_hash_seed(spawn, asked):
    line = "meta retrieval ref.txt -i a.txt b.txt --docs docs.tsv --queries queries.tsv"
    one, two = (spawn(line, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert (one.status, one.err) == (0, "")
    assert one == two


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-i a.txt ref.txt --docs docs.tsv", "what is searched for? Give the queries"),
        (
            "-i a.txt ref.txt --queries queries.tsv",
            "retrieval searches documents, not segments: give document ids",
        ),
        ("--docs docs.tsv --queries queries.tsv", "no translation to search in"),
        (
            "-i a.txt --docs docs.tsv --queries queries.tsv",
            "what is relevant?",
        ),
        (
            "-i a.txt --docs docs.tsv --queries queries.tsv --qrels qrels.txt --measure rbo",
            "rbo compares with the human translation",
        ),
        (
            "-i a.txt --docs docs.tsv --queries queries.tsv --qrels queries.tsv",
            "queries.tsv, line 1: ",
        ),
        ("-i a.txt ref.txt --docs docs.tsv --queries none.tsv", "none.tsv does not exist"),
        (
            "-i a.txt ref.txt --docs docs.tsv --queries queries.tsv --measure mpa",
            "unknown measure 'mpa'",
        ),
        (
            "-i a.txt ref.txt --docs docs.tsv --queries queries.tsv --coefficient tua",
            "unknown coefficient 'tua'",
        ),
        ("-i a.txt ref.txt --docs docs.tsv --queries queries.tsv --b 2", "bm25:b=2: k1 is at"),
        (
            "-i a.txt ref.txt --docs docs.tsv --queries queries.tsv -o queries.tsv",
            "-o queries.tsv is one of the inputs",
        ),
        ("-i a.txt --docs trec.xml --queries queries.tsv", "trec.xml holds the documents"),
    ],
)
def test_bad_input_is_refused_in_one_line(refusal, asked, line, message):
    Path("trec.xml").write_text("<doc><docno>1</docno><text>a</text></doc>")
    assert refusal(f"meta retrieval {line}").startswith(message)


@pytest.mark.parametrize("package", ["bm25s", "ir_measures"])
def test_a_missing_package_is_named_with_its_remedy(refusal, asked, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    line = "meta retrieval -i a.txt ref.txt --docs docs.tsv --queries queries.tsv"
    assert "pip install 'assay-mt[ir]'" in refusal(line)


def test_ids_that_do_not_fit_are_told(run, asked):
    with Path("qrels.txt").open("a") as file:
        file.write("q0 0 nowhere 1\nstranger 0 nowhere 1\n")
    with Path("queries.tsv").open("a") as file:
        file.write("unjudged\tword\n")
    ran = run(
        "meta retrieval -i a.txt ref.txt --docs docs.tsv --queries queries.tsv --qrels qrels.txt"
    )
    assert ran.status == 0
    assert [line.removeprefix("assay: note: ")[:35] for line in ran.err.splitlines()] == [
        f"1 query of {len(asked) + 1} left out, without a re"[:35],
        "judgements of 1 query left out that",
        "1 relevant document not in the coll",
    ]


def test_cranfield_is_searched_as_it_is(run, shared):
    folder = shared / "cranfield"
    line = f"meta retrieval --documents {folder / 'cran.all.1400.xml'}"
    line += f" --queries {folder / 'cran.qry.xml'} --qrels {folder / 'cranqrel.trec.txt'}"
    ran = run(f"{line} --number-queries --measure map ndcg -f json")
    assert ran.err == ""
    found = {r["measure"]: (r["value"], r["n"]) for r in records(ran)}
    assert found == {
        "map": (pytest.approx(0.28176, abs=5e-6), 225),
        "ndcg": (pytest.approx(0.53361, abs=5e-6), 225),
    }
    assert "--number-queries" in run(f"{line} --measure map").err


@pytest.fixture
def wmt21(shared, here):
    """The documents of newstest2021 and a query from each one's first line in reference A."""
    folder = shared / "wmt21" / "de-en"
    first = {}
    for document, line in zip(
        read_documents(folder / "docs.tsv"), read_lines(folder / "ref.A.txt"), strict=True
    ):
        first.setdefault(document, line)
    rows = [f"q{at}\t{' '.join(content_words(line))}\n" for at, line in enumerate(first.values())]
    Path("queries.tsv").write_text("".join(rows), encoding="utf-8")
    return folder


def test_a_translated_collection_is_searched_from_end_to_end(run, wmt21):
    systems = sorted((wmt21 / "systems").glob("*.txt"))
    ran = run(
        f"meta retrieval --documents {wmt21 / 'docs.tsv'} --queries queries.tsv -f json "
        "-m bleu chrf macrof --measure map rbo -i",
        *map(str, systems),
        str(wmt21 / "ref.A.txt"),
    )
    found = records(ran)
    names = [path.stem for path in systems]
    for measure in ("map", "rbo"):
        *machines, human = values(found, measure=measure, metric=None)
        assert human == pytest.approx(1.0)
        assert len(machines) == len(names) == 19
        assert all(0.7 < value < 0.9 for value in machines)
        for metric in ("bleu", "chrf", "macrof"):
            scores = values(found, metric=metric, measure=None)
            theirs = kendalltau(scores, machines)
            (told,) = (r for r in found if (r["metric"], r["measure"]) == (metric, measure))
            assert (told["value"], told["p"]) == pytest.approx((theirs.statistic, theirs.pvalue))
            assert (told["coefficient"], told["n"]) == ("kendall", 19)
    reference = [read_lines(wmt21 / "ref.A.txt")]
    bleu = parse("bleu").corpus_score(read_lines(systems[0]), reference).score
    assert values(found, system=names[0], metric="bleu") == [pytest.approx(bleu)]


def test_a_second_human_translation_is_measured_against_the_first(run, wmt21):
    ran = run(
        f"meta retrieval {wmt21 / 'ref.A.txt'} {wmt21 / 'ref.B.txt'} "
        f"-i {wmt21 / 'systems' / 'UF.txt'} --documents {wmt21 / 'docs.tsv'} "
        "--queries queries.tsv -f json -m bleu --measure rbo"
    )
    told = {r["system"]: r["value"] for r in records(ran) if r["human"]}
    assert told == {"ref.A": pytest.approx(1.0), "ref.B": pytest.approx(0.81, abs=0.01)}


def test_both_tables_have_the_signatures(run, asked):
    line = "meta retrieval ref.A.txt -i a.txt b.txt c.txt --docs docs.tsv --queries queries.tsv"
    tables = run(f"{line} --measure map -m bleu").out.split("\n\n")
    assert len(tables) == 2
    assert all("\nBLEU|nrefs:1|case:mixed|" in table for table in tables)
