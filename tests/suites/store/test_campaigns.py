"""Stored runs by campaign, as the library gives them."""

import assay
from assay.demo import read_demo_suite
from assay.suites.store.runs import read_campaigns, read_run, save_runs
from assay.suites.store.suites import save_suite


def filled(store):
    suite, runs = read_demo_suite()
    with store.write() as connection:
        save_suite(connection, suite)
    saved = save_runs(store, runs)
    return suite, runs, saved


def test_what_was_stored_is_judged_as_files_are(store):
    suite, runs, saved = filled(store)
    autumn = [run for run in runs if run.campaign == "autumn"]
    wanted = assay.run_suite(suite, autumn)
    assert len(saved.verdicts.systems) == len(runs)
    found = read_run(store, ["autumn"])
    assert found.records() == wanted.records() == read_run(store).records()
    assert found.about == "Campaign: autumn."
    assert assay.suite_report(found).records() == assay.suite_report(wanted).records()


def test_campaigns_are_compared_as_runs_are(store):
    suite, runs, _ = filled(store)
    by_campaign = {
        name: assay.run_suite(suite, [run for run in runs if run.campaign == name])
        for name in ("spring", "autumn")
    }
    found = assay.suite_compare(read_campaigns(store)).records()
    assert found == assay.suite_compare(by_campaign).records()


def test_systems_of_one_campaign_are_versions_in_the_order_they_are_named(store):
    filled(store)
    found = read_campaigns(store, ["autumn"], ["cedar", "atlas"])
    assert assay.suite_compare(found).versions.campaigns == ("cedar", "atlas")


def test_a_suite_is_read_from_its_database(address, store):
    suite, _, _ = filled(store)
    assert assay.read_suite(address) == suite
