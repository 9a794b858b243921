"""`assay cache`: what is kept, where, and how it goes."""

import json
import sqlite3

import pytest

from assay.features.annotation import Annotation
from assay.features.cache import AnnotationCache, default_path
from assay.version import __version__


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache with two pipelines, in the place where the command looks."""
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "kept"))
    cache = AnnotationCache(default_path(), warn=pytest.fail)
    cache.write("spacy:big-1:3", {f"{at}": Annotation((f"{at}",)) for at in range(300)})
    cache.write("spacy:small-1:3", {"a": Annotation(("a",))})
    return cache


def test_the_cache_is_shown_by_pipeline(run, cache):
    ran = run("cache")
    assert (ran.status, ran.err) == (0, "")
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["pipeline", "annotations", "MB"] in lines
    assert ["spacy:big-1:3", "300", "0.01"] in lines
    assert ["spacy:small-1:3", "1", "0.00"] in lines
    assert ["all", "301", "0.01"] in lines
    assert f"in {cache.path}" in ran.out


def test_records_have_all_figures(run, cache):
    shown = json.loads(run("cache --format json").out)
    assert shown["assay"] == __version__
    assert shown["records"] == [
        {
            "pipeline": each.identity,
            "annotations": each.annotations,
            "bytes": each.bytes,
            "path": str(cache.path),
        }
        for each in cache.contents()
    ]


def test_an_empty_cache_is_shown_and_cleared_without_fuss(run, monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "none"))
    for line in ("cache", "cache clear"):
        ran = run(line)
        assert (ran.status, ran.err) == (0, "")
        assert "(no rows)" in ran.out
        assert f"in {tmp_path / 'none'}" in ran.out
    assert not (tmp_path / "none").exists()


def test_clearing_says_what_it_removed(run, cache):
    removed = json.loads(run("cache clear --format json").out)["records"]
    assert [(each["pipeline"], each["annotations"]) for each in removed] == [
        ("spacy:big-1:3", 300),
        ("spacy:small-1:3", 1),
    ]
    assert cache.contents() == []
    assert run("cache clear").out.startswith("Removed\n")


def test_clearing_can_spare_what_is_new(run, cache):
    database = sqlite3.connect(cache.path)
    with database:
        database.execute("UPDATE annotations SET made = made - 10 * 86400 WHERE rowid <= 100")
    database.close()
    assert json.loads(run("cache clear --older-than 11 -f json").out)["records"] == []
    (removed,) = json.loads(run("cache clear --older-than 9 -f json").out)["records"]
    assert removed["annotations"] == 100
    assert sum(each.annotations for each in cache.contents()) == 201


def test_an_age_without_clearing_is_refused(refusal, cache):
    assert "--older-than goes with clear" in refusal("cache --older-than 3")
    assert len(cache.contents()) == 2


@pytest.mark.parametrize("line", ["cache clean", "cache clear --older-than -1", "cache clear x"])
def test_a_slip_clears_nothing(refusal, cache, line):
    assert "See: assay cache --help" in refusal(line)
    assert len(cache.contents()) == 2


def test_a_damaged_cache_is_told_and_can_be_cleared(refusal, run, cache):
    cache.path.write_bytes(b"junk" * 1000)
    assert "cannot be reached (file is not a database)" in refusal("cache")
    assert run("cache clear").status == 0
    assert run("cache").status == 0
