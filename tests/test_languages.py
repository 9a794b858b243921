"""The language of texts: as told, by the names of files, by the text, or not at all."""

from dataclasses import replace

import pytest

from assay.data import DataError, Dataset
from assay.text import (
    Language,
    check_text,
    identify,
    language_by_script,
    language_of,
    named_languages,
    plain_code,
)
from tests.corpora import demo

GERMAN = tuple(demo("src.txt"))
ENGLISH = tuple(demo("ref.A.txt"))


def dataset(references=ENGLISH, sources=GERMAN, **others):
    texts = tuple((line,) for line in references)
    return Dataset({"a": tuple(references)}, texts, tuple(sources), **others)


def test_what_was_told_comes_first_then_names_then_the_text():
    found = dataset()
    assert language_of(found, "target") == Language("en", "text")
    assert language_of(found, "source") == Language("de", "text")
    named = replace(found, named_languages=("", "fi"))
    assert language_of(named, "target") == Language("fi", "names")
    assert language_of(named, "source") == Language("de", "text")
    told = replace(named, languages=("cs", "pt_BR"))
    assert language_of(told, "target") == Language("pt", "told")
    assert language_of(told, "source") == Language("cs", "told")


def test_without_references_the_outputs_tell():
    found = Dataset({"a": GERMAN}, ((),) * len(GERMAN))
    assert language_of(found, "target") == Language("de", "text")


@pytest.mark.parametrize("lines", [(), ("",), ("OK", "3 : 1"), ("Obama met Merkel.",)])
def test_english_is_assumed_of_next_to_nothing(lines):
    assert language_of(dataset(lines, ()), "target") == Language("en", "assumed")


def test_a_long_text_in_no_language_is_in_none():
    lines = [f"Xqz{at} vbnk wqx zzkp qqrt." for at in range(50)]
    language = language_of(dataset(lines, ()), "target")
    assert language == Language("", "text")
    with pytest.raises(DataError, match=r"^tagging depends on the language, .* pass languages="):
        language.known("tagging")


@pytest.mark.parametrize(
    ("path", "pair"),
    [
        ("ref.de", ("", "de")),
        ("data/ref.de.txt", ("", "de")),
        ("ref.de.txt.gz", ("", "de")),
        ("ref_de.txt", ("", "de")),
        ("de.txt", ("", "de")),
        ("test.pt_BR.txt", ("", "pt")),
        ("deu_Latn.devtest", ("", "de")),
        ("flores/eng_Latn-deu_Latn.ref", ("en", "de")),
        ("newstest2020-ende-ref", ("en", "de")),
        ("newstest2020-ende-ref.de.sgm", ("en", "de")),
        ("newstest2020.en-de.online-A.0.txt", ("en", "de")),
        ("en2de/ref.txt", ("en", "de")),
        ("/data/wmt21/de-en/ref.txt", ("de", "en")),
        ("/data/wmt21/de-en/systems/a.txt", ("de", "en")),
        ("de-en/ref.de.txt", ("", "")),
        ("ref.txt", ("", "")),
        ("ref.A.txt", ("", "")),
        ("best.txt", ("", "")),
        ("this-ref.txt", ("", "")),
        ("beam-test.txt", ("", "")),
        ("RWTH.5636.txt", ("", "")),
        ("online-B.0.txt", ("", "")),
        ("as-is/ref.txt", ("", "")),
        ("en-en/ref.txt", ("", "")),
    ],
)
def test_names_of_files_and_folders_tell_languages(path, pair):
    assert named_languages([path]) == pair


def test_names_that_differ_tell_nothing():
    assert named_languages(["ref.de.txt", "ref.fr.txt"]) == ("", "")
    assert named_languages(["ref.de.txt"], ["a.txt"], "src.en.txt") == ("en", "de")
    assert named_languages([], ["a.de", "b.de"]) == ("", "de")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Příští týden se v Praze koná velká mezinárodní konference o počasí.", "cs"),
        ("Järgmisel nädalal toimub Tallinnas suur rahvusvaheline konverents.", "et"),
        ("Ensi viikolla Helsingissä järjestetään suuri kansainvälinen kokous.", "fi"),
        ("На следующей неделе в Москве пройдёт большая конференция.", "ru"),
        ("Gelecek hafta İstanbul'da büyük bir uluslararası konferans yapılacak.", "tr"),
        ("下周北京将举行一场大型国际会议。", "zh"),
        ("", ""),
        ("12 34 !?", ""),
        ("\ud800 \udfff", ""),
    ],
)
def test_a_sentence_tells_its_language(text, code):
    assert identify([text]) == code


def test_codes_are_compared_without_country_and_script():
    codes = ("en_GB", "eng_Latn", "zh-tw", "cmn", "pt_BR", "xx")
    assert list(map(plain_code, codes)) == ["en", "en", "zh", "zh", "pt", "xx"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("我们在2018年去了 OECD 的北京办公室。", "zh"),
        ("東京タワーへ行く。", "ja"),
        ("한국어 문장입니다.", "ko"),
        ("We met in 北京.", ""),
        ("", ""),
    ],
)
def test_asian_scripts_are_seen_without_a_model(line, code):
    assert language_by_script([line]) == code


def test_a_check_refuses_only_what_is_surely_another_language():
    check_text(ENGLISH, "en", "x", "y")
    check_text(["OK"], "en", "x", "y")
    with pytest.raises(DataError, match=r"^x: the texts are in 'de' \(from the text.*\)\. y\.$"):
        check_text(GERMAN, "en", "x", "y")
