"""Scores from elsewhere: the output of `assay score`, and plain tables."""

import json
import math

import pytest

from assay.data import DataError
from assay.suites.tables import read_system_scores

BLEU, CHRF = "BLEU|nrefs:1|tok:13a", "chrF|nc:6"


def records():
    scores = {"a": (30.5, 50.25), "b": (20.5, 40.25)}
    found = [
        {"system": system, "metric": metric, "signature": signature, "score": pair[at]}
        for at, (metric, signature) in enumerate([("bleu", BLEU), ("chrf", CHRF)])
        for system, pair in scores.items()
    ]
    return [*found, found[0] | {"score": 99.0, "document": "one"}]


def test_the_json_of_assay_score_gives_one_row_per_metric(tmp_path):
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({"assay": "1", "records": records()}))
    bleu, chrf = read_system_scores(path, ["a", "b"])
    assert (bleu.name, bleu.values, bleu.note) == ("BLEU", {"a": 30.5, "b": 20.5}, BLEU)
    assert (chrf.name, chrf.of("b")) == ("chrF", 40.25)
    assert math.isnan(chrf.of("c"))


def test_the_tsv_of_assay_score_gives_the_same(tmp_path):
    (tmp_path / "scores.json").write_text(json.dumps({"records": records()}))
    names = ["system", "metric", "signature", "score", "document"]
    rows = [[str(record.get(name, "")) for name in names] for record in records()]
    path = tmp_path / "scores.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in [names, *rows]))
    assert read_system_scores(path, "a") == read_system_scores(tmp_path / "scores.json", "a")


def test_two_metrics_of_the_same_name_are_told_apart(tmp_path):
    path = tmp_path / "s.json"
    some = [{"system": "a", "metric": m, "signature": "chrF|x", "score": 1} for m in ("p", "q")]
    path.write_text(json.dumps({"records": some}))
    assert [each.name for each in read_system_scores(path, ["a"])] == ["p", "q"]


def test_a_plain_table_has_a_column_per_metric(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("System\tBLEU\tCOMET\na\t30\t0.5\nc\t\t0.25\n")
    bleu, comet = read_system_scores(path, ["a", "b"])
    assert (bleu.name, bleu.of("a"), comet.of("c")) == ("BLEU", 30.0, 0.25)
    assert math.isnan(bleu.of("c"))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.json", "{", "s.json: not JSON"),
        ("s.json", "{}", "s.json: no list of records"),
        ("s.json", '{"records": [{"system": "a"}]}', "a record without system, metric and score"),
        ("s.tsv", "name\tBLEU\na\t1\n", "no column system"),
        ("s.tsv", "system\tBLEU\na\tx\n", "'x' for system 'a' is not a number"),
        ("s.tsv", "system\tBLEU\na\t1\na\t2\n", "s.tsv, line 3: 'a' has its scores on an earlier"),
        ("s.tsv", "system\tBLEU\nz\t1\n", "none of the systems a, b has a score there; it has z"),
    ],
)
def test_what_is_wrong_with_a_file_of_scores_is_told(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DataError, match=message) as raised:
        read_system_scores(path, ["a", "b"])
    assert "\n" not in str(raised.value)
