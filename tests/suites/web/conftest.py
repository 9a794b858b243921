"""A server without a network, and people who use it."""

import shutil
import warnings

import pytest

from assay.suites.store.opening import open_store
from assay.suites.store.queue import next_case
from assay.suites.web.app import make_app
from assay.suites.web.site import ServerSettings
from tests.suites.web.hubby import new_store

with warnings.catch_warnings():
    # Starlette's client would rather have httpx2; it does all that is needed with httpx.
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

HOME = "http://127.0.0.1:8000"
JSON = {"Accept": "application/json"}


class Visitor:
    """Somebody with a browser of their own, who has opened the link with the token."""

    def __init__(self, app):
        self.client = TestClient(app, base_url=HOME, follow_redirects=False)
        settings = app.state.site.settings
        self.client.cookies.set(f"{settings.cookie}-token", settings.token)

    def get(self, path, **options):
        return self.client.get(path, **options)

    def post(self, path, **fields):
        """Send a form as a browser without a script does."""
        return self.client.post(path, data=fields)

    def live(self, path, **fields):
        """Send a form as the page's script does."""
        return self.client.post(path, data=fields, headers=JSON)

    def enter(self, name, **fields):
        """Log in, and come to the main page."""
        answer = self.post("/login", name=name, **fields)
        self.get("/resolve")
        return answer


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    """The small suite in SQLite, as nobody has touched it."""
    path = tmp_path_factory.mktemp("fresh") / "suite.db"
    new_store(path).close()
    return path


@pytest.fixture
def store(fresh, tmp_path):
    """The small suite in SQLite."""
    store = open_store(shutil.copy(fresh, tmp_path / "suite.db"))
    yield store
    store.close()


@pytest.fixture
def app(store):
    """The pages for people at this machine."""
    return make_app(store)


@pytest.fixture
def guarded(store):
    """The pages for people with accounts."""
    return make_app(store, ServerSettings(accounts=True, hosts=None))


@pytest.fixture
def ada(app):
    """Somebody who has said her name."""
    visitor = Visitor(app)
    visitor.enter("Ada")
    return visitor


@pytest.fixture
def ben(app):
    """Somebody else."""
    visitor = Visitor(app)
    visitor.enter("Ben")
    return visitor


@pytest.fixture
def bare(tmp_path):
    """A database without a suite."""
    store = open_store(tmp_path / "new.db", create=True)
    yield store
    store.close()


@pytest.fixture
def ann(bare):
    """The first person at an empty database, who leads."""
    visitor = Visitor(make_app(bare))
    visitor.enter("Ann")
    return visitor


@pytest.fixture
def first(store, ada):
    """The first case of Ada's queue."""
    with store.read() as connection:
        return next_case(connection, 1)
