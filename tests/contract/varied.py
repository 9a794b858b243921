"""The metrics that the contract is proven for: every registered one, and many settings."""

from assay.registry import parse, registered

VARIED = (
    "bleu:effective_order=yes",
    "bleu:smooth=add-k",
    "bleu:smooth=floor,smooth_value=0.3",
    "bleu:smooth=none,max_ngram_order=2",
    "bleu:tok=char,lowercase=yes",
    "bleu:tok=intl,max_ngram_order=6",
    "chrf:word_order=2",
    "chrf:eps_smoothing=yes",
    "chrf:whitespace=yes,lowercase=yes,beta=0.7",
    "chrf:legacy=yes,beta=1",
    "ter:case_sensitive=yes",
    "ter:normalized=yes,no_punct=yes,asian_support=yes",
    "wer:tok=13a,lowercase=yes",
    "cer",
    "macrof:max_order=2",
    "macrof:beta=3,tok=intl",
    "microf:unit=char,max_order=3",
    "microf:k=0.1",
    "microf:k=0,min_order=2,max_order=4,lowercase=yes",
    "rouge:type=1",
    "rouge:type=2,stem=yes",
    "rouge:type=L,value=recall",
    "rouge:type=Lsum,value=precision,stem=yes",
)
METRICS = [*registered(), *map(parse, VARIED)]
