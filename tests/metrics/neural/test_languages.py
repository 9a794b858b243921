"""A model that does not know a language is remarked upon."""

import pytest

from assay.metrics.neural.base import language_notes
from assay.metrics.neural.models import LANGUAGES
from assay.metrics.registry import METRICS


@pytest.mark.parametrize(
    ("spec", "languages", "unknown"),
    [
        ("bertscore", ("de", "en"), ""),
        ("bertscore", ("cs", "en"), ""),
        ("bertscore", ("en", "de"), "de"),
        ("bertscore:model=use", ("cs", "pt_BR"), ""),
        ("bertscore:model=use", ("en", "cs"), "cs"),
        ("xbertscore", ("de", "zh-tw"), ""),
        ("xbertscore", ("cs", "en"), "cs"),
        ("xbertscore", ("cs", "fi_FI"), "cs and fi"),
        ("xbertscore:model=some/model", ("cs", "fi"), ""),
        ("xbertscore", None, ""),
        ("chrf", ("cs", "fi"), ""),
    ],
)
def test_languages_that_the_model_does_not_know_are_named(spec, languages, unknown):
    notes = language_notes(METRICS.parse_all([spec]), languages)
    assert len(notes) == bool(unknown)
    if notes:
        assert notes[0].startswith(f"{spec}: ".replace("xbertscore", "bertscore:against=source"))
        assert f"does not know {unknown}; " in notes[0]
        assert "model=" in notes[0]


def test_use_knows_sixteen_languages_counting_chinese_twice():
    assert len(LANGUAGES["use"]) + 1 == 16
