"""What the tests of reports share."""

import pytest

from tests.given import Given


@pytest.fixture(scope="session")
def given() -> type[Given]:
    return Given
