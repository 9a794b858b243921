"""What the tests of retrieval share: Cranfield, searched once."""

from typing import NamedTuple

import pytest

from assay.agreement.retrieval.collection import (
    BM25,
    Collection,
    Judgements,
    Run,
    read_judgements,
    read_queries,
    read_trec_documents,
)


class Cranfield(NamedTuple):
    documents: Collection
    queries: dict[str, str]
    judgements: Judgements
    run: Run


@pytest.fixture(scope="session")
def cranfield(shared):
    folder = shared / "cranfield"
    documents = read_trec_documents(folder / "cran.all.1400.xml")
    queries = read_queries(folder / "cran.qry.xml", numbered=True)
    judgements = read_judgements(folder / "cranqrel.trec.txt")
    return Cranfield(documents, queries, judgements, BM25().search(documents, queries))
