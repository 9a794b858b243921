"""Rows in a store: nothing is scored twice, and no figure changes."""

import json
import os
import pickle
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import assay
from assay.data import DataError, Dataset, Segment, StoreWarning
from assay.demo import read_demo
from assay.metrics.base import Metric, Statistics, parse, system_statistics
from assay.store.packing import DamagedError, lines_digest, pack, unpack
from assay.store.results import ResultStore, use_store
from assay.store.rows import unpack_rows

SPECIFICATIONS = (
    "bleu",
    "chrf:word_order=2",
    "macrof",
    "microf:unit=char,max_order=2,lowercase=yes",
    "ter",
    "cer",
    "rougeL",
    "fault:numbers",
    "random",
    "boost:metric=chrf,explainer=erasure",
)


@dataclass(frozen=True)
class Counting(Metric):
    """The length of an output, as a neural metric gives scores; it remembers what it was given."""

    name: ClassVar[str] = "counting"
    scale: ClassVar[str] = "0-1"
    seen: ClassVar[list[str]] = []
    calls: ClassVar[list[int]] = []

    power: float = 1.0

    def rows(self, segments):
        self.seen.extend(each.hypothesis for each in segments)
        self.calls.append(len(segments))
        values = [(len(each.hypothesis) / 300) ** self.power for each in segments]
        return np.column_stack([values, np.ones(len(values))])

    def aggregate(self, sums):
        return sums[:, 0] / sums[:, 1]


@dataclass(frozen=True)
class ByColumn(Counting):
    """The same with rows that lie in memory column by column, so that they add up otherwise."""

    name: ClassVar[str] = "by_column"

    def rows(self, segments):
        return np.asfortranarray(super().rows(segments))


@pytest.fixture(autouse=True)
def _forgotten():
    Counting.seen.clear()
    Counting.calls.clear()


def small(*names, count=40, text=lambda line: line):
    """The first segments of the demonstration with some of its systems."""
    data = read_demo()
    return Dataset(
        {name: tuple(map(text, data.systems[name][:count])) for name in names},
        data.references[:count],
        sources=data.sources[:count],
        languages=("de", "en"),
    )


def same(one, other):
    """Whether the rows are the same to the last bit, in the same form."""
    if hasattr(one, "indptr"):
        return one.shape == other.shape and all(
            np.array_equal(getattr(one, part), getattr(other, part))
            and getattr(one, part).dtype == getattr(other, part).dtype
            for part in ("data", "indices", "indptr")
        )
    return one.dtype == other.dtype and np.array_equal(one, other)


def test_a_tenth_system_costs_one_scoring(tmp_path):
    lines = read_demo().systems["atlas"][:20]
    systems = {f"s{number}": tuple(f"{line} {number}" for line in lines) for number in range(10)}
    nine = replace(small("atlas", count=20), systems=dict(list(systems.items())[:9]))
    ten = replace(nine, systems=systems)
    assay.score(nine, [Counting()], store=tmp_path)
    assert Counting.calls == [180]
    Counting.seen.clear()
    result = assay.score(ten, [Counting()], store=tmp_path)
    assert Counting.calls == [180, 20]
    assert tuple(Counting.seen) == systems["s9"]
    assert result.records() == assay.score(ten, [Counting()]).records()


def test_equal_outputs_are_scored_once_whatever_they_are_called(tmp_path):
    data = small("atlas")
    twins = replace(data, systems={"a": data.systems["atlas"], "b": tuple(data.systems["atlas"])})
    with use_store(tmp_path):
        one, other = system_statistics(twins, Counting())
        assert (Counting.calls, one.corpus()) == ([40], other.corpus())
        system_statistics(data, Counting())
    assert Counting.calls == [40]


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_rows_are_the_same_to_the_last_bit_with_and_without_a_store(tmp_path, specification):
    metric = parse(specification)
    count = 12 if specification.startswith("boost") else 40
    data = small("atlas", "birch", "cedar", count=count)
    plain = system_statistics(data, metric)
    with use_store(tmp_path):
        system_statistics(small("birch", count=count), metric)
        mixed = system_statistics(data, metric)
        loaded = system_statistics(data, metric)
    for one, *others in zip(plain, mixed, loaded, strict=True):
        for other in others:
            assert same(one.rows, other.rows)
            assert one.corpus() == other.corpus()
            assert np.array_equal(one.without_each(), other.without_each(), equal_nan=True)


@pytest.mark.parametrize("metric", [Counting(), ByColumn()], ids=str)
def test_sums_are_added_up_in_the_same_order(tmp_path, metric):
    data = small("atlas", "birch", "cedar", count=120)
    plain = system_statistics(data, metric)
    with use_store(tmp_path):
        system_statistics(small("cedar", count=120), metric)
        loaded = system_statistics(data, metric)
    assert [each.corpus() for each in plain] == [each.corpus() for each in loaded]


def test_a_result_is_the_same_with_intervals_tests_and_parts(tmp_path):
    data = small("atlas", "birch", "cedar")
    data = replace(data, groups=("x", "y") * 20)
    options = {"confidence": True, "test": "bootstrap", "by_group": True, "by_segment": True}
    plain = assay.score(data, ["bleu", "macrof"], **options)
    assay.score(replace(data, systems={"cedar": data.systems["cedar"]}), ["bleu", "macrof"],
                store=tmp_path)  # fmt: skip
    stored = assay.score(data, ["bleu", "macrof"], **options, store=tmp_path)
    assert stored.records() == plain.records()
    assert str(stored) == str(plain)


def test_types_beyond_the_first_plane_and_half_characters_keep_their_order(tmp_path):
    words = ["\U0001f600", "\uffee", "\ue000", "z", "é", "\ud800", "Z\n", "\x00"]
    data = Dataset({"a": (" ".join(words), "z"), "b": ("é \U0001f600", words[1])},
                   ((" ".join(reversed(words)),), ("é",)))  # fmt: skip
    metric = parse("macrof:tok=none")
    plain = system_statistics(data, metric)
    with use_store(tmp_path):
        system_statistics(replace(data, systems={"b": data.systems["b"]}), metric)
        loaded = system_statistics(data, metric)
    assert all(same(one.rows, other.rows) for one, other in zip(plain, loaded, strict=True))


@pytest.mark.parametrize("metric", ["bleu", "chrf", "macrof", "ter"])
def test_texts_without_any_words_are_kept_too(tmp_path, metric):
    data = Dataset({"a": ("", " "), "b": ("", "")}, (("",), ("",)))
    plain = assay.score(data, [metric])
    for _ in range(2):
        assert assay.score(data, [metric], store=tmp_path).records() == plain.records()
    assert len(entries(tmp_path)) == 2


def changed_reference(data):
    return replace(data, references=(("another", *data.references[0][1:]), *data.references[1:]))


def changed_source(data):
    return replace(data, sources=("another", *data.sources[1:]))


def moved_line_break(data):
    """The same letters in the same order, cut at another place."""
    first, second, *rest = data.systems["atlas"]
    return replace(data, systems={"atlas": (first + second[:1], second[1:], *rest)})


@pytest.mark.parametrize("change", [changed_reference, changed_source, moved_line_break])
def test_other_texts_are_scored_anew(tmp_path, change):
    data = small("atlas")
    assay.score(data, [Counting()], store=tmp_path)
    assay.score(change(data), [Counting()], store=tmp_path)
    assert Counting.calls == [40, 40]


def test_another_setting_is_scored_anew(tmp_path):
    data = small("atlas")
    for power in (1.0, 2.0, 1.0):
        assay.score(data, [Counting(power=power)], store=tmp_path)
    assert Counting.calls == [40, 40]


def test_changed_code_and_changed_files_are_noticed(tmp_path, monkeypatch):
    plain = ResultStore(tmp_path / "store")
    data = small("atlas")
    before = plain.key(data, Counting(), "atlas")
    assert plain.key(data, Counting(), "atlas") == before
    module = tmp_path / "changed.py"
    module.write_text("# other code\n")
    monkeypatch.setattr(f"{__name__}.__file__", str(module))
    after = plain.key(data, Counting(), "atlas")
    assert after != before
    module.write_text("# other code again\n")
    assert plain.key(data, Counting(), "atlas") not in (before, after)


def test_a_metric_without_a_file_is_scored_every_time(tmp_path, monkeypatch):
    monkeypatch.delattr(f"{__name__}.__file__")
    data = small("atlas", "birch")
    for _ in range(2):
        with pytest.warns(StoreWarning, match="counting is not kept: its code is in no file"):
            result = assay.score(data, [Counting()], store=tmp_path)
    assert result.records() == assay.score(data, [Counting()]).records()
    assert not list((tmp_path / "rows").glob("*/*"))


def entries(folder, part="rows"):
    return sorted((folder / part).glob("*/*.npz"))


def truncated(data):
    return data[: len(data) // 2]


def flipped(data):
    place = len(data) // 3
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def emptied(data):
    return b""


def pickled(data):
    return pickle.dumps(["never"])


@pytest.mark.parametrize("damage", [truncated, flipped, emptied, pickled])
@pytest.mark.parametrize("specification", ["bleu", "macrof"])
def test_a_damaged_entry_is_told_and_scored_anew(tmp_path, specification, damage):
    data = small("atlas", "birch")
    plain = assay.score(data, [specification], store=tmp_path)
    for path in entries(tmp_path):
        path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(StoreWarning, match="is damaged and not used") as told:
        again = assay.score(data, [specification], store=tmp_path)
    assert len(told) == 2
    assert "\n" not in str(told[0].message)
    assert again.records() == plain.records()
    assert assay.score(data, [specification], store=tmp_path).records() == plain.records()


def test_an_entry_under_the_key_of_another_is_not_believed(tmp_path):
    data = small("atlas", "birch")
    plain = assay.score(data, ["bleu"], store=tmp_path)
    one, other = entries(tmp_path)
    one.write_bytes(other.read_bytes())
    with pytest.warns(StoreWarning, match="it is of something else"):
        assert assay.score(data, ["bleu"], store=tmp_path).records() == plain.records()


class Hostile:
    """Would make a file where it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_nothing_in_a_store_is_ever_executed(tmp_path):
    store, trap = tmp_path / "store", tmp_path / "trap"
    data = small("atlas")
    plain = assay.score(data, ["bleu"], store=store)
    (path,) = entries(store)
    with path.open("wb") as file:
        np.savez(file, rows=np.array([Hostile(trap)], object), about=np.zeros(1))
    with pytest.warns(StoreWarning, match="damaged"):
        assert assay.score(data, ["bleu"], store=store).records() == plain.records()
    assert not trap.exists()


def test_an_entry_of_lists_in_lists_without_end_is_damaged(tmp_path):
    store, key = ResultStore(tmp_path), "0" * 64
    deep = np.frombuffer(b"[" * 100_000 + b"]" * 100_000, np.uint8)
    path = tmp_path / "rows" / "00" / f"{key}.npz"
    path.parent.mkdir(parents=True)
    path.write_bytes(pack({"about": deep, "rows": np.zeros((2, 1))}))
    with pytest.warns(StoreWarning, match="damaged"):
        assert store.rows([key], 2) is None


def test_an_entry_that_unpacks_to_more_than_there_can_be_is_damaged():
    data = pack({"rows": np.zeros((1000, 1000))})
    assert len(data) < 20_000
    with pytest.raises(DamagedError, match="more than there can be"):
        unpack(data, most=1_000_000)
    assert unpack(data, most=9_000_000)["rows"].shape == (1000, 1000)


@pytest.mark.parametrize("specification", ["bleu", "macrof"])
def test_whatever_stands_in_an_entry_is_rows_or_damaged(tmp_path, specification):
    """Arrays of other kinds and shapes under a right checksum, as somebody hostile may write."""
    data = small("atlas", count=5)
    assay.score(data, [specification], store=tmp_path)
    (path,) = entries(tmp_path)
    arrays = unpack(path.read_bytes(), most=10**8)
    about = json.loads(arrays["about"].tobytes())
    others = [
        lambda array: array[: len(array) // 2],
        lambda array: array.astype("c16"),
        lambda array: array.astype("U5"),
        lambda array: np.zeros((2, 2, 2)),
        lambda array: np.zeros(0),
        lambda array: -np.ones_like(array, dtype=np.int64),
        lambda array: np.full_like(array, 2**31 - 1, dtype=np.int64),
    ]
    count = 0
    for name in arrays.keys() - {"about"}:
        for change in others:
            hostile = unpack(pack({**arrays, name: change(arrays[name])}), most=10**8)
            try:
                found = unpack_rows(hostile, about, 5)
            except DamagedError:
                count += 1
            else:
                statistics = Statistics(parse(specification), found.rows)
                assert len(statistics) == 5
    assert count > 3


def test_the_kernel_never_sees_places_that_are_not_there(tmp_path):
    data = small("atlas")
    plain = assay.score(data, ["macrof"], store=tmp_path)
    (path,) = entries(tmp_path)
    arrays = unpack(path.read_bytes(), most=10**8)
    arrays["indices"] = arrays["indices"] + 10**6
    path.write_bytes(pack(arrays))
    with pytest.warns(StoreWarning, match="damaged"):
        assert assay.score(data, ["macrof"], store=tmp_path).records() == plain.records()


def test_a_link_in_the_place_of_an_entry_is_replaced_and_not_followed(tmp_path):
    data, victim = small("atlas"), tmp_path / "victim.txt"
    assay.score(data, ["bleu"], store=tmp_path / "store")
    (path,) = entries(tmp_path / "store")
    victim.write_text("mine")
    path.unlink()
    path.symlink_to(victim)
    with pytest.warns(StoreWarning, match="damaged"):
        assay.score(data, ["bleu"], store=tmp_path / "store")
    assert victim.read_text() == "mine"


def test_rows_that_cannot_be_written_cost_a_warning_and_nothing_else(tmp_path):
    data = small("atlas", "birch")
    ResultStore(tmp_path)
    (tmp_path / "rows").write_text("a file where a folder should be")
    with pytest.warns(StoreWarning, match="cannot be written") as told:
        result = assay.score(data, ["bleu", "chrf"], store=tmp_path)
    assert [str(each.message).endswith("Nothing is kept.") for each in told] == [True]
    assert result.records() == assay.score(data, ["bleu", "chrf"]).records()


def test_a_folder_with_other_things_is_no_store(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(DataError, match=r"no store, but has other files \(thesis.tex\)"):
        ResultStore(tmp_path)
    with pytest.raises(DataError, match="is a file; a store is a folder"):
        ResultStore(tmp_path / "thesis.tex")


def test_a_store_of_a_newer_version_is_left_alone(tmp_path):
    ResultStore(tmp_path)
    (tmp_path / "assay-store.json").write_text('{"store": 2}')
    with pytest.raises(DataError, match="newer version"):
        ResultStore(tmp_path)


def test_names_of_files_are_digests_whatever_systems_are_called(tmp_path):
    names = ("../../x", "con", "a:b|c?*", "x" * 300, "two\nlines", "\ud800", "")
    lines = small("atlas").systems["atlas"]
    outputs = {name: tuple(f"{line} {at}" for line in lines) for at, name in enumerate(names)}
    data = replace(small("atlas"), systems=outputs)
    store = tmp_path / "deep" / "store"
    assay.score(data, ["bleu"], store=store, run_name="../../up\n")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(store in path.parents for path in files)
    allowed = set("abcdefghijklmnopqrstuvwxyzTZ0123456789.-")
    assert all(set(path.name) <= allowed for path in files)
    (run,) = ResultStore(store).runs()
    assert run.systems == list(names)
    assert run.name == "../../up\n"


def test_prune_removes_what_was_not_used_and_leaves_runs(tmp_path):
    data = small("atlas", "birch")
    assay.score(data, ["bleu"], store=tmp_path)
    old = entries(tmp_path) + entries(tmp_path, "texts")
    left_over = tmp_path / "rows" / ".0123.tmp"
    left_over.write_bytes(b"half")
    for path in (*old, left_over):
        os.utime(path, (1, 1))
    assay.score(small("birch"), ["bleu"], store=tmp_path)  # which is used again
    removed = ResultStore(tmp_path).prune(30)
    assert removed.files == 3
    assert len(entries(tmp_path)) == len(entries(tmp_path, "texts")) == 1
    assert len(list((tmp_path / "runs").glob("*.jsonl"))) == 2
    assert ResultStore(tmp_path).prune(30) == (0, 0)


def test_other_analyses_take_rows_from_the_store_too(tmp_path):
    data = small("atlas", "birch")
    assay.score(data, [Counting()], store=tmp_path)
    favored = assay.favor(data, Counting(), store=tmp_path)
    compared = assay.compare(data, [Counting()], features=(), store=tmp_path)
    assert Counting.calls == [80]
    assert favored.records() == assay.favor(data, Counting()).records()
    assert compared.records() == assay.compare(data, [Counting()], features=()).records()


def test_retrieval_takes_rows_from_the_store_too(tmp_path):
    pytest.importorskip("bm25s")
    data = read_demo()
    queries = {"1": "vote of the town council"}
    assay.score(data, [Counting()], store=tmp_path)
    found = assay.retrieval(data, [Counting()], queries=queries, store=tmp_path)
    assert len(Counting.calls) == 1
    assert found.records() == assay.retrieval(data, [Counting()], queries=queries).records()


def test_without_a_store_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assay.score(small("atlas"), ["bleu"])
    assert list(Path().iterdir()) == []


def test_digests_tell_where_a_line_ends():
    assert lines_digest(["ab", ""]) != lines_digest(["a", "b"]) != lines_digest(["", "ab"])
    assert lines_digest([]) != lines_digest([""])
    assert lines_digest(("a",)) == lines_digest(["a"])


def test_a_segment_without_a_reference_is_refused_as_without_a_store(tmp_path):
    data = Dataset({"a": ("x", "y")}, (("x",), ()))
    with pytest.raises(DataError, match="segment 2 has none") as plain:
        assay.score(data, ["bleu"])
    with pytest.raises(DataError) as stored:
        assay.score(data, ["bleu"], store=tmp_path)
    assert str(stored.value) == str(plain.value)
    assert Segment("x", ())  # a segment may have none: metrics that need one say so
