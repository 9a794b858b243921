"""A lead and invited people, each in a browser: links, roles, names, two names of one person."""

from assay.suites.store.finding import find
from assay.suites.store.people import add_person, appoint
from assay.suites.store.records import Filters
from tests.browser import test_resolve_page
from tests.browser.test_resolve_page import PASSWORD, press, press_and_wait, shown

pytestmark = test_resolve_page.pytestmark
chromium, store = test_resolve_page.chromium, test_resolve_page.store
serve, visit = test_resolve_page.serve, test_resolve_page.visit


def invited(lead, name):
    """The one-time link that a lead makes for somebody in the page."""
    lead.get_by_label("Name", exact=True).fill(name)
    lead.get_by_role("button", name="Make a one-time link").click()
    return lead.get_by_label(f"This link logs {name} in").input_value()


def deciders(store, text):
    with store.read() as connection:
        found, _ = find(connection, Filters(text=text))
    return [decision.person for _, output in found for decision in output.decisions]


def test_a_lead_invites_appoints_renames_and_merges_people(store, serve, visit):
    with store.write() as connection:
        appoint(connection, add_person(connection, "Ada", PASSWORD).id)
    home = serve("--login").rstrip("/")
    ada = visit(home)
    ada.fill("[name=name]", "Ada")
    ada.fill("[name=password]", PASSWORD)
    press(ada, "Enter")
    ada.wait_for_selector(".case")
    ada.goto(f"{home}/people")
    # Two links, for two names of one person; each works once.
    links = [invited(ada, name) for name in ("Ben", "B.")]
    ben, eva = map(visit, links)
    for page in (ben, eva):
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url("**/account")
    stranger = visit(links[0])
    stranger.get_by_role("button", name="Log in").click()
    stranger.get_by_role("heading", name="This link does not work").wait_for()
    # Ben judges, and looks at people without changing them.
    ben.goto(f"{home}/resolve")
    ben.wait_for_selector(test_resolve_page.READY)
    text = shown(ben)
    press_and_wait(ben, "p")
    ben.goto(f"{home}/people")
    assert ben.get_by_role("button", name="Make lead").count() == 0
    # Once he is a lead, he may, and gives himself another name; Ada's page shows it.
    ada.get_by_role("button", name="Make lead: Ben").click()
    ada.get_by_role("button", name="No longer lead: Ben").wait_for()
    ben.reload()
    ben.get_by_label("New name of Ben").fill("Benno")
    ben.get_by_role("button", name="Rename Ben").click()
    ben.get_by_role("rowheader", name="Benno").wait_for()
    ada.reload()
    assert deciders(store, text) == ["Benno"]
    # Both names are one person: what that means is shown, and can be left.
    ada.get_by_label("B. is the same person as").select_option("Benno")
    ada.get_by_role("button", name="Merge … B.").click()
    ada.get_by_role("heading", name="Merge B. into Benno?").wait_for()
    ada.get_by_role("link", name="Cancel").click()
    assert ada.get_by_role("rowheader", name="B.", exact=True).count() == 1
    ada.get_by_label("B. is the same person as").select_option("Benno")
    ada.get_by_role("button", name="Merge … B.").click()
    ada.get_by_role("button", name="Merge the two").click()
    ada.wait_for_url("**/people*")
    assert ada.get_by_role("rowheader", name="B.", exact=True).count() == 0
    eva.goto(f"{home}/people")
    assert eva.get_by_title("Your account").inner_text() == "Benno"
    assert eva.get_by_role("button", name="No longer lead: Ada").is_visible()
