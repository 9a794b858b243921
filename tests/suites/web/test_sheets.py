"""Sheets that are not right at once: problems with their rows, doubts, and files sent again."""

import re

import pytest

from tests.suites.web.test_authoring import (
    ROWS,
    chosen,
    imported,
    looked_at,
    mapping,
    suite_of,
    workbook,
)

ROLES = ("source", "phenomenon", "positive_regex", "ignore")
BROKEN = [*ROWS, ["Gut.", "Lexical", "(", "y"]]


def selected(text):
    """What the page says that each column holds."""
    columns = re.findall(r'aria-label="What (.*?) holds">(.*?)</select>', text, re.DOTALL)
    return {name: re.search('value="([^"]+)" selected', options)[1] for name, options in columns}


def test_a_mended_sheet_that_is_sent_again_keeps_what_was_chosen_for_its_columns(bare, ann):
    page = mapping(ann, workbook(BROKEN))
    ann.live(f"{page}/preview", **chosen(*ROLES, separator=";", languages="de-en"))
    mended = [row[::-1] for row in ROWS]  # the columns stand in another order now
    mended[0].append("Remark")
    again = ann.get(mapping(ann, workbook(mended), "mended.xlsx")).text
    roles = ("ignore", "positive_regex", "phenomenon", "source", "keep")
    assert selected(again) == dict(zip(mended[0], roles, strict=True))
    assert 'name="name" value="Mine"' in again
    assert 'name="separator" value=";"' in again
    assert 'name="languages" value="de-en"' in again
    assert "hold what you chose" in again


def test_choices_are_kept_for_columns_of_the_same_name_and_no_column_is_the_source_twice(ann):
    page = mapping(ann, workbook(ROWS))
    ann.live(f"{page}/preview", **chosen("keep", "source", "ignore", "ignore"))
    other = workbook([["Sentence", "Topic"], ["Die Birne.", "Lexical"]])
    assert selected(ann.get(mapping(ann, other)).text) == {"Sentence": "keep", "Topic": "source"}


def test_what_one_person_chose_is_not_what_another_one_finds(ada, ben):
    ada.post("/people/lead", person="2", lead="yes")
    ada.live(f"{mapping(ada, workbook(ROWS))}/preview", **chosen(*["ignore"] * 3, "source"))
    found = selected(ben.get(mapping(ben, workbook(ROWS))).text)
    assert (found["German"], found["Wrong"]) == ("source", "negative_fixed")


def test_an_import_that_is_refused_says_so_at_the_top_and_leads_to_the_first_problem(bare, ann):
    answer = ann.post(mapping(ann, workbook(BROKEN)), **chosen(*ROLES))
    assert answer.status_code == 400
    told = re.search(r'<p class="trouble refused".*?</p>', answer.text)[0]
    assert "autofocus" in told
    assert 'tabindex="-1"' in told
    assert "<b>Nothing was imported.</b> 1 row has to be mended." in told
    assert 'href="#problem-1"' in told
    assert answer.text.index(told) < answer.text.index('<form class="mapping"')
    assert '<li id="problem-1" tabindex="-1"><b>Row 4</b>: column &#39;Right&#39;: ' in answer.text
    assert len(suite_of(bare)) == 0


def test_an_import_without_a_source_is_refused_in_words_of_the_page(ann):
    answer = ann.post(mapping(ann, workbook(ROWS)), **chosen("keep", "phenomenon", *["ignore"] * 2))
    assert (
        "<b>Nothing was imported.</b> sheet.xlsx: say which column holds the source" in answer.text
    )
    assert "source=COLUMN" not in answer.text


def test_before_anybody_imports_nothing_is_refused(ann):
    shown = ann.live(f"{mapping(ann, workbook(BROKEN))}/preview", **chosen(*ROLES)).json()
    assert "Nothing was imported" not in shown["preview"]
    assert "1 row to mend" in shown["preview"]


def test_rows_are_counted_as_excel_shows_them_in_a_csv_too(ann):
    lines = 'German,Topic,Right\n"Die\nBirne.",Lexical,bulb\n,,\n,Lexical,x\n'
    page = mapping(ann, lines.encode(), "sheet.csv")
    shown = ann.get(page).text
    assert "<b>Row 4</b>: the source is empty" in shown
    own = 'item,category,phenomenon,source,polarity,kind,text\na,A,B,"x\ny",positive,regex,c\n'
    shown = ann.get(mapping(ann, f"{own}b,A,B,z,positive,neither,c\n".encode(), "own.csv")).text
    assert "own.csv, row 3: " in shown


def test_rules_that_look_like_regular_expressions_are_a_doubt_and_can_become_ones(bare, ann):
    rows = [*ROWS, ["Die Bank.", "Lexical", "bench|seat", "bank"]]
    page = mapping(ann, workbook(rows))
    roles = chosen("source", "phenomenon", "positive_fixed", "negative_fixed")
    shown = ann.live(f"{page}/preview", **roles).json()["preview"]
    assert "holds strings, but 1 rule in row 4 looks like a regular expression" in shown
    assert '<code dir="auto">bench|seat</code>' in shown
    assert 'name="mixed-2" value="regex">' in shown
    assert "0 rules" not in shown
    shown = ann.live(f"{page}/preview", **roles, **{"mixed-2": "regex"}).json()["preview"]
    assert 'name="mixed-2" value="regex" checked>' in shown
    ann.post(page, **roles, **{"mixed-2": "regex"})
    kinds = [item.rules[0].kind for item in suite_of(bare).items]
    assert kinds == ["fixed", "fixed", "regex"]


def test_rules_that_are_no_regular_expressions_are_a_doubt_and_can_become_strings(bare, ann):
    page = mapping(ann, workbook(BROKEN))
    shown = ann.live(f"{page}/preview", **chosen(*ROLES)).json()["preview"]
    assert "holds regular expressions, but 1 rule in row 4 is none" in shown
    assert "1 row to mend" in shown
    # What was meant for strings says nothing of regular expressions.
    assert ann.post(page, **chosen(*ROLES), **{"mixed-2": "regex"}).status_code == 400
    assert ann.post(page, **chosen(*ROLES), **{"mixed-2": "fixed"}).status_code == 303
    assert [item.rules[0].kind for item in suite_of(bare).items] == ["regex", "regex", "fixed"]


@pytest.mark.parametrize("text", ["What now?", "5 % (or more)", "the U.S.", "e.g. a+b"])
def test_plain_words_are_no_doubt(ann, text):
    page = mapping(ann, workbook([*ROWS, ["Ja.", "Lexical", text, ""]]))
    roles = chosen("source", "phenomenon", "positive_fixed", "negative_fixed")
    assert "mixed-" not in ann.live(f"{page}/preview", **roles).json()["preview"]


def test_a_csv_in_another_encoding_comes_with_advice_for_excel(ann):
    answer = ann.get(mapping(ann, "Grüße,b\nx,y".encode("latin1"), "a.csv"))
    assert "Save as&#34;, type &#34;CSV UTF-8&#34;" in answer.text
    assert "iconv" not in answer.text
    assert 'action="/suite/file"' in answer.text


def test_outputs_are_shown_beside_their_sources_before_they_are_saved(ann):
    rows = [["German", "Topic"], *([f"Satz {at}.", "More"] for at in range(1, 13))]
    ann.post(mapping(ann, workbook(rows)), **chosen("source", "phenomenon"))
    lines = "\n".join(f"Output {at}." for at in range(1, 13)).encode()
    shown = looked_at(ann, ("files", "atlas.txt", lines)).text
    samples = re.findall(r"<li class=\"card\">.*?</li>", shown, re.DOTALL)
    pairs = [re.findall(r'<(?:p|dd) dir="auto">([^<]+)<', sample) for sample in samples]
    assert pairs == [[f"Satz {at}.", f"Output {at}."] for at in (1, 2, 3, 4, 12)]
    assert "Items without" not in shown


def test_a_campaign_is_explained_where_it_is_asked_for(ann):
    imported(ann)
    assert "A campaign is one round of testing" in ann.get("/suite/outputs").text
