"""What the tests share: where the real data lies, and small corpora."""

import os
from pathlib import Path

# Tests run side by side, a process for each core: threads within them would only get in the way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

# A loaded machine is slow, not wrong.
settings.register_profile("assay", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("assay")

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data; tests that need it are skipped where it is missing."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the real data in {SHARED}, which is not part of the project")
    return SHARED


@pytest.fixture(autouse=True)
def _no_cache_of_the_user(tmp_path_factory, monkeypatch):
    """Annotations that tests make are kept for the tests alone."""
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path_factory.getbasetemp() / "annotations"))
