"""A model that does not know a language is remarked upon."""

import pytest

from assay.metrics.base import parse
from assay.metrics.neural.base import LANGUAGES


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
        ("xbertscore", ("", ""), ""),
        ("chrf", ("cs", "fi"), ""),
    ],
)
def test_languages_that_the_model_does_not_know_are_named(spec, languages, unknown):
    remark = parse(spec).language_remark(languages)
    assert bool(remark) == bool(unknown)
    if remark:
        assert remark.startswith(f"{spec}: ".replace("xbertscore", "bertscore:against=source"))
        assert f"does not know {unknown}; " in remark
        assert "model=" in remark


def test_use_knows_sixteen_languages_counting_chinese_twice():
    assert len(LANGUAGES["use"]) + 1 == 16
