"""Studies in TOML: what they name is read, and what is wrong in them is told in one line."""

import pytest

import assay
from assay.data import DataError
from assay.reports.study import read_study
from tests.corpora import demo

STUDY = """
title = "Spring"
metrics = ["chrf", "bleu"]
features = []

[data]
references = ["ref.txt"]
systems = ["a.txt", "b.txt"]
source = "src.txt"
languages = "de-en"

[limits]
"chrf" = { min_difference = -0.5 }
"""


@pytest.fixture
def folder(tmp_path):
    texts = {"ref": "ref.A", "a": "systems/atlas", "b": "systems/birch", "src": "src"}
    for name, of in texts.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(demo(f"{of}.txt")) + "\n", "utf-8")
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    return tmp_path


def test_a_study_names_data_and_options(folder):
    study = read_study(folder / "study.toml")
    assert (len(study.data), list(study.data.systems)) == (120, ["a", "b"])
    assert study.data.languages == ("de", "en")
    assert study.options == {
        "title": "Spring",
        "metrics": ["chrf", "bleu"],
        "features": [],
        "limits": {"chrf": {"min_difference": -0.5}},
    }
    assert [path.rpartition("/")[2] for path in study.paths] == [
        *("study.toml", "src.txt", "ref.txt", "a.txt", "b.txt"),
    ]


def test_the_report_of_a_study_tells_the_verdict_and_the_limits(folder):
    study = read_study(folder / "study.toml")
    found = assay.report(study.data, folder / "report.html", **study.options)
    told = " ".join(found.summary())
    assert told.startswith("b is worse than a by chrF2 (-11.6, 95 % CI -15.7 to -7.5)")
    assert "breaks 1 of 1 limits: chrf" in told
    page = (folder / "report.html").read_text("utf-8")
    assert "<title>Spring</title>" in page
    assert "breaks 1 of 1 limits" in page


def test_a_suite_and_human_scores_come_from_the_study(folder):
    from assay.demo import demo_suite_files

    for name, content in demo_suite_files().items():
        path = folder / "suite" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "da.tsv").write_text(
        "system\tline\traw\n" + "".join(f"{s}\t{n}\t{n % 7}\n" for s in "ab" for n in range(1, 9)),
        "utf-8",
    )
    more = """
[suite]
items = "suite/items.json"
outputs = ["suite/autumn/atlas.txt", "suite/autumn/birch.txt"]
ids = "suite/item_ids.txt"
names = ["a", "b"]
"""
    (folder / "study.toml").write_text(f'human = ["da.tsv"]\n{STUDY}{more}', "utf-8")
    study = read_study(folder / "study.toml")
    assert list(study.data.human) == ["da"]
    found = assay.compare(study.data, ["chrf"], features=(), suite=study.options["suite"])
    accuracies = {
        record["slice"]: (record["value"], record["value_other"])
        for record in found.records()
        if record["kind"] == "phenomenon"
    }
    assert accuracies["Negation"][1] > accuracies["Negation"][0]
    assert [standing.label for standing in found.board.standings] == ["chrF2", "da"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("metrics =", "metric =", "unknown key 'metric' (did you mean 'metrics'?)"),
        ('title = "Spring"', "title = 3", "title must be a text, not 3"),
        ("[data]", "[date]", "unknown key 'date' (did you mean 'data'?)"),
        ('source = "src.txt"', 'source = ["src.txt"]', "source must be a text"),
        ('["chrf", "bleu"]', "[1]", "metrics must be a list of texts"),
        ('"Spring"', '"Spring', "not TOML"),
        ('"Spring"', "9" * 5000, "study.toml: not TOML: Exceeds the limit (4300 digits)"),
        ('"Spring"', "[" * 50_000, "study.toml: its lists and tables are nested too deep"),
        ('"a.txt"', '"gone.txt"', "gone.txt"),
    ],
)
def test_what_is_wrong_is_told_with_the_file(folder, old, new, told):
    (folder / "study.toml").write_text(STUDY.replace(old, new, 1), "utf-8")
    with pytest.raises(DataError) as error:
        read_study(folder / "study.toml")
    assert told in str(error.value)
    assert "study.toml" in str(error.value) or "gone.txt" in str(error.value)


def test_a_study_without_data_is_told(folder):
    (folder / "study.toml").write_text('title = "x"\n', "utf-8")
    with pytest.raises(DataError, match=r"\[data\] is missing"):
        read_study(folder / "study.toml")
