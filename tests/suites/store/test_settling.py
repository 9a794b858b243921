"""The verdict that counts: a pure function, and the same in the database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.suites.store.records import Decision
from assay.suites.store.suites import FinalVerdict, final_verdict


def says(person, verdict, adjudication=False):
    return Decision(0, person, verdict, adjudication, "")


PASS, FAIL, SKIP = says("Ann", "pass"), says("Ben", "fail"), says("Eve", "skip")
FINAL = says("Cem", "fail", adjudication=True)


@pytest.mark.parametrize(
    ("decisions", "wanted"),
    [
        ([], FinalVerdict("warning", None, disputed=False)),
        ([SKIP], FinalVerdict("warning", None, disputed=False)),
        ([PASS], FinalVerdict("pass", "Ann", disputed=False)),
        ([SKIP, FAIL], FinalVerdict("fail", "Ben", disputed=False)),
        ([PASS, FAIL], FinalVerdict("warning", None, disputed=True)),
        ([PASS, says("Dan", "pass")], FinalVerdict("pass", "Ann", disputed=False)),
        ([PASS, FAIL, FINAL], FinalVerdict("fail", "Cem", disputed=False)),
        ([FINAL, PASS, FAIL], FinalVerdict("fail", "Cem", disputed=False)),
        ([FINAL, says("Dan", "pass", True)], FinalVerdict("pass", "Dan", disputed=False)),
    ],
)
def test_a_decision_counts_before_a_rule_and_an_adjudication_before_decisions(decisions, wanted):
    assert final_verdict("warning", None, decisions) == wanted


@given(
    st.sampled_from(["pass", "fail", "warning", "not tested"]),
    st.lists(st.builds(says, st.text("AB"), st.sampled_from(["pass", "fail"]), st.booleans())),
)
def test_without_decisions_the_rules_count_and_otherwise_they_do_not(ruled, decisions):
    found = final_verdict(ruled, "r", decisions)
    if decisions:
        assert found == final_verdict("warning", None, decisions)
        assert found.disputed == (found.verdict == "warning") == (found.by is None)
    else:
        assert found == (ruled, "r", False)
