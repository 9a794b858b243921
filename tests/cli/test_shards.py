"""`assay score --shards`: the command does what `assay.score_shards` does."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import assay
from tests.corpora import demo


@pytest.fixture
def shards(here):
    for at, system in enumerate(("atlas", "birch")):
        write(f"part-{at}.parquet", demo(f"systems/{system}.txt"), demo("ref.A.txt"))
    return here


def write(path, hypotheses, references):
    pq.write_table(pa.table({"mt": hypotheses, "ref": references}), path)


def scores(ran):
    return [record["score"] for record in json.loads(ran.out)["records"]]


def test_the_scores_are_those_of_one_file(run, shards):
    ran = run("score -m bleu chrf macrof -f json --shards", "part-*.parquet")
    lines = [*demo("systems/atlas.txt"), *demo("systems/birch.txt")]
    known = assay.score({"mt": lines}, [demo("ref.A.txt") * 2], ["bleu", "chrf", "macrof"])
    assert (ran.status, ran.err) == (0, "")
    assert scores(ran) == [record["score"] for record in known.records()]
    inputs = json.loads(ran.out)["inputs"]
    assert [(each["path"], each["segments"]) for each in inputs] == [
        ("part-0.parquet", 120),
        ("part-1.parquet", 120),
    ]


def test_shards_that_the_shell_has_found_are_taken_too(run, shards):
    ran = run("score --shards part-0.parquet part-1.parquet -m chrf --workers 1 -b")
    one = run("score -m chrf -b --shards", "part-?.parquet")
    assert ran == one
    assert ran.status == 0


def test_a_second_run_says_what_the_first_has_done(run, shards):
    run("score -m chrf --out scores --shards", "part-*")
    ran = run("score -m chrf --out scores --shards", "part-*")
    assert ran.out.startswith("240 segments in 2 shards, 2 of them scored by an earlier run.\n")
    other = run("score -m bleu --out scores --shards", "part-*")
    assert "assay: note: part-0.parquet (and 1 more) was scored with other metrics" in other.err
    assert run("score -q -m chrf --out scores --shards", "part-*").err == ""


def test_rows_that_pass_are_written(run, shards):
    ran = run(
        "score -m bleu chrf --out good --shards", "part-*", "--where", "chrf > 60 and bleu > 40"
    )
    kept = pq.read_table("good")
    assert ran.status == 0
    assert f"{len(kept)} rows" in ran.out
    assert 0 < len(kept) < 240
    assert min(kept["chrf"].to_pylist()) > 60
    assert kept.column_names == ["mt", "ref", "bleu", "chrf"]


def test_runs_of_shards_are_in_the_history(run, shards):
    def score(name, *options):
        line = "score --shards part-0.parquet part-1.parquet -m chrf -f json --store runs --run"
        ran = run(line, name, *options)
        assert ran.status == 0
        return scores(ran)

    atlas, birch = (demo(f"systems/{name}.txt") for name in ("atlas", "birch"))
    references = demo("ref.A.txt")
    first, again = score("monday", "--out", "scores"), score("tuesday", "--out", "scores")
    write("part-0.parquet", birch, references)
    second = score("wednesday")
    write("part-0.parquet", atlas, references[::-1])
    other = score("thursday")
    seen = json.loads(run("history runs -m chrf -f json").out)["records"]
    assert [each["value"] for each in seen] == [*first, *again, *second, *other]
    assert [each["change"] for each in seen] == [None, 0, second[0] - again[0], None]
    assert [each["test_set_sha256"] == seen[0]["test_set_sha256"] for each in seen] == [
        *[True] * 3, False,
    ]  # fmt: skip
    assert {each["n"] for each in seen} == {240}
    assert {each["low"] for each in seen} == {None}
    assert "interval" not in run("history runs -m chrf").out
    Path("limits.toml").write_text("[limits]\nchrf = { min_difference = -1 }\n")
    line = "check ref.txt --candidate a.txt --limits limits.toml --baseline run:monday --store runs"
    assert "none with these references" in run(line).err


def test_columns_tokenizer_and_limits_are_those_of_other_scores(run, here):
    table = pa.table({"out": demo("systems/atlas.txt"), "gold": demo("ref.A.txt")})
    pq.write_table(table, "a.parquet")
    line = "score --shards a.parquet --columns hypothesis=out reference=gold -tok char -lc"
    ran = run(f"{line} -f json")
    assert "case:lc|eff:no|tok:char" in json.loads(ran.out)["records"][0]["signature"]
    assert run(f"{line} --fail-under bleu=99").status == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--shards none/*.parquet", "none/*.parquet: no file matches it. Check the path."),
        ("--shards a.txt", "a.txt: shards are .parquet, .arrow, .feather"),
        ("--shards part-0.parquet -i a.txt", "-i does not go with --shards"),
        ("--shards part-0.parquet --paired-bs", "--paired-bs does not go with --shards"),
        ("--shards part-0.parquet --run tuesday", "--run names a run in a store"),
        ("--shards part-0.parquet -sl", "segment scores are written with --out"),
        ("--shards part-0.parquet --where chrf>20", "name a folder with --out"),
        ("--shards part-0.parquet --where chrf>20 --out o", "there is no chrf"),
        ("--shards part-0.parquet --where bleu> --out o", "where 'bleu>': the end, but here comes"),
        ("--shards part-0.parquet --out .", "part-0.parquet is one of the inputs"),
        ("--shards part-0.parquet --columns hypothesis=x", "part-0.parquet: no column 'x'"),
        ("--shards part-0.parquet --columns system=x", "no part 'system' here"),
        ("--shards part-0.parquet --workers 0", "--workers: give at least 1, not 0"),
        ("--shards part-0.parquet --fail-under chrf=5", "chrf is not scored"),
        ("ref.txt -i a.txt --out o", "--out goes with --shards."),
        ("ref.txt -i a.txt --where bleu>5", "--where goes with --shards."),
    ],
)
def test_what_cannot_be_is_told_in_one_line(refusal, shards, line, message):
    assert message in refusal(f"score {line}")
