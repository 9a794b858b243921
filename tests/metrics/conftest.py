"""What the tests of metrics share: an oracle to hold a metric against."""

import pytest


@pytest.fixture
def equal_scores(caplog):
    """Assert that a metric of ours gives sacreBLEU's corpus and segment scores, within 1e-9."""
    # It advises effective_order for every single sentence.
    caplog.set_level("ERROR", "sacrebleu")

    def check(ours, theirs, texts):
        statistics = ours.statistics(texts.segments())
        whole = theirs.corpus_score(texts.hypotheses, texts.references).score
        assert statistics.corpus() == pytest.approx(whole, abs=1e-9, rel=0)
        alone = [
            theirs.sentence_score(line, [each for each in references if each is not None]).score
            for line, *references in zip(texts.hypotheses, *texts.references, strict=True)
        ]
        assert statistics.segments() == pytest.approx(alone, abs=1e-9, rel=0)

    return check
