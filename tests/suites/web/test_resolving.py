"""One case after the other: decisions, undo, and two people at once."""

import re
from html import unescape

import pytest

from assay.suites.store.finding import find
from assay.suites.store.history import history
from assay.suites.store.queue import case, next_case
from assay.suites.store.records import Filters
from tests.suites.web.conftest import JSON
from tests.suites.web.hubby import NASTY


def stored(store, output):
    with store.read() as connection:
        return case(connection, output).output


def number(store, text):
    """The number of the output with this text."""
    with store.read() as connection:
        ((_, output),), _ = find(connection, Filters(text=text))
    return output.id


def decide(visitor, output, choice, seen=0, **more):
    return visitor.live("/decide", output=output, choice=choice, seen=seen, **more)


def test_the_first_warning_is_shown_with_all_that_one_needs(ada):
    page = ada.get("/resolve").text
    assert "Sie liebt ihren Mann." in page
    assert "She loves her spouse." in page
    assert "Lexical ambiguity" in page
    assert "settles <b>2 systems</b>" in page
    assert "4 outputs <span>4 warnings to settle</span>" in page
    assert "2 rules of this item" in page
    assert page.count("matches nothing here") == 2
    assert page.count("no rule matches") == 4
    assert '<mark class="new" title="only here">truly</mark>' in page
    assert "of 8 warnings settled" in page


def test_what_rules_matched_is_marked(store, ada):
    page = ada.get(f"/case/{number(store, 'old man')}").text
    assert '<mark class="bad" title="m2-1: \\bm[ae]n\\b">man</mark>' in page
    assert '<mark class="good" title="m2+1: husband">husband</mark>' in page


def test_a_decision_brings_the_next_case_and_can_be_undone(store, ada, first):
    output = first.output
    reply = decide(ada, output.id, "pass").json()
    assert "Passed: settles 2 outputs" in reply["toast"]
    assert "She loves her spouse.</p>" not in reply["main"]
    assert stored(store, output.id).verdict == "pass"
    back = ada.live("/undo").json()
    assert "She loves her spouse.</p>" in back["main"]
    assert stored(store, output.id).verdict == "warning"
    assert ada.live("/undo").json()["notice"] == "There is nothing to undo."


def test_the_screen_stays_on_an_item_until_its_warnings_are_settled(store, ada):
    with store.read() as connection:
        (_, hubby), *_ = find(connection, Filters(text="hubby"))[0]
        (_, text), *_ = find(connection, Filters(text="All is text"))[0]
    reply = decide(ada, hubby.id, "pass").json()
    assert 'data-item="m2"' in reply["main"]
    reply = decide(ada, text.id, "fail").json()
    assert 'data-item="s1"' in reply["main"]


def test_a_form_without_script_does_the_same(store, ada, first):
    answer = ada.post("/decide", output=first.output.id, choice="fail", seen=0, back="text=her")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/resolve?text=her&last=")
    assert stored(store, first.output.id).verdict == "fail"
    page = ada.get(answer.headers["location"]).text
    assert "Undo" in page
    change = re.search(r'name="change" value="(\d+)"', page)[1]
    answer = ada.post("/undo", change=change)
    assert answer.headers["location"] == f"/case/{first.output.id}"
    assert stored(store, first.output.id).verdict == "warning"


def test_what_is_skipped_comes_back_when_asked_for(ada, first):
    reply = decide(ada, first.output.id, "skip").json()
    assert "Skipped" in reply["toast"]
    assert "Make it a rule" not in reply["toast"]
    assert "She loves her spouse.</p>" not in reply["main"]
    assert "She loves her spouse.</p>" in ada.get("/resolve?skipped=1").text


def test_at_the_end_there_is_an_end(store, ada):
    for _ in range(8):
        with store.read() as connection:
            output = next_case(connection, 1).output
        reply = decide(ada, output.id, "pass", output.version).json()
    assert "All done" in reply["main"]
    assert 'href="/report">See the report' in reply["main"]
    assert "All done" in ada.get("/resolve").text
    assert "No warnings here" in ada.get("/resolve?text=zebra").text


def test_two_people_on_the_same_output_are_both_kept_and_the_second_is_told(store, ada, ben, first):
    output = first.output.id
    assert decide(ada, output, "pass").json()["notice"] == ""
    reply = decide(ben, output, "fail").json()
    assert reply["notice"] == (
        "Ada said pass while you were looking at the same output, and you said fail. "
        "Both decisions are kept; the output is now a dispute."
    )
    found = stored(store, output)
    assert found.disputed
    assert {(each.person, each.verdict) for each in found.decisions} == {
        ("Ada", "pass"),
        ("Ben", "fail"),
    }


def test_people_who_agree_are_told_so(ada, ben, first):
    decide(ada, first.output.id, "pass")
    notice = decide(ben, first.output.id, "pass").json()["notice"]
    assert notice.endswith("Both decisions are kept; the output counts as pass.")


def test_without_script_the_second_person_is_told_too(ada, ben, first):
    decide(ada, first.output.id, "pass")
    answer = ben.post("/decide", output=first.output.id, choice="fail", seen=0)
    page = ben.get(answer.headers["location"]).text
    assert "Ada said pass and Ben said fail. Both decisions are kept" in page


def test_a_second_window_of_the_same_person_is_told_that_it_is_outdated(store, ada, first):
    output = first.output.id
    decide(ada, output, "pass")
    answer = decide(ada, output, "fail")
    assert answer.status_code == 409
    assert "in another window" in answer.json()["notice"]
    assert "She loves her spouse.</p>" in answer.json()["main"]
    assert stored(store, output).verdict == "pass"
    answer = ada.post("/decide", output=output, choice="fail", seen=0)
    assert "in another window" in ada.get(answer.headers["location"]).text


def test_an_output_full_of_markup_is_text(store, ada):
    nasty = number(store, "pwned")
    for path in (f"/case/{nasty}", f"/rule/{nasty}", "/browse?text=pwned"):
        page = ada.get(path).text
        assert NASTY not in page
        assert "<script>document" not in page
        assert "<img src=x" not in page
        assert NASTY in unescape(re.sub(r"</?(mark|bdi)[^>]*>", "", page))


def test_a_name_full_of_markup_is_text(app):
    from tests.suites.web.conftest import Visitor

    visitor = Visitor(app)
    visitor.enter("<b>Eve</b>")
    for path in ("/resolve", "/team", "/history", "/account"):
        page = visitor.get(path).text
        assert "<b>Eve" not in page
        assert "&lt;b&gt;Eve&lt;/b&gt;" in page


def test_the_filters_stay_on_from_case_to_case(ada):
    page = ada.get("/resolve?category=Ambiguity&text=hubby").text
    assert "Her hubby came." in page
    back = unescape(re.search(r'name="back" value="([^"]*)"', page)[1])
    output = re.search(r'name="output" value="(\d+)"', page)[1]
    reply = decide(ada, output, "pass", back=back).json()
    assert "No warnings here" in reply["main"]


def test_the_script_can_ask_for_a_case(ada, first):
    reply = ada.get(f"/case/{first.output.id}", headers=JSON).json()
    assert "She loves her spouse.</p>" in reply["main"]
    again = ada.get("/resolve", headers=JSON).json()["main"]
    key = r'(name="key" value|data-until)="[^"]+"'
    assert re.sub(key, "", again) == re.sub(key, "", reply["main"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"output": "x"},
        {"output": "-1"},
        {"output": "9" * 40},
        {"output": "²"},
        {"seen": ""},
        {"choice": "maybe"},
        {"output": "4711"},
    ],
)
def test_a_form_with_nonsense_is_refused_and_nothing_is_saved(store, ada, first, wrong):
    fields = {"output": first.output.id, "choice": "pass", "seen": 0} | wrong
    answer = ada.live("/decide", **fields)
    assert answer.status_code == 400
    assert answer.json()["error"]
    with store.read() as connection:
        assert history(connection) == []


@pytest.mark.parametrize("path", ["/case/4711", "/case/x", "/case/99999999999999999999", "/rule/0"])
def test_an_output_that_is_not_there_gives_a_page_that_says_so(ada, path):
    answer = ada.get(path)
    assert answer.status_code in (400, 404)
    assert "Go to the warnings" in answer.text


def test_what_others_did_cannot_be_undone(store, ada, ben, first):
    decide(ada, first.output.id, "pass")
    with store.read() as connection:
        (change,) = history(connection)
    assert ben.live("/undo", change=change.id).status_code == 400
    assert stored(store, first.output.id).verdict == "pass"


def test_a_decision_that_is_sent_twice_is_saved_once(store, ada, first):
    replies = [decide(ada, first.output.id, "pass", key="abc").json() for _ in range(2)]
    assert replies[0]["toast"] == replies[1]["toast"]
    with store.read() as connection:
        assert len(history(connection)) == 1
    answer = decide(ada, first.output.id, "fail", seen=1, key="abc")
    assert answer.status_code == 400
    assert "for something else" in answer.json()["error"]
    assert decide(ada, first.output.id, "fail", seen=1, key="x" * 51).status_code == 400


def test_several_outputs_are_decided_at_once_and_undone_at_once(store, ada, first):
    ids = [first.output.id, first.others[0].id]
    pairs = " ".join(f"{output}:0" for output in ids)
    for _ in range(2):
        reply = ada.live("/decide", outputs=pairs, choice="fail", key="k").json()
        assert "Failed 2 different outputs: settles 3 outputs" in reply["toast"]
    assert {stored(store, output).verdict for output in ids} == {"fail"}
    ada.live("/undo")
    assert {stored(store, output).verdict for output in ids} == {"warning"}
    with store.read() as connection:
        assert [bool(change.undone) for change in history(connection)] == [True, True]


def test_of_several_outputs_none_is_decided_where_one_is_outdated(store, ada, first):
    other = first.others[0].id
    decide(ada, other, "pass")
    answer = ada.live("/decide", outputs=f"{first.output.id}:0 {other}:0", choice="fail", key="k")
    assert answer.status_code == 409
    assert stored(store, first.output.id).verdict == "warning"
    for wrong in ("", "1", "1:x", "x:1", "1:0,2:0"):
        assert ada.live("/decide", outputs=wrong, choice="fail").status_code == 400


def shown(page):
    """The text of the output that a page shows, by its number."""
    found = re.search(r'id="place"[^>]*data-output="(\d+)"', page)
    return int(found[1]) if found else None


def test_two_people_get_different_items_and_what_is_left_goes_to_others(store, ada, ben):
    mine, theirs = shown(ada.get("/resolve").text), shown(ben.get("/resolve").text)
    assert stored(store, mine).text == "She loves her spouse."
    assert stored(store, theirs).text == "Her hubby came."
    # Asking again gives the same; a closer look at what another has says so.
    assert shown(ada.get("/resolve").text) == mine
    assert "Ada is looking at this item, too" in ben.get(f"/case/{mine}").text
    assert ben.live("/lease", output=mine).json()["notice"].startswith("Ada is looking")
    early = re.search(r'data-until="([^"]+)"', ada.get(f"/case/{mine}").text)[1]
    reply = ada.live("/lease", output=mine).json()
    assert reply["notice"] == ""
    assert reply["until"] > early
    # A page that was left says so late, when the item is shown again already.
    ada.live("/release", output=mine, until=early)
    assert ben.live("/lease", output=mine).json()["notice"].startswith("Ada is looking")
    ada.live("/release", output=mine, until=reply["until"])
    ben.live("/release", output=theirs)
    assert shown(ben.get("/resolve").text) == mine
    ben.post("/logout")
    assert shown(ada.get("/resolve").text) == mine


def test_whoever_goes_on_gives_the_item_back(ada, ben, store):
    mine = shown(ada.get("/resolve").text)
    for _ in range(4):
        reply = decide(ada, mine, "pass").json()
        mine = shown(reply["main"])
    # Ben is at the second item, so Ada comes to the third; the first one is nobody's any more.
    assert stored(store, mine).text == NASTY
    assert stored(store, shown(ben.get("/resolve").text)).text == "Her hubby came."
    with store.read() as connection:
        leased = connection.exec_driver_sql("SELECT annotator_id FROM leases").all()
    assert sorted(leased) == [(1,), (2,)]


def test_a_lease_ends_by_itself(ada, ben, monkeypatch):
    from datetime import timedelta

    from assay.suites.store import leases

    monkeypatch.setattr(leases, "LEASE", timedelta(seconds=-1))
    assert shown(ada.get("/resolve").text) == shown(ben.get("/resolve").text)


def test_deciding_goes_on_with_the_list_that_one_came_from(store, ada):
    page = ada.get("/browse?text=spouse").text
    links = [unescape(link) for link in re.findall(r'class="open" href="([^"]+)"', page)]
    assert links[0].endswith("?text=spouse&list=1")
    numbers = [int(re.search(r"/case/(\d+)", link)[1]) for link in links]
    decide(ada, numbers[1], "pass")
    page = ada.get(links[0]).text
    for output, following in zip(numbers, [*numbers[1:], None], strict=True):
        seen = stored(store, output).version
        reply = decide(ada, output, "fail", seen, back="text=spouse&list=1").json()
        assert shown(reply["main"]) == following
    assert "End of the list" in reply["main"]
    assert 'data-address="/resolve?text=spouse&amp;list=1"' in reply["main"]
    # Also where the list is of what is decided already.
    reply = decide(ada, numbers[0], "fail", 1, back="verdict=fail&list=1").json()
    assert shown(reply["main"]) == numbers[1]
    answer = ada.post(
        "/decide", output=numbers[1], choice="fail", seen=2, back="verdict=fail&list=1"
    )
    assert answer.headers["location"].startswith(f"/case/{numbers[2]}?verdict=fail&list=1&last=")
    assert "Undo" in ada.get(answer.headers["location"]).text


def test_the_next_case_follows_the_order_that_was_chosen_in_a_list(store, ada):
    """First what most systems wrote, whatever the item, and the page does not move on by itself."""
    seen, back = [], "sort=systems"
    page = ada.get(f"/resolve?{back}").text
    assert '<option value="systems" selected>most systems first</option>' in page
    while number := shown(page):
        assert "data-stays" in page
        output = stored(store, number)
        seen.append((-len(output.systems), number))
        page = decide(ada, number, "pass", output.version, back=back).json()["main"]
    assert len(seen) == 8
    assert seen == sorted(seen)
    assert seen[0][0] == -4


def test_who_has_nothing_left_is_offered_the_work_of_others(store, ada, ben):
    fields = {"name-1": "Ada", "weight-1": "1", "name-2": "Ben", "weight-2": "0", "double": "0"}
    page = ada.post("/deal", **fields, do="plan").text
    plan = re.search(r'name="plan" value="([^"]+)"', page)[1]
    ada.post("/deal", **fields, plan=plan, do="apply")
    ada.get("/resolve")
    page = ben.get("/resolve").text
    assert "Nothing left for you" in page
    assert "8 outputs still wait for a judgement; dealt to <bdi>Ada</bdi>" in page
    assert "others are looking at 4 of them now" in page
    assert "Take over 1 item from <bdi>Ada</bdi>" in page
    answer = ben.post("/take", items="1")
    page = ben.get(answer.headers["location"]).text
    assert "You took 1 item over from Ada" in page
    assert shown(page)
    change = re.search(r'name="change" value="(\d+)"', page)[1]
    ben.live("/undo", change=change)
    assert "Nothing left for you" in ben.get("/resolve").text
