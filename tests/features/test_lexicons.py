"""Lexicons in the formats of their authors, written here row by row; the packaged ones for real."""

import gzip
import re
import sys
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import DataError
from assay.features import lexicons
from assay.features.lexicons import BUILT_IN, KINDS, built_in_lexicon, fold, read_lexicon

WKWSCI = [
    ("term", "POS", "sentiment"),
    ("abandon", "v", -2),
    ("excellent", "adj", 3),
    ("fine", "adj", 2),
    ("fine", "n", -1),
    ("a lot", "adv ", 0),
]
BRYSBAERT = [
    (
        "Word",
        "Bigram",
        "Conc.M",
        "Conc.SD",
        "Unknown",
        "Total",
        "Percent_known",
        "SUBTLEX",
        "Dom_Pos",
    ),
    ("roadsweeper", 0, 4.85, 0.37, 1, 27, 0.96, 0, 0),
    ("acid rain", 1, 4.32, 1.1, 0, 30, 1, 12, "#N/A"),
    ("sometime", 0, 1.93, 1.2, 0, 29, 1, 1400, "Adverb"),
]
NRC_1 = [
    ("Word", "Valence", "Arousal", "Dominance"),
    ("aaaaaaah", 0.479, 0.606, 0.291),
    ("banana", 0.75, 0.25, 0.3),
]
NRC_2 = [
    ("term", "valence", "arousal", "dominance"),
    ("funeral", -0.854, 0.1, -0.3),
    ("power surge", 0.1, 0.8, 0.55),
]
WARRINER = [
    ("", "Word", "V.Mean.Sum", "V.SD.Sum", "A.Mean.Sum", "A.SD.Sum", "D.Mean.Sum", "D.SD.Sum"),
    (1, "aardvark", 6.26, 2.21, 2.41, 1.4, 4.27, 1.75),
]


def table(rows, delimiter):
    return "".join(delimiter.join(map(str, row)) + "\n" for row in rows)


def write(folder, content, name="lexicon.txt"):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def workbook(folder, *sheets, name="lexicon.xlsx"):
    openpyxl = pytest.importorskip("openpyxl", reason="needs openpyxl for Excel files")
    book = openpyxl.Workbook()
    for at, rows in enumerate(sheets):
        sheet = book.active if at == 0 else book.create_sheet()
        for row in rows:
            sheet.append(row)
    book.save(folder / name)
    return folder / name


def every_form(folder, rows):
    """The same table as tab-separated, comma-separated and Excel file."""
    return [
        write(folder, table(rows, "\t")),
        write(folder, table(rows, ","), "lexicon.csv"),
        workbook(folder, rows),
    ]


def test_wkwsci_is_read_in_every_form_with_the_mean_over_parts_of_speech(tmp_path):
    for path in every_form(tmp_path, WKWSCI):
        lexicon = read_lexicon(path)
        assert lexicon.entries == {"abandon": -2, "excellent": 3, "fine": 0.5, "a lot": 0}
        assert (lexicon.low, lexicon.high) == (-3, 3)
        assert lexicon.name == f"WKWSCI, {path.name}"
        assert read_lexicon(path, "sentiment") == lexicon


def test_wkwsci_is_read_with_the_quotes_of_its_archive(tmp_path):
    content = 'term\tPOS\tsentiment\n"abandon"\t"v"\t-2\n"abate"\t"v"\t1.0\n'
    assert read_lexicon(write(tmp_path, content)).entries == {"abandon": -2, "abate": 1}


def test_brysbaert_is_read_in_every_form(tmp_path):
    for path in every_form(tmp_path, BRYSBAERT):
        lexicon = read_lexicon(path, "concreteness")
        assert lexicon.entries == {"roadsweeper": 4.85, "acid rain": 4.32, "sometime": 1.93}
        assert (lexicon.low, lexicon.high) == (1, 5)
        assert lexicon.name.startswith("Brysbaert")


@pytest.mark.parametrize(("rows", "scale"), [(NRC_1, (0, 1)), (NRC_2, (-1, 1))])
@pytest.mark.parametrize("column", ["valence", "arousal", "dominance"])
def test_both_versions_of_nrc_vad_are_read_by_column(tmp_path, rows, scale, column):
    place = rows[0].index(column) if column in rows[0] else rows[0].index(column.title())
    wanted = {row[0]: row[place] for row in rows[1:]}
    # All numbers of a column may be above 0 in version 2 as well; its file as a whole is not.
    low = 0 if min(wanted.values()) >= 0 else scale[0]
    for path in every_form(tmp_path, rows):
        lexicon = read_lexicon(path, column)
        assert lexicon.entries == wanted
        assert (lexicon.low, lexicon.high) == (low, scale[1])


def test_nrc_vad_without_header_has_the_same_columns(tmp_path):
    path = write(tmp_path, table(NRC_2[1:], "\t"))
    assert read_lexicon(path, "arousal").entries == {"funeral": 0.1, "power surge": 0.8}


@pytest.mark.parametrize("header", ["", "term\tarousal\n"])
def test_nrc_vad_by_dimension_is_read(tmp_path, header):
    path = write(tmp_path, header + "abduction\t0.990\nhomicide\t0.973\n")
    assert read_lexicon(path, "arousal").entries == {"abduction": 0.99, "homicide": 0.973}


def test_nrc_vad_for_another_language_gives_the_words_of_that_language(tmp_path):
    header = "English Word\tValence\tArousal\tDominance\tGerman Word\n"
    rows = "home\t0.8\t0.2\t0.5\tZuhause\nhouse\t0.6\t0.2\t0.5\tHaus\nfoo\t0.1\t0.1\t0.1\t\n"
    rows += "place\t0.4\t0.2\t0.5\tHaus\n"
    lexicon = read_lexicon(write(tmp_path, header + rows), "valence")
    assert lexicon.entries == {"zuhause": 0.8, "haus": 0.5}


def test_warriner_is_read(tmp_path):
    path = write(tmp_path, table(WARRINER, ","))
    found = [read_lexicon(path, kind).entries["aardvark"] for kind in KINDS[2:]]
    assert found == [6.26, 2.41, 4.27]


@pytest.mark.parametrize("delimiter", ["\t", ",", ";"])
@pytest.mark.parametrize("header", [[], [("word", "formality")]])
@pytest.mark.parametrize("column", [None, "formality", "sentiment", "anything"])
def test_two_columns_are_a_lexicon_under_any_name(tmp_path, delimiter, header, column):
    rows = [*header, ("Hello", "-1.5"), ("yours truly", "+2"), ("hey", ".5e1")]
    lexicon = read_lexicon(write(tmp_path, table(rows, delimiter), "mine.tsv"), column)
    assert lexicon.entries == {"hello": -1.5, "yours truly": 2, "hey": 5}
    assert (lexicon.name, lexicon.low, lexicon.high) == ("mine.tsv", -1.5, 5)


def test_any_column_of_a_table_is_read_by_its_name(tmp_path):
    rows = [("id", "word", "Polite", "Rude"), (7, "please", 5, 1), (8, "oi", 0, 4)]
    path = write(tmp_path, table(rows, "\t"))
    assert read_lexicon(path, "rude").entries == {"please": 1, "oi": 4}
    with pytest.raises(DataError, match="not a lexicon that can be read"):
        read_lexicon(path)


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffgood\t1\r\nbad\t-1\r\n",
        "\n\ngood\t1\n\nbad\t-1",
        "good\t1\t\nbad\t-1\t\t\n",
        "GOOD\t1\nBad\t-1\n",
        " good \t 1 \nbad\t-1\n",
        "good,1\n,,,\n\"bad\",-1\n",
        "good\t1\ngood\t1.0\nbad\t-1\n",
    ],
    ids=["mark", "blank lines", "empty cells", "case", "blanks", "quotes", "said twice"],
)  # fmt: skip
def test_how_a_file_is_written_does_not_matter(tmp_path, content):
    assert read_lexicon(write(tmp_path, content)).entries == {"good": 1, "bad": -1}


def test_a_packed_file_is_read(tmp_path):
    path = write(tmp_path, gzip.compress(b"good\t1\n"), "lexicon.txt.gz")
    assert read_lexicon(path).entries == {"good": 1}


def test_of_spellings_that_differ_in_case_the_lower_counts_or_else_the_mean(tmp_path):
    content = "May\t1\nmay\t2\nMAY\t6\nTurkey\t1\nTURKEY\t2\n"
    assert read_lexicon(write(tmp_path, content)).entries == {"may": 2, "turkey": 1.5}


def test_a_workbook_may_have_the_lexicon_on_any_sheet(tmp_path):
    about = [("Title", "A sentiment lexicon"), ("Year", 2018)]
    path = workbook(tmp_path, about, [], [("how", 1), ("many", 2)], WKWSCI)
    assert read_lexicon(path).entries["excellent"] == 3


def test_excel_takes_true_for_a_truth_value_and_it_stays_a_word(tmp_path):
    path = workbook(tmp_path, [BRYSBAERT[0], (True, 0, 2.1), ("false", 0, 1.9)])
    assert read_lexicon(path).entries == {"true": 2.1, "false": 1.9}


LONG = "x" * 200_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty; a lexicon has one word"),
        ("\ufeff\r\n \n", "is empty; a lexicon has one word"),
        ("word\tnumber\n", "has a header but no rows"),
        ("just some text\nmore of it\n", "not a lexicon that can be read. Give two columns"),
        ("a\tb\tc\nx\ty\tz\n", "not a lexicon that can be read. Give two columns"),
        ("good\t1\nbad\tawful\n", "line 2: 'awful' is not a number"),
        ("good\t1\n\nbad\tnan\n", "line 3: 'nan' is not a number"),
        ("good\t1\nbad\tinf\n", "line 2: 'inf' is not a number"),
        ("good\t1\nbad\t1e999\n", "line 2: '1e999' is not a number"),
        ("good\t1\nbad\t1_0\n", "line 2: '1_0' is not a number"),
        ("good\t1\nbad\t٣\n", "line 2: '٣' is not a number"),
        ("good;1,5\nbad;2\n", "line 1: '1,5' is not a number"),
        ("good\t−1\nbad\t2\n", "line 1: '−1' is not a number"),
        ("good\t1\nbad\n", "line 2: the number is missing"),
        ("good\t1\nbad\t \n", "line 2: the number is missing"),
        ("good\t1\n\t2\n", "line 2: the word is missing"),
        ("good\t1\nbad\t2\ngood\t3\n", "line 3: 'good' is 3 here and 1 on line 1. Keep one"),
        ("term,POS,sentiment\nbad,adj,-4\n", "line 2: -4 is off the scale of WKWSCI, -3 to 3"),
        ("Word\tConc.M\nbad\t0.5\n", "line 2: 0.5 is off the scale of Brysbaert et al. 2014"),
        ("Word\tValence\tArousal\tDominance\na\t1\t2\n", "line 2: the number is missing"),
        (table(NRC_1, "\t").replace("0.3\n", "3\n"), "line 3: 3 is off the scale of NRC-VAD"),
        ('good,1\n"bad,2\n', "line 2: not a row of a table"),
        (f"good,1\n{LONG},2\n", "line 2: not a row of a table"),
        ("good\t1\nb\xe4d\t2\n".encode("latin1"), "line 2, byte 2: not UTF-8 (0xe4). Convert"),
        ("good\t1\n".encode("utf-16"), "line 1, byte 1: not UTF-8 (0xff). Convert the file"),
        (b"PK\x03\x04 and so on", "is damaged or no Excel workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Excel file of the old kind: save it as .xlsx"),
    ],
)  # fmt: skip
def test_bad_files_are_told_by_file_and_line(tmp_path, content, message):
    path = write(tmp_path, content)
    column = "dominance" if "alence" in str(content) else None
    with pytest.raises(DataError) as caught:
        read_lexicon(path, column)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 250


def test_a_missing_file_is_told_with_the_nearest_name(tmp_path):
    write(tmp_path, "good\t1\n", "nrc-vad.txt")
    with pytest.raises(DataError, match=re.escape("(did you mean 'nrc-vad.txt'?)")):
        read_lexicon(tmp_path / "nrcvad.txt")


def test_a_lexicon_of_several_numbers_wants_to_know_which(tmp_path):
    path = write(tmp_path, table(NRC_1, "\t"))
    with pytest.raises(DataError, match="holds valence, arousal, dominance: say which"):
        read_lexicon(path)
    with pytest.raises(DataError, match="holds valence, arousal, dominance: it has no sentiment"):
        read_lexicon(path, "sentiment")


def test_a_lexicon_of_one_kind_is_not_taken_for_another(tmp_path):
    with pytest.raises(DataError, match="holds sentiment: it has no valence"):
        read_lexicon(write(tmp_path, table(WKWSCI, ",")), "valence")
    with pytest.raises(DataError, match="holds arousal: it has no valence"):
        read_lexicon(write(tmp_path, "term\tarousal\nhomicide\t0.9\n"), "valence")


def test_a_damaged_workbook_is_told(tmp_path):
    data = workbook(tmp_path, WKWSCI).read_bytes()
    for cut in (60, len(data) // 2, len(data) - 30):
        with pytest.raises(DataError, match="is damaged or no Excel workbook"):
            read_lexicon(write(tmp_path, data[:cut]))


def test_without_openpyxl_a_workbook_tells_what_to_install(tmp_path, monkeypatch):
    path = workbook(tmp_path, WKWSCI)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(DataError, match=r"needs a package: pip install 'assay-mt\[excel\]'$"):
        read_lexicon(path)


WORDS = st.text(st.characters(codec="utf-8", exclude_characters='\t\n\r"'), min_size=1).filter(
    lambda word: fold(word) and not word.startswith("\ufeff") and word == word.strip()
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.dictionaries(WORDS, NUMBERS, min_size=1))
def test_what_is_written_in_two_columns_is_read_again(tmp_path_factory, entries):
    folded = {fold(word): value for word, value in entries.items()}
    rows = [("word", "number"), *((word, repr(value)) for word, value in folded.items())]
    path = write(tmp_path_factory.getbasetemp(), table(rows, "\t"), "round.txt")
    assert read_lexicon(path).entries == {fold(word): value for word, value in folded.items()}


@given(st.binary())
def test_any_bytes_are_a_lexicon_or_a_data_error(tmp_path_factory, data):
    path = write(tmp_path_factory.getbasetemp(), data, "bytes.txt")
    try:
        said, entries = str(path), read_lexicon(path).entries
    except DataError as error:
        said, entries = str(error), {"": 0.0}
    assert said.startswith(str(path))
    assert entries


needs = {
    kind: pytest.mark.skipif(not find_spec(package.name), reason=f"needs {package.name}")
    for kind, package in BUILT_IN.items()
}


@needs["sentiment"]
def test_the_lexicon_of_vader_is_the_one_that_its_package_uses():
    module = pytest.importorskip("vaderSentiment.vaderSentiment", reason="needs requests as well")
    theirs = module.SentimentIntensityAnalyzer().lexicon
    mine = built_in_lexicon("sentiment")
    plain = {
        word: value
        for word, value in theirs.items()
        if re.fullmatch("[a-z' ]+|[a-z]{2,}(-[a-z]+)+", word)
    }
    assert len(plain) > 7000
    assert {word: mine.entries[word] for word in plain} == plain
    assert mine.name.startswith("VADER (vaderSentiment ")
    assert (mine.low, mine.high) == (-4, 4)


@needs["concreteness"]
def test_the_ratings_of_concreteness_are_those_of_brysbaert_et_al():
    lexicon = built_in_lexicon("concreteness")
    assert len(lexicon.entries) == 39_954
    assert lexicon.entries["roadsweeper"] == 4.85
    assert lexicon.entries["spirituality"] == 1.07
    assert lexicon.entries["acid rain"] == 4.2
    assert (lexicon.low, lexicon.high) == (1, 5)


@pytest.mark.parametrize("kind", BUILT_IN)
def test_without_its_package_a_lexicon_tells_what_to_install(kind, monkeypatch):
    package = BUILT_IN[kind]
    monkeypatch.setitem(sys.modules, package.name, None)
    lexicons._built_in.cache_clear()
    line = re.escape(f"pip install {package.name}=={package.version}")
    with pytest.raises(DataError, match=f"{line}$"):
        built_in_lexicon(kind)


def test_other_kinds_are_not_built_in():
    with pytest.raises(DataError, match=re.escape("(did you mean 'sentiment'?)")):
        built_in_lexicon("sentimental")


def test_a_huge_cell_of_digits_is_refused_as_quickly_as_a_short_one(tmp_path):
    path = tmp_path / "l.tsv"
    path.write_text(f"good\t1\nbad\t{'7' * 500_000}x\n")
    with pytest.raises(DataError, match=r"l.tsv, line 2: '7{40}' is not a number"):
        read_lexicon(path)
