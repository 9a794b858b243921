"""`assay score` with neural metrics, as the documentation writes it."""

import json
from pathlib import Path

import numpy as np
import pytest

from assay.cli import main
from assay.data import Segment
from assay.metrics.base import parse
from tests.corpora import demo
from tests.metrics.neural.tiny import needs_models

pytestmark = needs_models
COUNT = 10
FILES = {"ref.txt": "ref.A.txt", "sys.txt": "systems/atlas.txt", "src.txt": "src.txt"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a reference, a system and a source of a few lines, to run in."""
    monkeypatch.chdir(tmp_path)
    for name, original in FILES.items():
        lines = "".join(f"{line}\n" for line in demo(original, COUNT))
        (tmp_path / name).write_text(lines, "utf-8")
    return tmp_path


def segments():
    references = [(line,) for line in demo("ref.A.txt", COUNT)]
    return list(map(Segment, demo("systems/atlas.txt", COUNT), references, demo("src.txt", COUNT)))


def test_the_command_of_the_documentation_gives_the_scores_of_the_metrics(here, capfd):
    line = "score ref.txt -i sys.txt -m bertscore embed -s src.txt --format json"
    assert main(line.split()) == 0
    shown = json.loads(capfd.readouterr().out)
    found = {record["metric"]: record["score"] for record in shown["records"]}
    for name in ("bertscore", "embed"):
        assert found[name] == pytest.approx(parse(name).statistics(segments()).corpus(), abs=1e-9)


def test_reference_free_metrics_read_the_source(here, capfd):
    line = "score ref.txt -i sys.txt -m embed:against=source xmover random -s src.txt"
    assert main([*line.split(), "--format", "json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    found = [record["score"] for record in shown["records"]]
    metrics = map(parse, ("embed:against=source", "xmover", "random"))
    slow = [metric.statistics(segments()).corpus() for metric in metrics]
    assert found == pytest.approx(slow, abs=1e-9)


def test_no_reference_is_needed_for_them(here, capfd):
    assert (
        main(
            [
                "score",
                "-i",
                "sys.txt",
                "-s",
                "src.txt",
                "-m",
                "embed:against=source",
                "--format",
                "json",
            ]
        )
        == 0
    )
    [record] = json.loads(capfd.readouterr().out)["records"]
    slow = parse("embed:against=source").statistics(segments()).corpus()
    assert record["score"] == pytest.approx(slow, abs=1e-9)
    assert main(["score", "-i", "sys.txt", "-s", "src.txt", "-m", "embed"]) == 2
    assert "reference" in capfd.readouterr().err


@pytest.mark.parametrize("metric", ["bertscore", "embed", "bertscore:idf=yes"])
def test_records_of_segments_say_which_reference_counts(here, capfd, metric):
    Path("other.txt").write_text("".join(f"{line}\n" for line in demo("ref.B.txt", COUNT)))
    line = f"score ref.txt other.txt -i sys.txt -m {metric} chrf -sl --format json"
    assert main(line.split()) == 0
    records = json.loads(capfd.readouterr().out)["records"]
    found = [each["reference"] for each in records if each["metric"] == metric and each["segment"]]
    both = [
        each._replace(references=(*each.references, other))
        for each, other in zip(segments(), demo("ref.B.txt", COUNT), strict=True)
    ]
    assert [at - 1 for at in found] == list(parse(metric).winners(both))
    assert set(found) == {1, 2}
    assert {each["reference"] for each in records if each["metric"] == "chrf"} == {None}
    if "idf" not in metric:
        alone = [[parse(metric).sentence_score(h, [r]).score for r in rs] for h, rs, _ in both]
        assert [at - 1 for at in found] == list(np.argmax(alone, axis=1))


def test_scores_of_the_size_of_1_have_two_more_decimals(here, capfd):
    assert main(["score", "ref.txt", "-i", "sys.txt", "-m", "embed", "chrf", "-w", "1"]) == 0
    row = capfd.readouterr().out.splitlines()[3].split()
    assert [len(cell.partition(".")[2]) for cell in row[1:]] == [3, 1]
    assert main(["score", "ref.txt", "-i", "sys.txt", "-m", "embed", "chrf", "-b"]) == 0
    bare = capfd.readouterr().out.split()
    assert [len(cell.partition(".")[2]) for cell in bare] == [4, 2]


@pytest.mark.parametrize(("pair", "model"), [("de-en", "minilm"), ("en-de", "use")])
def test_the_target_language_chooses_the_model(here, capfd, pair, model):
    assert main(f"score ref.txt -i sys.txt -m embed -l {pair}".split()) == 0
    shown = capfd.readouterr()
    assert f"encoder:{model}@" in shown.out
    assert "language" not in shown.err


def test_no_model_is_chosen_for_a_language_that_none_knows(here, capfd):
    assert main(["score", "ref.txt", "-i", "sys.txt", "-m", "embed", "-l", "en-fi"]) == 2
    assert capfd.readouterr().err == (
        "assay: embed: no packaged model knows 'fi'. Name a model that does, model=NAME; or "
        "model=use all the same.\n"
    )
    assert main(["score", "ref.txt", "-i", "sys.txt", "-m", "embed:model=use", "-l", "en-fi"]) == 0
    told = "note: embed:model=use: the model use does not know fi; its scores mean little there"
    assert told in capfd.readouterr().err


@pytest.mark.parametrize("metric", ["embed:against=source", "xmover", "comet"])
def test_without_the_source_one_line_says_which_option_gives_it(here, capfd, metric):
    assert main(["score", "ref.txt", "-i", "sys.txt", "-m", metric]) == 2
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"assay: {metric} ")
    assert shown.err.endswith("-s FILE.\n")
    assert shown.err.count("\n") == 1


def test_a_model_that_is_not_here_is_one_line_with_the_command_that_fetches_it(here, capfd):
    assert main(["score", "ref.txt", "-i", "sys.txt", "-m", "embed:model=nobody/nothing"]) == 2
    assert capfd.readouterr().err == (
        "assay: the model nobody/nothing is not on this machine, and there is no folder of that "
        "name. To fetch it: hf download nobody/nothing\n"
    )
