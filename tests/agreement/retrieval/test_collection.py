"""Queries, judgements and documents are read as they stand, and errors say where they are."""

import pytest

from assay.agreement.retrieval.analysis import mismatches
from assay.agreement.retrieval.collection import (
    is_trec,
    read_judgements,
    read_queries,
    read_trec_documents,
)
from assay.data import DataError


@pytest.fixture
def file(tmp_path):
    def write(text, name="file.txt"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return write


def refusal(read, path):
    with pytest.raises(DataError) as error:
        read(path)
    assert str(error.value).startswith(str(path))
    return str(error.value).removeprefix(str(path))


@pytest.mark.parametrize(
    "text",
    [
        "q1\ta cat\nq2\tthe dog\n",
        "id\ttext\nq1\ta cat\nq2\tthe dog\n",
        "query_id\tnote\tquery\r\nq1\t\ta cat\r\nq2\told\tthe dog\r\n",
        "q1\ta cat\n\nq2\tthe dog",
        "<top><num> q1</num><title>\na\ncat </title><desc>more</desc></top>"
        "<TOP><NUM>Number: q2</NUM><TITLE>the dog</TITLE></TOP>",
    ],
)
def test_queries_are_read_with_and_without_a_header_and_from_topics(file, text):
    path = file(text)
    assert read_queries(path) == {"q1": "a cat", "q2": "the dog"}
    assert read_queries(path, numbered=True) == {"1": "a cat", "2": "the dog"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1\ta cat\nq2 the dog\n", ", line 2: 1 cells. Write id<TAB>words"),
        ("q1\ta cat\nq2\tthe\tdog\n", ", line 2: 3 cells. Write id<TAB>words"),
        ("id\ttext\nq1\ta cat\nq1\tdog\n", ", line 3: the query q1 is there twice."),
        ("q1\ta cat\nq2\t \n", ", line 2: a query needs both an id and words."),
        ("id\ttext\nq1\n", ", line 2: 1 cells, but the header names 2 columns."),
        ("<top><num>1</num><title>a</top>", ", line 1: not well-formed XML"),
        ("<top><num></num><title>a</title></top>", ": <top> number 1 has no <num>."),
        ("<top><num>1</num></top><top><num>1</num></top>", ": <num> 1 is there twice."),
        ("", " is empty"),
    ],
)
def test_bad_queries_are_refused_with_their_line(file, text, message):
    assert refusal(read_queries, file(text)).startswith(message)


def test_judgements_are_read_whatever_the_blanks_between(file):
    path = file("1 0 a 1\r\n1\t0\tb  -1\n\n2 Q0 a 3\n")
    assert read_judgements(path) == {"1": {"a": 1, "b": -1}, "2": {"a": 3}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 0 a 1\n1 b 1\n", ", line 2: 3 cells. A judgement has four"),
        ("1 0 a 1\n\n1 0 b yes\n", ", line 3: relevance 'yes' is not a whole number."),
        ("1 0 a 1\n1 0 a 1\n", ", line 2: document a is judged for query 1 a second time."),
        ("\n\n", " has no judgements."),
    ],
)
def test_bad_judgements_are_refused_with_their_line(file, text, message):
    assert refusal(read_judgements, file(text)).startswith(message)


def test_a_document_is_its_title_and_text(file):
    path = file(
        "<?xml version='1.0'?>\n<doc>\n<docno> x </docno><title>A</title><author>B</author>"
        "<text>C\n D &amp; E</text></doc>\n<doc><docno>y</docno><body>F</body></doc>"
    )
    assert is_trec(path)
    assert read_trec_documents(path) == {"x": "A C D & E", "y": "F"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<doc><docno>1</docno>\n<text>a & b</text></doc>", ", line 2: not well-formed XML"),
        ("<docno>1</docno>", " has no <doc>."),
        (
            '<!DOCTYPE a [<!ENTITY b "c">]><doc><docno>1</docno></doc>',
            ", line 1: not well-formed XML",
        ),
    ],
)
def test_bad_documents_are_refused(file, text, message):
    assert refusal(read_trec_documents, file(text)).startswith(message)


def test_a_table_of_documents_is_not_taken_for_trec(file):
    assert not is_trec(file("line\tdoc_id\n1\tx\n"))
    assert not is_trec(file("<dataset><doc id='1'><src/></doc></dataset>"))


def test_cranfield_is_read_whole_with_its_one_odd_grade(cranfield):
    assert len(cranfield.documents) == 1400
    assert len(cranfield.queries) == len(cranfield.judgements) == 225
    grades = [grade for judged in cranfield.judgements.values() for grade in judged.values()]
    assert {grade: grades.count(grade) for grade in set(grades)} == {0: 225, 1: 1611, 3: 1}
    assert not list(mismatches(cranfield.queries, cranfield.judgements, cranfield.documents))


def test_cranfields_topics_have_other_numbers_than_its_judgements(shared, cranfield):
    queries = read_queries(shared / "cranfield" / "cran.qry.xml")
    left_out, unknown = mismatches(queries, cranfield.judgements, cranfield.documents)
    assert left_out.startswith("73 queries of 225 left out, without a relevant document: 226, 227,")
    assert unknown.endswith("3, 5, 6 and 70 more. If they count the queries, use numbered=True.")


def test_relevant_documents_outside_the_collection_are_told():
    (note,) = mismatches({"1": "a"}, {"1": {"x": 1, "y": 1, "z": 0}}, {"x"})
    assert note == "1 relevant document not in the collection, counted as missed: y."
