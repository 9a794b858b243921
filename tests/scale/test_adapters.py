"""The adapters of docs/cluster.md, as they stand there, on the engines that are installed."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import assay
from tests.corpora import demo

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cluster.md"
FILTER_AT = 50.0


def code(title):
    """The block of Python under a heading."""
    section = PAGE.read_text("utf-8").split(f"\n### {title}\n")[1]
    return re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]


@pytest.fixture
def table():
    return pa.table(
        {
            "id": [str(at) for at in range(120)],
            "mt": demo("systems/atlas.txt"),
            "ref": demo("ref.A.txt"),
            "src": demo("src.txt"),
        }
    )


@pytest.fixture
def folder(table, tmp_path):
    for number in range(2):
        pq.write_table(table.slice(60 * number, 60), tmp_path / f"{number}.parquet")
    return str(tmp_path)


@pytest.fixture
def wanted(table):
    """The scores of every segment, by `assay.score` on all lines at once."""
    lines = {"a": table["mt"].to_pylist()}
    scored = assay.score(lines, [table["ref"].to_pylist()], ["chrf"], by_segment=True)
    return scored.by_metric[0].segments[0].tolist()


def scores_of(title, folder, *, start="", end=""):
    """What the adapter gives, in the order of the ids; engines leave threads behind."""
    show = 'print("\\nSCORES", json.dumps({row["id"]: row["chrf"] for row in rows}))'
    script = f"import json\nfolder = {folder!r}\n{start}\n{code(title)}\n{end}\n{show}"
    # Spark's workers would be whatever python3 is.
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    scores = json.loads(re.search(r"^SCORES (.*)$", done.stdout, re.MULTILINE)[1])
    return [scores[str(at)] for at in range(120)]


def test_ray_data(folder, wanted):
    pytest.importorskip("ray.data", reason="needs: pip install 'ray[data]'")
    assert scores_of("Ray Data", folder, end="rows = scored.take_all()") == wanted


def test_spark(folder, wanted):
    pytest.importorskip("pyspark.sql", reason="needs: pip install pyspark")
    if shutil.which("java") is None:
        pytest.skip("needs Java")
    start = (
        "from pyspark.sql import SparkSession\n"
        'spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)'
        '.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()\n'
    )
    end = "rows = scored.collect(); spark.stop()"
    assert scores_of("Spark", folder, start=start, end=end) == wanted


def test_datatrove(table, wanted):
    pytest.importorskip("datatrove", reason="needs: pip install datatrove")
    from datatrove.data import Document

    names = {}
    exec(code("datatrove"), names)
    rows = table.to_pylist()
    documents = [Document(row["mt"], row["id"], metadata={"ref": row["ref"]}) for row in rows]
    step = names["ChrfFilter"](least=FILTER_AT, batch_size=32)
    kept = [document.id for document in step.run(documents)]
    assert kept == [str(at) for at, score in enumerate(wanted) if score >= FILTER_AT]
    assert 0 < len(kept) < 120
    assert step.filter(documents[0]) == (wanted[0] >= FILTER_AT)


def test_opusfilter(table, wanted):
    pytest.importorskip("opusfilter", reason="needs: pip install opusfilter")
    names = {}
    exec(code("OpusFilter"), names)
    chosen = names["ChrfFilter"](threshold=FILTER_AT)
    pairs = list(zip(table["mt"].to_pylist(), table["ref"].to_pylist(), strict=True))
    assert list(chosen.score(iter(pairs))) == wanted
    assert list(chosen.decisions(pairs)) == [score >= FILTER_AT for score in wanted]
    assert list(chosen.filter(pairs[:3])) == [
        pair for pair, score in zip(pairs[:3], wanted, strict=False) if score >= FILTER_AT
    ]
