"""The Python examples of the front door, on the data that come with assay."""

import json
from pathlib import Path

import pytest

import assay
from tests.contract.varied import needs_tagger

DEMO = Path(assay.__file__).parent / "demo"
SYSTEMS = ("atlas", "birch", "cedar")


@pytest.fixture(scope="module")
def data():
    return assay.read(DEMO, languages="de-en")


def lines(path):
    return (DEMO / path).read_text("utf-8").splitlines()


def records_of_the_demo(*systems):
    outputs = [lines(f"systems/{system}.txt") for system in systems]
    rows = zip(lines("src.txt"), lines("ref.A.txt"), *outputs, strict=True)
    return [
        {"model": system, "mt": output, "ref": reference, "src": source}
        for source, reference, *texts in rows
        for system, output in zip(systems, texts, strict=True)
    ]


def test_a_folder_and_its_files_are_the_same_data(data):
    files = assay.read(
        references=DEMO / "ref.A.txt",
        systems=[DEMO / f"systems/{system}.txt" for system in SYSTEMS],
        source=DEMO / "src.txt",
        languages="de-en",
    )
    assert dict(files.systems) == dict(data.systems)
    assert files.sources == data.sources
    assert files.languages == data.languages == ("de", "en")


def test_records_are_the_same_data(data):
    dataset = assay.Dataset.from_records(
        records_of_the_demo(*SYSTEMS),
        hypothesis="mt",
        reference="ref",
        source="src",
        system="model",
    )
    assert dict(dataset.systems) == dict(data.systems)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_the_same_data(data, library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame(records_of_the_demo(*SYSTEMS))
    dataset = assay.Dataset.from_records(frame, hypothesis="mt", reference="ref", system="model")
    assert dict(dataset.systems) == dict(data.systems)


def test_scores_of_data_and_of_lists_are_the_same(data):
    result = assay.score(data, ["bleu", "chrf"], test="bootstrap")
    listed = assay.score(
        {system: lines(f"systems/{system}.txt") for system in SYSTEMS},
        [lines("ref.A.txt")],
        ["bleu", "chrf"],
        test="bootstrap",
    )
    one_reference = assay.read(
        references=DEMO / "ref.A.txt", systems=[DEMO / f"systems/{s}.txt" for s in SYSTEMS]
    )
    assert assay.score(one_reference, ["bleu", "chrf"], test="bootstrap").records() == (
        listed.records()
    )
    assert {record["system"] for record in result.records()} == set(SYSTEMS)


def test_segments_and_words_that_make_the_difference(data):
    favored = assay.favor(data, "macrof")
    assert {record["metric"] for record in favored.records()} == {"macrof"}
    types = assay.types(data)
    assert {"type", "system"} <= types.records()[0].keys()


@needs_tagger
def test_features(data):
    result = assay.muler(data, "bleu", ["upos", "ner"])
    assert {"NOUN", "PERSON"} <= {record["feature"] for record in result.records()}


def test_words(data):
    result = assay.explain(data, "chrf", "lime", worst=2)
    segments = {(record["system"], record["segment"]) for record in result.records()}
    assert len(segments) == 2 * len(SYSTEMS)


def test_agreement_with_people(data):
    result = assay.correlate(data, ["bleu", "chrf"], human="da")
    assert {record["metric"] for record in result.records()} == {"bleu", "chrf"}


def test_a_suite():
    suite = assay.read_suite(DEMO / "suite" / "items.json")
    ids = lines("suite/item_ids.txt")
    runs = {system: lines(f"suite/autumn/{system}.txt") for system in SYSTEMS}
    result = assay.run_suite(suite, runs, ids=ids)
    assert {record["system"] for record in result.records()} == set(SYSTEMS)


def test_what_every_result_can_do(data, tmp_path):
    result = assay.score(data, ["chrf"])
    assert str(result).startswith("Scores\n")
    assert "<table" in result._repr_html_()
    result.save(tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text("utf-8"))["records"] == result.records()
    frame = pytest.importorskip("pandas") and result.to_pandas()
    assert list(frame["score"]) == [record["score"] for record in result.records()]
    pytest.importorskip("polars")
    assert result.to_polars()["system"].to_list() == list(SYSTEMS)
