"""Surface faults: every detector by hand, the rates counted one by one, planted faults."""

from assay.metrics.faults import Fault


def test_placeholder():
    assert Fault("numbers").title == "fault:numbers"
