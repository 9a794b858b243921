"""Downloads, the report and agreement in the pages."""

import csv
import io
import json
import re
import sqlite3
from html import unescape

import pytest
from openpyxl import load_workbook
from statsmodels.stats.inter_rater import cohens_kappa

from assay.suites.web import report


def decide(visitor, output, choice, seen=0):
    return visitor.live("/decide", output=output, choice=choice, seen=seen)


def test_decisions_are_downloaded_in_all_formats(ada, first):
    decide(ada, first.output.id, "fail")
    answer = ada.get("/download/decisions.csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="decisions.csv"'
    (row,) = csv.DictReader(io.StringIO(answer.text))
    assert (row["person"], row["output"], row["verdict"]) == ("Ada", first.output.text, "fail")
    assert json.loads(ada.get("/download/decisions.json").text)["records"][0]["item"] == "m1"
    book = load_workbook(io.BytesIO(ada.get("/download/decisions.xlsx").content))
    assert [cell.value for cell in book.active[1]][:3] == ["person", "time", "item"]


def test_the_suite_is_downloaded_as_files_have_it(ada):
    assert json.loads(ada.get("/download/suite.json").text)["name"] == "hubby"
    assert ada.get("/download/suite.tsv").text.startswith("item\t")


@pytest.mark.parametrize("path", ["suite.xlsx", "people.csv", "backup.db"])
def test_what_is_not_offered_is_not_there(ada, path):
    assert ada.get(f"/download/{path}").status_code == 404


def test_an_empty_download_says_so(ada):
    answer = ada.get("/download/notes.csv")
    assert answer.status_code == 400
    assert "there are no notes yet" in answer.text


def test_a_lead_downloads_a_backup_and_nobody_else(ada, ben, first, tmp_path):
    decide(ada, first.output.id, "fail")
    answer = ada.post("/backup")
    (tmp_path / "copy.db").write_bytes(answer.content)
    with sqlite3.connect(tmp_path / "copy.db") as copy:
        assert copy.execute("SELECT verdict FROM decisions").fetchall() == [("fail",)]
    copy.close()
    assert "Download a backup" in ada.get("/downloads").text
    assert "Download a backup" not in ben.get("/downloads").text
    assert ben.post("/backup").status_code == 403


def test_the_report_shows_accuracies_that_lead_to_outputs(ada, first, monkeypatch):
    page = ada.get("/report?policy=fail").text
    assert re.search(r'level-phenomenon"><th[^>]*>Lexical ambiguity', page)
    assert "the best of the row and those" in page
    assert "of the column" not in page
    address = unescape(re.search(r'<a href="(/browse\?system=alpha[^"]+)"', page)[1])
    assert "Her husband came." in ada.get(address).text
    made = report._made.cache_info().misses
    ada.get("/report?policy=fail")
    assert report._made.cache_info().misses == made
    decide(ada, first.output.id, "pass")
    assert ada.get("/report?policy=fail").text != page
    assert ada.get("/report?policy=none").status_code == 400
    assert "<!doctype html>" in ada.get("/download/report.html").text.lower()
    assert ada.get("/download/report.csv?policy=fail").text.startswith("system,level")


def test_agreement_is_shown_for_what_two_people_judged(ada, ben, first):
    outputs = [first.output.id, *(each.id for each in first.others)]
    for visitor, words in ((ada, "pppf"), (ben, "ppff")):
        for output, word in zip(outputs, words, strict=True):
            seen = 0 if visitor is ada else 1
            decide(visitor, output, {"p": "pass", "f": "fail"}[word], seen)
    page = ada.get("/agreement").text
    kappa = cohens_kappa([[1, 1], [0, 2]]).kappa
    assert f'<td class="number">{kappa:.2f}</td>' in page
    assert "75%" in page
    address = unescape(re.search(r'<a href="(/browse\?[^"]*against[^"]*)"', page)[1])
    assert "1 output," in ada.get(address).text
    within = ada.get("/agreement?category=Ambiguity&phenomenon=Lexical+ambiguity").text
    assert "By pair: <bdi>Lexical ambiguity</bdi>" in within


def test_before_anybody_judged_there_is_no_agreement(ada):
    assert "No output has been judged by two people yet." in ada.get("/agreement").text
