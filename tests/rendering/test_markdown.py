"""Markdown: a real reader finds every cell, and no text of the data acts as Markdown or HTML."""

from html.parser import HTMLParser

import pytest
from hypothesis import given as having
from hypothesis import settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from assay.rendering.text import markdown, visible
from assay.results import Column, Span, Table

# GitHub's tables and strike-through; HTML passes, as it does there.
READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
ANY = st.text(st.characters(exclude_categories=()), max_size=30)
LETTERS = st.text("ab |*_`~<>&[]()!\\#-+=1.$@\n\t'\"", max_size=20)


class Page(HTMLParser):
    """The elements of a page, and the texts of its cells, paragraphs and headings."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.texts = [], {}
        self.feed(READER.render(source))

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag in ("td", "th", "p", "h3"):
            self.texts.setdefault(tag, []).append("")
            self.into = tag

    def handle_data(self, data):
        if self.texts:
            self.texts[self.into][-1] += data

    def shown(self, tag):
        """Blanks at the ends and in a row do not show."""
        return [" ".join(text.split()) for text in self.texts[tag]]


def page_of(given, table, **options):
    return Page(markdown(given([table]), **options))


def test_a_table_has_its_heading_cells_and_notes(given):
    columns = ("system", "BLEU ↑", Column("p", style="p"))
    table = Table("Scores", columns, [("a", 31.456, 0.0), ("b", 30.0, None)], "x\ny")
    assert markdown(given([table])) == (
        "### Scores\n\n| system | BLEU ↑ | p |\n| :-- | --: | --: |\n"
        "| a | 31.46 | &lt;0.0001 |\n| b | 30.00 |  |\n\nx\\\ny\n"
    )


def test_the_best_and_what_is_strong_is_bold_and_marks_stand_in_brackets(given):
    words = (Span("the"), Span("cat", "good"), Span("dog", "bad"), Span("cow", "good-2"))
    rows = [("a", 2.0, words), ("b", 1.0, "x")]
    table = Table(
        "", ("s", Column("v", direction="high"), "text"), rows, strong=frozenset({(1, 2)})
    )
    shown = markdown(given([table])).splitlines()
    assert shown[2:] == [
        "| a | **2.00** | the {+cat+} \\[-dog-\\] cow{+2} |",
        "| b | 1.00 | **x** |",
    ]


def test_a_table_without_rows_says_so(given):
    assert page_of(given, Table("T", ("a",), [])).shown("p") == ["(no rows)"]


@pytest.mark.parametrize("text", ["1. one", "# one", "- one", "> one", "+ one", "===", "2) two"])
def test_a_note_or_heading_never_begins_something_else(given, text):
    page = page_of(given, Table(text, ("a",), [(1,)], note=text))
    assert (page.shown("h3"), page.shown("p")) == ([text], [text])


def test_nobody_is_called_by_name(given):
    shown = markdown(given([Table("", ("text",), [("ask @eve",)])]))
    assert "@eve" not in shown
    assert Page(shown).shown("td") == ["ask @eve"]


@having(cell=LETTERS | ANY, name=LETTERS | ANY, note=LETTERS | ANY)
@settings(max_examples=300, deadline=None)
def test_every_text_is_shown_as_it_is_and_acts_as_nothing(given, cell, name, note):
    page = page_of(given, Table("T", (name, "n"), [(cell, 1)], note=note.replace("\n", " ")))
    known = {"h3", "table", "thead", "tbody", "tr", "th", "td", "p", "br"}
    assert set(page.tags) <= known
    assert page.shown("td") == [_shown(cell), "1"]
    assert page.shown("th") == [_shown(name), "n"]


def _shown(text):
    return " ".join(visible(text).split())
