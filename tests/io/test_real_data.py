"""Every real test set is read, and what is read has the right shape."""

import numpy as np
import pytest

from assay.io import (
    read_folder,
    read_folder_scores,
    read_lines,
    read_records,
    write_folder,
    write_jsonl,
    write_tsv,
)

PAIRS = ["cs-en", "de-en", "en-de", "en-zh", "et-en", "fi-en", "ru-en", "tr-en", "zh-en"]
FOLDERS = [*((f"wmt18/{pair}", 1) for pair in PAIRS), ("wmt20/en-de", 2), ("wmt21/de-en", 2)]


@pytest.mark.parametrize(("name", "references"), FOLDERS)
def test_every_test_set_reads_whole(shared, name, references):
    folder = shared / name
    dataset = read_folder(folder, references=["all"])
    newlines = (folder / "src.txt").read_bytes().count(b"\n")
    assert len(dataset) == newlines == len(dataset.sources)
    assert {len(each) for each in dataset.references} == {references}
    assert len(dataset.systems) == len(list((folder / "systems").iterdir()))
    assert "-".join(dataset.languages) == folder.name
    assert dataset.name == folder.parent.name
    assert len(dataset.documents) in (0, newlines)
    for system, lines in dataset.systems.items():
        raw = (folder / "systems" / f"{system}.txt").read_bytes().decode("utf-8-sig")
        assert "\n".join(lines) == raw.removesuffix("\n").replace("\r\n", "\n")


@pytest.mark.parametrize(("name", "_"), FOLDERS)
def test_the_human_scores_have_the_shape_of_the_test_set(shared, name, _):
    dataset = read_folder(shared / name)
    for scores in read_folder_scores(shared / name):
        assert scores.systems == tuple(dataset.systems)
        count = {
            "system": 1,
            "segment": len(dataset),
            "document": len(set(dataset.documents)),
        }[scores.granularity]
        assert scores.values.shape == (len(dataset.systems), count)
        assert np.isfinite(scores.values).any()


def test_every_judgement_of_a_known_system_arrives(shared):
    folder = shared / "wmt20" / "en-de"
    dataset = read_folder(folder)
    for scores in read_folder_scores(folder):
        ending = {"system": "sys", "segment": "seg", "document": "doc"}[scores.granularity]
        header, *rows = read_lines(folder / "human" / f"{scores.name}.{ending}.tsv")
        columns = header.split("\t")
        column = next(columns.index(name) for name in ("z", "mqm") if name in columns)
        known = [row.split("\t") for row in rows if row.split("\t")[0] in dataset.systems]
        assert np.isfinite(scores.values).sum() == len(known)
        assert np.nansum(scores.values) == pytest.approx(sum(float(row[column]) for row in known))


def test_the_levels_of_2020_are_found(shared):
    found = {
        (each.name, each.granularity) for each in read_folder_scores(shared / "wmt20" / "en-de")
    }
    assert found == {
        ("da", "document"),
        ("da", "segment"),
        ("da", "system"),
        ("mqm", "segment"),
        ("mqm", "system"),
    }


def test_a_real_test_set_survives_every_format(shared, tmp_path):
    dataset = read_folder(shared / "wmt21", "de-en", references=["all"])
    write_jsonl(dataset, tmp_path / "a.jsonl.gz")
    write_tsv(dataset, tmp_path / "a.tsv")
    write_folder(dataset, tmp_path / "wmt21")
    assert read_records(tmp_path / "a.jsonl.gz") == dataset
    assert read_records(tmp_path / "a.tsv") == dataset
    assert read_folder(tmp_path / "wmt21", references=["all"]) == dataset
