"""What is wrong with a shard is told in one line, with its name and the place in it."""

import errno
import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.data import DataError
from assay.io import packed
from assay.scale import readers
from assay.scale.shards import score_shards

GOOD = pa.table({"mt": ["a b"], "ref": ["a b"]})


def refused(path, *metrics, **options):
    with pytest.raises(DataError) as caught:
        score_shards(path, metrics or ("bleu",), **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


TEXTS = {
    "a.tsv": ("mt\tref\na\tb\na\n", "a.tsv, line 3: 1 cells, but the header names 2 columns"),
    "b.tsv": ("mt\tmt\na\tb\n", "b.tsv, line 1: two columns are called 'mt'"),
    "c.tsv": ("mt\tref\n", "c.tsv has no rows"),
    "d.tsv": ("", "d.tsv is empty"),
    "e.tsv": ("x\ty\na\tb\n", "e.tsv: no column hypothesis (or mt). Columns: x, y"),
    "f.tsv": (b"mt\tref\na\t\xff\n", "f.tsv, line 2, byte 3: not UTF-8 (0xff)"),
    "g.csv": ('mt,ref\n"a,b\n', "g.csv, line 2: a cell in quotes does not end well"),
    "h.jsonl": ('{"mt": "a", "ref": "b"}\n{"mt"\n', "h.jsonl, line 2: not JSON"),
    "i.jsonl": ('{"mt": "a", "ref": "b"}\n{"mt": 5, "ref": "b"}\n', "i.jsonl, line 2: 'mt' is 5"),
    "j.jsonl": ('{"mt": "a", "ref": "b"}\n\n{"ref": "b"}\n', "j.jsonl, line 3: 'mt' is missing"),
    "k.jsonl": ("\n", "k.jsonl: no column hypothesis"),
    "l.jsonl": ('{"mt": "\\ud800", "ref": "b"}\n', "l.jsonl, line 1: 'mt' has half a character"),
    "k2.jsonl": ('{"mt": "a", "\\ud800": 1}\n', "k2.jsonl, line 1: the key '\\ud800' has half a"),
    "m.jsonl": ('{"mt": "a", "ref": []}\n', "m.jsonl, line 1: no reference, which bleu compares"),
    "n.parquet": (b"PAR1 no", "n.parquet is damaged or not Parquet"),
    "o.arrow": (b"nothing", "o.arrow is damaged or not Arrow"),
    "p.tsv.gz": (b"plain", "p.tsv.gz: damaged or not gz data"),
    "q.tsv.gz": (
        gzip.compress(b"mt\tref\n" + b"a\tb\n" * 9999)[:40],
        "q.tsv.gz: damaged or not gz",
    ),
    "r.tsv.xz": (b"plain", "r.tsv.xz: damaged or not xz data"),
    "s.tsv.zst": (b"plain", "s.tsv.zst: damaged or not zst data"),
    "t.txt": ("a\n", "t.txt: shards are .parquet, .arrow,"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_bad_file_is_named_with_its_line(tmp_path, name):
    content, message = TEXTS[name]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert f"{tmp_path}/{message}" in refused(tmp_path / name)


def test_a_bad_file_among_good_ones_is_named(tmp_path):
    for name in "abc":
        pq.write_table(GOOD, tmp_path / f"{name}.parquet")
    pq.write_table(GOOD.rename_columns(["mt", "gold"]), tmp_path / "b.parquet")
    assert refused(f"{tmp_path}/*") == f"{tmp_path}/b.parquet: no column 'ref'. Columns: mt, gold."


def test_an_empty_shard_is_named(tmp_path):
    pq.write_table(GOOD, tmp_path / "a.parquet")
    pq.write_table(GOOD.slice(0, 0), tmp_path / "b.parquet")
    assert "b.parquet has no rows" in refused(f"{tmp_path}/*")


def test_a_cut_parquet_file_is_named(tmp_path):
    pq.write_table(GOOD, tmp_path / "a.parquet")
    (tmp_path / "a.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-9])
    assert "a.parquet is damaged or not Parquet" in refused(tmp_path / "a.parquet")


def test_an_arrow_file_whose_texts_end_elsewhere_is_refused(tmp_path):
    path, table = tmp_path / "s.arrow", pa.table({"mt": ["one two", "four"], "ref": ["a", "b"]})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    ends = np.array([0, 7, 11], np.int32).tobytes()
    data = path.read_bytes()
    assert data.count(ends) == 1
    path.write_bytes(data.replace(ends, np.array([0, 2**30, 11], np.int32).tobytes()))
    assert f"{path} is damaged or not Arrow (" in refused(path)
    path.write_bytes(data.replace(b"ref", b"r\xccf"))
    assert f"{path} is damaged or not Arrow (" in refused(path)


def test_a_parquet_file_whose_texts_are_not_utf_8_is_refused(tmp_path):
    path, texts = tmp_path / "s.parquet", pa.array([b"one", b"\xe5"]).view(pa.string())
    pq.write_table(pa.table({"mt": texts, "ref": ["a", "b"]}), path)
    assert f"{path} is damaged or not Parquet (" in refused(path)


def test_a_row_of_parquet_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "ROWS", 3)
    pq.write_table(
        pa.table({"mt": [*"abcdefg", None], "ref": [*"abcdefgh"]}), tmp_path / "a.parquet"
    )
    assert f"{tmp_path}/a.parquet, row 8: 'mt' is missing." == refused(tmp_path / "a.parquet")


def test_what_is_not_there_is_told(tmp_path):
    assert f"{tmp_path}/*.parquet: no file matches it" in refused(f"{tmp_path}/*.parquet")
    assert "there is no such file" in refused(f"{tmp_path}/a.parquet")
    assert f"is a folder; name its files: '{tmp_path}/*'" in refused(tmp_path)
    assert "no shards given" in refused([])


def test_far_away_places_that_do_not_answer_are_told():
    assert "nowhere://a/b.parquet cannot be reached" in refused("nowhere://a/b.parquet")


def test_two_shards_of_one_name_are_refused(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        pq.write_table(GOOD, tmp_path / folder / "a.parquet")
    paths = [tmp_path / "x" / "a.parquet", tmp_path / "y" / "a.parquet"]
    assert "would both be called a in the output" in refused(paths, out=tmp_path / "out")
    # Without an output they need no name.
    assert score_shards(paths, ["chrf"]).segments == 2 * len(GOOD)


def test_inputs_are_never_overwritten(tmp_path):
    pq.write_table(GOOD, tmp_path / "a.parquet")
    before = (tmp_path / "a.parquet").read_bytes()
    assert "is one of the inputs" in refused(tmp_path / "a.parquet", out=tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    assert "is one of the inputs" in refused(tmp_path / "a.parquet", out=tmp_path / "link")
    assert (tmp_path / "a.parquet").read_bytes() == before


def test_a_failed_shard_leaves_nothing_half_written(tmp_path):
    lines = [json.dumps({"mt": "a", "ref": "a"})] * 5 + ["{"]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    out = tmp_path / "out"
    assert "line 6: not JSON" in refused(tmp_path / "a.jsonl", out=out)
    assert [path for path in out.rglob("*") if path.is_file()] == []


def test_keys_that_come_late_do_not_get_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "FIRST_RECORDS", 2)
    lines = [{"mt": "a", "ref": "a"}] * 3 + [{"mt": "a", "ref": "a", "x": 1}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert "line 4: 'x' is a key" in refused(
        tmp_path / "a.jsonl", out=tmp_path / "o", where="bleu>0"
    )
    assert score_shards(tmp_path / "a.jsonl").segments == 4


def test_conditions_are_checked_before_anything_is_scored(tmp_path):
    pq.write_table(GOOD, tmp_path / "a.parquet")
    path, out = tmp_path / "a.parquet", tmp_path / "out"
    assert "there is no chrf" in refused(path, out=out, where="chrf > 20")
    assert "where 'bleu'" in refused(path, out=out, where="bleu")
    assert "pass out=" in refused(path, where="bleu > 20")
    assert not out.exists()


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "LONGEST_LINE", 2**20)
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b"mt\tref\n" + bytes(2**22)))
    assert "a.tsv.gz, line 2: more than 1 MB without a line break" in refused(tmp_path / "a.tsv.gz")


def test_a_file_that_unpacks_to_far_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "ALWAYS", 10**6)
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(bytes(10**7)))
    message = refused(tmp_path / "a.parquet.gz")
    assert "a.parquet.gz becomes more than 100 times as large when it is unpacked" in message


def test_the_limit_holds_at_every_point_of_a_packed_file(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "ALWAYS", 10**6)
    tail = np.random.default_rng(1).bytes(10**6)
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(bytes(2 * 10**7) + tail))
    assert "a.parquet.gz becomes more than 100 times" in refused(tmp_path / "a.parquet.gz")


def test_no_room_to_unpack_is_not_called_damage(tmp_path, monkeypatch):
    def full(*given, **named):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(b"x"))
    monkeypatch.setattr(readers.Expansion, "check", full)
    message = refused(tmp_path / "a.parquet.gz")
    assert "cannot be unpacked in" in message
    assert "TMPDIR=FOLDER" in message
