"""Vectors are kept: in memory up to a limit, in a folder on request, and never as pickles."""

import json

import numpy as np
import pytest

from assay.data import DataError
from assay.metrics.neural.encoders import DiskCache, MemoryCache
from tests.corpora import demo
from tests.metrics.neural.tiny import needs_models, save_tiny_bert

LINES = demo("ref.A.txt", 8)


def block(value, rows=2, width=4):
    return np.full((rows, width), value, np.float32)


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)


def test_the_latest_vectors_are_kept_as_long_as_there_is_room():
    kept = MemoryCache(room=3 * block(0).nbytes)
    kept.write("states", {str(at): block(at) for at in range(3)})
    kept.read("states", ["0"])
    kept.write("states", {"3": block(3)})
    assert kept.read("states", map(str, range(4))).keys() == {"0", "2", "3"}
    assert kept.size == 3 * block(0).nbytes
    kept.write("states", {"4": block(4, rows=7)})
    assert (len(kept), kept.size) == (0, 0)


def test_writing_the_same_text_again_takes_no_more_room():
    kept = MemoryCache()
    for value in range(5):
        kept.write("vectors", {"a": block(value)})
    assert kept.size == block(0).nbytes
    assert kept.read("vectors", ["a"])["a"][0, 0] == 4
    assert kept.read("states", ["a"]) == {}


def test_what_is_on_disk_comes_back_also_in_another_process_s_place(tmp_path):
    states = {text: block(at, rows=at + 1) for at, text in enumerate(["a", "b", "\ud800", ""])}
    vectors = {text: rows[0] for text, rows in states.items()}
    first = DiskCache(tmp_path, "some encoder")
    first.write("states", states)
    first.write("vectors", vectors)
    second = DiskCache(tmp_path, "some encoder")
    assert same(second.read("states", [*states, "c"]), states)
    assert same(second.read("vectors", states), vectors)
    first.write("states", {"c": block(9)})
    assert same(second.read("states", ["c"]), {"c": block(9)})


def test_encoders_do_not_share_vectors(tmp_path):
    DiskCache(tmp_path, "one").write("states", {"a": block(1)})
    assert DiskCache(tmp_path, "another").read("states", ["a"]) == {}


def test_pickles_are_not_read(tmp_path):
    kept = DiskCache(tmp_path, "some encoder")
    kept.write("states", {"a": block(1)})
    (path,) = kept.folder.glob("*.npy")
    np.save(path, np.array([[Unpickled()]], object), allow_pickle=True)
    assert DiskCache(tmp_path, "some encoder").read("states", ["a"]) == {}
    assert not Unpickled.was


class Unpickled:
    was = False

    def __setstate__(self, state):
        type(self).was = True

    def __getstate__(self):
        return {"some": "state"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"keys": ["a"]}', '{"keys": 1, "rows": 2}'])
def test_a_damaged_index_counts_as_absent(tmp_path, text):
    kept = DiskCache(tmp_path, "some encoder")
    kept.write("states", {"a": block(1)})
    kept.write("states", {"b": block(2)})
    first = next(p for p in kept.folder.glob("*.json") if len(json.loads(p.read_text())["keys"]))
    gone = DiskCache(tmp_path, "some encoder").read("states", ["a", "b"]).keys()
    first.write_text(text)
    left = DiskCache(tmp_path, "some encoder").read("states", ["a", "b"]).keys()
    assert (len(gone), len(left)) == (2, 1)


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY"])
def test_a_damaged_array_counts_as_absent(tmp_path, content):
    kept = DiskCache(tmp_path, "some encoder")
    kept.write("states", {"a": block(1)})
    (path,) = kept.folder.glob("*.npy")
    path.write_bytes(content)
    assert DiskCache(tmp_path, "some encoder").read("states", ["a"]) == {}


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"vectors cannot be kept there .* ASSAY_CACHE"):
        DiskCache(tmp_path / "file", "some encoder")


@needs_models
def test_an_encoder_reads_from_disk_what_another_one_wrote(tmp_path, monkeypatch):
    from assay.metrics.neural.encoders import encoder_named

    folder = save_tiny_bert(tmp_path / "model")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "kept"))
    first = encoder_named(folder)
    states, vectors = first.states(LINES), first.vectors(LINES)
    assert not list(tmp_path.glob("kept/vectors/*/*.draft"))
    other = encoder_named(folder, batch=3)
    assert other is not first
    calls = []
    other._module.register_forward_pre_hook(lambda *given: calls.append(given))
    assert all(map(np.array_equal, other.states(LINES), states))
    assert np.array_equal(other.vectors(LINES), vectors)
    assert calls == []
    lower = encoder_named(folder, layer=1)
    assert not np.array_equal(lower.states(LINES)[0], states[0])


@needs_models
def test_nothing_is_written_unless_asked_for(tmp_path, monkeypatch):
    from assay.metrics.neural.encoders import encoder_named

    folder = save_tiny_bert(tmp_path / "model")
    monkeypatch.delenv("ASSAY_CACHE", raising=False)
    monkeypatch.chdir(tmp_path)
    encoder_named(folder).states(LINES)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
