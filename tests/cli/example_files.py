"""The files that the examples of the help texts name, laid out in the current folder."""

import gzip
import shutil
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.cli import main
from assay.data import Dataset
from assay.io import write_folder
from assay.store.results import ResultStore
from assay.store.runs import Observation
from assay.suites.store.decisions import save_decision
from assay.suites.store.opening import open_store
from assay.suites.store.people import add_person
from tests.cli.demo_suite import make_db
from tests.corpora import DEMO, demo

SYSTEMS = ("atlas", "birch", "cedar")

LIMITS = """[limits]
bleu = { worse = "never significantly" }
"slice:with a negation" = { min_difference = -5 }
"fault:empty" = { max = 0 }
"""
"""Limits that b keeps, compared with a."""

STUDY = """features = []
[data]
references = ["ref.txt"]
systems = ["a.txt", "b.txt"]
languages = "de-en"
"""


def lay_out_examples():
    """Everything, one kind of file after the other."""
    shutil.copytree(DEMO / "systems", "systems")
    _lay_out_tags()
    _lay_out_scores()
    _lay_out_folders()
    _lay_out_suite()
    _lay_out_retrieval()
    _lay_out_store()
    _lay_out_shards()
    _lay_out_candidates()
    Path("limits.toml").write_text(LIMITS)
    Path("study.toml").write_text(STUDY)


def _lay_out_shards():
    Path("corpus").mkdir()
    for system in SYSTEMS:
        columns = {"mt": demo(f"systems/{system}.txt"), "ref": demo("ref.A.txt")}
        pq.write_table(pa.table(columns), f"corpus/{system}.parquet")
        lines = ["mt\tref", *map("\t".join, zip(*columns.values(), strict=True))]
        Path(f"corpus/{system}.tsv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))


def _lay_out_candidates():
    """Four samples for each of three segments: plain, as Moses's list, and with weights."""
    samples = [f"the {a} cat {b}" for a in ("old", "young", "red") for b in ("sat", "sits") * 2]
    Path("samples.txt").write_text("".join(f"{line}\n" for line in samples))
    Path("nbest.txt").write_text(
        "".join(f"{at // 4} ||| {line} ||| 0.5 ||| -1\n" for at, line in enumerate(samples))
    )
    Path("nbest.tsv").write_text(
        "".join(f"{at // 4}\t{line}\t{at % 4 + 1}\n" for at, line in enumerate(samples))
    )


def _lay_out_tags():
    for new, old in (("ref", "ref"), ("a", "a"), ("b", "b"), ("sys", "a")):
        rows = [line.split() for line in Path(f"{old}.txt").read_text("utf-8").splitlines()]
        tags = [["NOUN" if word.istitle() else "VERB" for word in row] for row in rows]
        for ending, table in (("tok", rows), ("pos", tags)):
            text = "".join(f"{' '.join(row)}\n" for row in table)
            Path(f"{new}.{ending}").write_text(text, "utf-8")
        wrong = "".join(" ".join(str(int(word.istitle())) for word in row) + "\n" for row in rows)
        Path(f"{new}.tags").write_text(wrong, "utf-8")


def _lay_out_scores():
    """What people and COMET thought of the systems, under all names that they have here."""
    rng = np.random.default_rng(1)
    names = [*SYSTEMS, "a", "b", "c"]
    segments = {name: rng.normal(at % 3, 1, 120) for at, name in enumerate(names)}
    rows = [f"{n}\t{at}\t{z}\n" for n in names for at, z in enumerate(segments[n], 1)]
    Path("da.seg.tsv").write_text("system\tline\tz\n" + "".join(rows))
    rows = [f"{n}\t{values.mean()}\n" for n, values in segments.items()]
    Path("da.sys.tsv").write_text("system\tz\n" + "".join(rows))
    rows = [f"{name}\t{at}\t0.5\n" for name in "ab" for at in range(1, 121)]
    Path("comet.seg.tsv").write_text("system\tline\tscore\n" + "".join(rows))
    rows = [f"{n}\t{at}\t{at + 0.5}\t{30 + at % 4}\n" for at, n in enumerate("stuvwx")]
    Path("scores.tsv").write_text("system\thuman\tBLEU\tchrF\n" + "".join(rows))


def _lay_out_folders():
    """Test sets in mt-metrics-eval's layout, and in folders with human/ beside the texts."""
    texts = {name: tuple(demo(f"systems/{name}.txt")) for name in ("atlas", "birch")}
    references = tuple((line,) for line in demo("ref.A.txt"))
    documents = ("one",) * 60 + ("two",) * 60
    dataset = Dataset(texts, references, documents=documents, languages=("de", "en"))
    write_folder(dataset, "mt-metrics-eval/wmt21")
    for folder in ("folder", "wmt18/de-en", "wmt18/cs-en"):
        Path(folder, "human").mkdir(parents=True)
        shutil.copytree("systems", f"{folder}/systems")
        shutil.copy("ref.txt", f"{folder}/ref.txt")
        shutil.copy("src.txt", f"{folder}/src.txt")
        for name in ("da.sys.tsv", "da.seg.tsv"):
            shutil.copy(name, f"{folder}/human/{name}")


def _lay_out_suite():
    """The demo suite with two campaigns in suite.db, and a key for the three systems."""
    make_db()
    shutil.copy("spring/atlas.txt", "old.txt")
    shutil.copy("autumn/atlas.txt", "new.txt")
    for campaign in ("wmt21", "wmt22"):
        line = "suite run --db suite.db -i sysA.txt sysB.txt --ids item_ids.txt -q -o kept.json"
        assert main([*line.split(), "--campaign", campaign]) == 0
    _judge_first_output()
    rows = [f"{number}\ti{number}\tSatz {number}.\n" for number in range(1, 121)]
    Path("key.tsv").write_text("line\titem\tsource\n" + "".join(rows))
    Path("sheet.csv").write_text("German,Topic\nDer Bus kam.,Verbs\nEr schlief.,Verbs\n")


def _judge_first_output():
    """A decision, so that there is one to export."""
    with closing(open_store("suite.db")) as store, store.write() as connection:
        person = add_person(connection, "Ada")
        save_decision(connection, 1, person.id, "pass", seen=0)


def _lay_out_store():
    """A store with two runs: atlas with all kinds of figures, and then a alone."""
    store, references = ResultStore("runs"), tuple((line,) for line in demo("ref.A.txt"))
    figures = [
        ("metric", "BLEU", "bleu"),
        ("metric", "chrF2", "chrf"),
        ("slice", "with a number", "chrF2"),
        ("fault", "numbers", "segments"),
        ("phenomenon", "Negation", "accuracy"),
    ]
    for system in ("atlas", "a"):
        dataset = Dataset({system: tuple(demo("systems/atlas.txt"))}, references)
        seen = [Observation(system, *each, each[2], 50.0, 45.0, 55.0, 120) for each in figures]
        store.add_dataset_run("score", dataset, seen)


def _lay_out_retrieval():
    Path("queries.tsv").write_text("q1\tcity council\nq2\tthe doctor\n")
    Path("qrels.txt").write_text("q1 0 council 1\n")
