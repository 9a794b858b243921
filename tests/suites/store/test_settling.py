"""The verdict that counts: a pure function, and the same in the database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.suites.store.runs import Settled, Word, settled

PASS, FAIL = Word("Ann", "pass"), Word("Ben", "fail")
FINAL = Word("Cem", "fail", adjudication=True)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], Settled("warning", None, disputed=False)),
        ([PASS], Settled("pass", "Ann", disputed=False)),
        ([FAIL], Settled("fail", "Ben", disputed=False)),
        ([PASS, FAIL], Settled("warning", None, disputed=True)),
        ([PASS, Word("Dan", "pass")], Settled("pass", "Ann", disputed=False)),
        ([PASS, FAIL, FINAL], Settled("fail", "Cem", disputed=False)),
        ([FINAL, PASS, FAIL], Settled("fail", "Cem", disputed=False)),
        ([FINAL, Word("Dan", "pass", True)], Settled("pass", "Dan", disputed=False)),
    ],
)
def test_a_word_counts_before_a_rule_and_an_adjudication_before_words(words, wanted):
    assert settled("warning", None, words) == wanted


@given(
    st.sampled_from(["pass", "fail", "warning", "not tested"]),
    st.lists(st.builds(Word, st.text("AB"), st.sampled_from(["pass", "fail"]), st.booleans())),
)
def test_without_words_the_rules_count_and_otherwise_they_do_not(ruled, words):
    found = settled(ruled, "r", words)
    if words:
        assert found == settled("warning", None, words)
        assert found.disputed == (found.verdict == "warning") == (found.by is None)
    else:
        assert found == (ruled, "r", False)
