"""What is good and bad in a machine translation system, and how far to trust the number.

import assay
assay.score({"a": lines_a, "b": lines_b}, [reference_lines], ["bleu", "chrf"]).records()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.agreement.coefficients import Coefficient as Coefficient
    from assay.agreement.correlate import correlate as correlate
    from assay.agreement.retrieval.analysis import retrieval as retrieval
    from assay.agreement.sensitivity.analysis import sensitivity as sensitivity
    from assay.cluster import connect as connect
    from assay.comparison.favoritism import favor as favor
    from assay.comparison.types import types as types
    from assay.data import DataError as DataError
    from assay.data import Dataset as Dataset
    from assay.data import MissingInput as MissingInput
    from assay.data import Segment as Segment
    from assay.decomposition.analysis import muler as muler
    from assay.decomposition.examples import muler_examples as muler_examples
    from assay.decomposition.validate import muler_validate as muler_validate
    from assay.explanation.boost import boost as boost
    from assay.explanation.explain import explain as explain
    from assay.explanation.explainers import Explainer as Explainer
    from assay.explanation.tune import tune as tune
    from assay.features.annotation import Annotator as Annotator
    from assay.io import read as read
    from assay.metrics.base import Metric as Metric
    from assay.metrics.base import parse as parse
    from assay.metrics.bleu import BLEU as BLEU
    from assay.metrics.chrf import CHRF as CHRF
    from assay.metrics.mean import Mean as Mean
    from assay.metrics.rouge import ROUGE as ROUGE
    from assay.metrics.ter import TER as TER
    from assay.metrics.ter import WER as WER
    from assay.metrics.typef import MacroF as MacroF
    from assay.metrics.typef import MicroF as MicroF
    from assay.registry import register as register
    from assay.reports.compare import compare as compare
    from assay.reports.gate import check as check
    from assay.reports.report import report as report
    from assay.scale.batches import score_batch as score_batch
    from assay.scale.shards import score_shards as score_shards
    from assay.scale.sums import merge_sums as merge_sums
    from assay.scale.sums import score_sums as score_sums
    from assay.scoring import score as score
    from assay.scoring.pairwise import mbr as mbr
    from assay.scoring.pairwise import pairwise as pairwise
    from assay.store.history import history as history
    from assay.suites.evaluation import run_suite as run_suite
    from assay.suites.evaluation import suite_compare as suite_compare
    from assay.suites.evaluation import suite_report as suite_report
    from assay.suites.files import read_suite as read_suite
    from assay.suites.lint import lint_suite as lint_suite
    from assay.suites.model import Suite as Suite
    from assay.suites.sampling import collect_suite as collect_suite
    from assay.suites.sampling import sample_suite as sample_suite
    from assay.version import __version__ as __version__

_WHERE = {
    "Annotator": "assay.features.annotation",
    "BLEU": "assay.metrics.bleu",
    "CHRF": "assay.metrics.chrf",
    "Coefficient": "assay.agreement.coefficients",
    "DataError": "assay.data",
    "Dataset": "assay.data",
    "Explainer": "assay.explanation.explainers",
    "MacroF": "assay.metrics.typef",
    "Mean": "assay.metrics.mean",
    "Metric": "assay.metrics.base",
    "MicroF": "assay.metrics.typef",
    "MissingInput": "assay.data",
    "ROUGE": "assay.metrics.rouge",
    "Segment": "assay.data",
    "Suite": "assay.suites.model",
    "TER": "assay.metrics.ter",
    "WER": "assay.metrics.ter",
    "__version__": "assay.version",
    "boost": "assay.explanation.boost",
    "check": "assay.reports.gate",
    "collect_suite": "assay.suites.sampling",
    "compare": "assay.reports.compare",
    "connect": "assay.cluster",
    "correlate": "assay.agreement.correlate",
    "explain": "assay.explanation.explain",
    "favor": "assay.comparison.favoritism",
    "history": "assay.store.history",
    "lint_suite": "assay.suites.lint",
    "merge_sums": "assay.scale.sums",
    "mbr": "assay.scoring.pairwise",
    "muler": "assay.decomposition.analysis",
    "muler_examples": "assay.decomposition.examples",
    "muler_validate": "assay.decomposition.validate",
    "pairwise": "assay.scoring.pairwise",
    "parse": "assay.metrics.base",
    "read": "assay.io",
    "read_suite": "assay.suites.files",
    "register": "assay.registry",
    "report": "assay.reports.report",
    "run_suite": "assay.suites.evaluation",
    "sample_suite": "assay.suites.sampling",
    "retrieval": "assay.agreement.retrieval.analysis",
    "score": "assay.scoring",
    "score_batch": "assay.scale.batches",
    "score_shards": "assay.scale.shards",
    "score_sums": "assay.scale.sums",
    "sensitivity": "assay.agreement.sensitivity.analysis",
    "suite_compare": "assay.suites.evaluation",
    "suite_report": "assay.suites.evaluation",
    "tune": "assay.explanation.tune",
    "types": "assay.comparison.types",
}

_SUBMODULES = (
    *("agreement", "cluster", "comparison", "data", "decomposition", "explanation", "extras"),
    *("features", "io", "metrics", "registry", "rendering", "results", "scale", "scoring"),
    *("statistics", "store", "suites", "testing"),
)
"""Parts that `import assay` alone makes reachable: `assay.io.read_folder`."""

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    """Load what is asked for when it is asked for, so that `import assay` costs nothing."""
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    if name in _SUBMODULES:
        return import_module(f"assay.{name}")
    raise AttributeError(f"module 'assay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
