"""A short form of `benchmarks/fuzz.py texts`: readers and parsers on inputs changed at random."""

from itertools import islice

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("openpyxl")

from fuzz import texts


@pytest.mark.parametrize("seed", range(3))
def test_changed_inputs_are_read_or_refused(tmp_path, seed):
    found = list(islice(texts.inputs(tmp_path, seed), 150))
    assert [finding for finding in found if finding.wrong] == []
    assert len({finding.part for finding in found}) > 20


def test_what_is_wrong_is_found(tmp_path):
    def fails(path):
        raise KeyError(path)

    assert "KeyError" in texts.trouble(lambda: fails("x"))
    path = tmp_path / "t.tsv"
    path.write_text("src\n")
    assert texts.trouble(lambda: texts.read_scores(path, ["a"], length=1), "t.tsv") == ""
    assert "does not name" in texts.trouble(lambda: texts.parse("blue"), "t.tsv")
