"""`compare`: which system is better, where, why, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from assay.comparison.slices import label_slices, score_slices, text_slices
from assay.comparison.words import (
    Vocabulary,
    WordClass,
    class_counts,
    form_classes,
    frequency_bins,
)
from assay.data import Array, DataError, Dataset, MissingInput, divide
from assay.features.annotation import Annotator
from assay.features.select import AnnotatedTexts, annotate_dataset, parse_features, resolve
from assay.features.spacy import default_pipeline
from assay.io.files import FilePath, read_lines
from assay.metrics.base import (
    Metric,
    Selection,
    Statistics,
    parse,
    select_metrics,
    system_statistics,
)
from assay.metrics.faults import faults_for
from assay.metrics.mean import Mean
from assay.progress import Engine, Track, spread, untracked
from assay.registry import SEED
from assay.reports.comparison import ComparisonResult
from assay.reports.findings import rank
from assay.reports.people import PeoplesErrors
from assay.reports.probes import (
    BinProbe,
    ProbeTest,
    SegmentProbe,
    SumProbe,
    Whole,
    bin_probe,
    class_probe,
    phrase_tests,
    rare_word_tests,
)
from assay.reports.recorded import observe_board, observe_probes
from assay.reports.scoreboard import Scoreboard, scoreboard
from assay.statistics.significance import against_first
from assay.statistics.significance import all_pairs as every_pair
from assay.store.results import current_store, use_store
from assay.store.runs import Observation
from assay.text import language_of, tokenize

if TYPE_CHECKING:
    from assay.suites.report import RunResult

__all__ = ["DEFAULT_METRICS", "Tagging", "compare", "slice_probes", "suite_probes"]

DEFAULT_METRICS = ("chrf", "bleu", "macrof")
TAGGED = ("upos", "ner", "morph")
"""Features that are looked at where a tagger for the language is there."""

AnyProbe: TypeAlias = SegmentProbe | SumProbe | BinProbe


@spread
def compare(
    data: Dataset,
    metrics: Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    features: Sequence[str] | None = None,
    annotator: str | Annotator | None = None,
    pipeline: str = "",
    tags: Sequence[FilePath] = (),
    cache: bool = True,
    labels: Mapping[str, Sequence[str]] | None = None,
    frequencies: FilePath | Mapping[str, int] | None = None,
    suite: RunResult | None = None,
    errors: PeoplesErrors | None = None,
    all_pairs: bool = False,
    level: float = 0.95,
    store: FilePath | None = None,
    run_name: str = "",
    seed: int = SEED,
    cluster: Engine = None,
    track: Track = untracked,
) -> ComparisonResult:
    """Compare each system with the first: which is better, where, why, and how sure that is.

    The systems are scored by the metrics, and compared on slices of the test set: segments by what
    is in them (the first metric), by document and other `labels` (a value for each segment, by the
    label's name) and by difficulty; words by class, by frequency and one by one; surface faults;
    phenomena of a `suite` (the result of `run_suite`); and `errors` that people marked. What stands
    out is ranked, the strongest first; what says the same again goes under it.

    - `features`: linguistic features, as in `muler`. By default parts of speech, entities and
      morphology where a tagger for the target language is installed; `()` for none. `annotator`,
      `pipeline`, `tags` and `cache` are those of `muler`.
    - `frequencies`: a training corpus, as a file of text or as counts of words; without it the
      frequencies of words are those in the references.
    - `all_pairs`: compare every two systems, not only each with the first.
    - `level`: of all intervals.
    - `store`: a folder that keeps results, and `run_name` the name of the run in it: see `score`.

    Every p is that of a sign-flip test, adjusted over everything that was looked at by Benjamini
    and Hochberg's method.

    >>> from assay.demo import read_demo
    >>> first = compare(read_demo(), features=()).records()[0]
    >>> first["system"], first["other"], first["slice"]
    ('cedar', 'atlas', 'words found nowhere else')
    """
    _check(data, level)
    with use_store(store) as kept:
        result = _compared(
            data,
            select_metrics(metrics, data),
            tagging=Tagging(annotator, pipeline, tags, cache),
            features=features,
            labels=labels or {},
            frequencies=frequencies,
            suite=suite,
            errors=errors,
            all_pairs=all_pairs,
            level=level,
            seed=seed,
            track=track,
        )
        if kept:
            kept.add_dataset_run("compare", data, result.observations, name=run_name)
    return result


def _compared(
    data: Dataset,
    selection: Selection,
    *,
    tagging: Tagging,
    features: Sequence[str] | None,
    labels: Mapping[str, Sequence[str]],
    frequencies: FilePath | Mapping[str, int] | None,
    suite: RunResult | None,
    errors: PeoplesErrors | None,
    all_pairs: bool,
    level: float,
    seed: int,
    track: Track,
) -> ComparisonResult:
    statistics = [system_statistics(data, metric) for metric in selection.metrics]
    statistics += [_peoples_scores(data, name) for name in _rated(data)]
    count = len(data.systems)
    pairs = every_pair(count) if all_pairs else against_first(count)
    notes = list(selection.notes)
    leading = statistics[0]
    words = Vocabulary.of(data)
    everything: list[AnyProbe] = [
        *slice_probes(
            data,
            leading,
            words,
            features=features,
            tagging=tagging,
            labels=labels,
            frequencies=frequencies,
            errors=errors,
            notes=notes,
            track=track,
        ),
        *_fault_probes(data, notes),
        *suite_probes(data, suite),
    ]
    probes = [probe for probe in everything if _says_something(probe)]
    wholes = {pair: _whole(data, leading, pair) for pair in pairs}
    phrases = (words, Vocabulary.of(data, order=2))
    steps = (_tests(data, probes, phrases, pair, wholes[pair]) for pair in pairs)
    tests = [test for found in track(steps, total=len(pairs), label="Comparing") for test in found]
    overall = {pair: whole.contributions for pair, whole in wholes.items()}
    board = scoreboard(data, statistics, level=level, seed=seed)
    return ComparisonResult(
        data=data,
        board=board,
        findings=tuple(rank(tests, overall, list(data.systems), level=level)),
        pairs=tuple(pairs),
        level=level,
        slices=tuple(probe for probe in probes if isinstance(probe, SegmentProbe)),
        labels=labels,
        faults={
            probe.name: probe.rows[:, :, 0] > 0
            for probe in probes
            if isinstance(probe, SumProbe) and probe.kind == "fault"
        },
        tagged=tuple(
            dict.fromkeys(probe.name.partition(":")[0] for probe in probes if probe.kind == "words")
        ),
        notes=tuple(dict.fromkeys(notes)),
        suite=suite,
        observations=_observations(data, board, everything, level),
    )


def _observations(
    data: Dataset, board: Scoreboard, probes: Sequence[AnyProbe], level: float
) -> tuple[Observation, ...]:
    """What a store keeps of the comparison; nothing without a store."""
    store = current_store()
    if store is None:
        return ()
    signature = board.standings[0].signature
    return (
        *observe_board(store, data, board, level=level),
        *observe_probes(data.systems, probes, level=level, signature=signature),
    )


def _check(data: Dataset, level: float) -> None:
    if len(data.systems) < 2:
        raise MissingInput("systems", "a comparison needs at least two systems")
    if not len(data):
        raise DataError("there is nothing to compare: the test set has no segments.")
    if not all(data.references):
        raise MissingInput("references", "compare needs a reference for every segment")
    if not 0 < level < 1:
        raise DataError(f"level {level:g}: give a share between 0 and 1, such as 0.95.")


def _rated(data: Dataset) -> list[str]:
    """People's scores of segments that at least two of the systems have."""
    return [
        name
        for name, scores in data.human.items()
        if scores.granularity == "segment"
        and (~np.isnan(scores.select(list(data.systems)).values)).any(axis=1).sum() > 1
    ]


def _peoples_scores(data: Dataset, name: str) -> list[Statistics]:
    values = data.human[name].select(list(data.systems)).values
    return [Mean(name).of(row) for row in values]


def _whole(data: Dataset, statistics: Sequence[Statistics], pair: tuple[int, int]) -> Whole:
    """What the pair shows everywhere; a segment weighs by the length of its reference."""
    lengths = np.array([max(1, len(lines[0])) for lines in data.references], float)
    return Whole(statistics[pair[0]].contributions(statistics[pair[1]]), lengths)


def _tests(
    data: Dataset,
    probes: Sequence[AnyProbe],
    phrases: Sequence[Vocabulary],
    pair: tuple[int, int],
    whole: Whole,
) -> list[ProbeTest]:
    found = [probe.test(*pair, whole) for probe in probes]
    for vocabulary in phrases:
        found += phrase_tests(vocabulary, *pair)
    return [*found, *rare_word_tests(data, phrases[0], *pair)]


def slice_probes(
    data: Dataset,
    leading: Sequence[Statistics],
    words: Vocabulary,
    *,
    features: Sequence[str] | None,
    tagging: Tagging,
    labels: Mapping[str, Sequence[str]],
    frequencies: FilePath | Mapping[str, int] | None,
    errors: PeoplesErrors | None,
    notes: list[str],
    track: Track,
) -> list[AnyProbe]:
    """All slices of segments (by the leading metric) and of words, and errors that people marked.

    What is worth knowing about the tags goes to `notes`.
    """
    classes = _tagged_classes(data, features, tagging, notes=notes, track=track)
    return [
        *_segment_probes(data, leading, labels),
        *_word_probes(data, words, classes, _frequencies(frequencies)),
        *(errors.probes(data) if errors else ()),
    ]


def _segment_probes(
    data: Dataset, statistics: Sequence[Statistics], labels: Mapping[str, Sequence[str]]
) -> list[SegmentProbe]:
    metric = statistics[0].metric
    scores = np.array([metric.oriented(each.for_segments().segments()) for each in statistics])
    parts = [*text_slices(data), *label_slices(data, labels), *score_slices(scores)]
    return [SegmentProbe.of(part, statistics, metric.title) for part in parts]


def _word_probes(
    data: Dataset,
    words: Vocabulary,
    tagged: Sequence[WordClass],
    frequencies: Mapping[str, int] | None,
) -> Iterator[SumProbe | BinProbe]:
    everything = words.counts(np.ones(len(words.types), bool))
    for part in (*form_classes(data, words), *tagged):
        yield class_probe("words", part, everything)
    for found in frequency_bins(words, frequencies):
        yield bin_probe(found, words)


class Tagging(NamedTuple):
    """How texts are tagged; see `muler`."""

    annotator: str | Annotator | None
    pipeline: str
    tags: Sequence[FilePath]
    cache: bool


def _tagged_classes(
    data: Dataset,
    features: Sequence[str] | None,
    tagging: Tagging,
    *,
    notes: list[str],
    track: Track,
) -> list[WordClass]:
    """Words by what a tagger says of them; by default what can be had."""

    def annotate(wanted: Sequence[str]) -> AnnotatedTexts:
        watched = partial(track, label="Tagging")
        return annotate_dataset(data, wanted, **tagging._asdict(), track=watched, warn=notes.append)

    if features is None:
        told = tagging.annotator is not None or tagging.pipeline or tagging.tags
        if told or _has_tagger(data):
            return _usual_classes(annotate, tagging)
        code = language_of(data, "target").code or "this language"
        notes.append(f"no tagger for {code} is installed: words are classed by form only.")
    if not features:
        return []
    found = annotate(features)
    return class_counts(found.systems, found.references, found.features)


def _usual_classes(
    annotate: Callable[[Sequence[str]], AnnotatedTexts], tagging: Tagging
) -> list[WordClass]:
    """Words by all that a tagger says of them, or files: universal tags, or tags of any kind."""
    universal = all(str(path).endswith((".conllu", ".conll")) for path in tagging.tags)
    found = annotate(["upos" if universal else "tags"])
    texts = [*chain(*found.systems.values()), *chain(*found.references)]
    layers = {layer for text in texts for layer, spans in text.layers.items() if spans}
    wanted = [kind for kind in (*TAGGED, "tags") if kind in layers]
    features = resolve(parse_features(wanted), texts)
    return class_counts(found.systems, found.references, features)


def _has_tagger(data: Dataset) -> bool:
    try:
        default_pipeline(language_of(data, "target").code or "?")
    except DataError:
        return False
    return True


def _frequencies(given: FilePath | Mapping[str, int] | None) -> Mapping[str, int] | None:
    if given is None or isinstance(given, Mapping):
        return given
    counts: dict[str, int] = {}
    for line in tokenize(read_lines(given)):
        for word in line:
            counts[word] = counts.get(word, 0) + 1
    return counts


def _fault_probes(data: Dataset, notes: list[str]) -> Iterator[SumProbe]:
    family = faults_for(data)
    notes += family.notes
    for kind in family.kinds:
        ready = parse(f"fault:{kind}").for_dataset(data)
        rows = np.stack([each.rows for each in system_statistics(data, ready)])
        yield SumProbe(
            "fault", kind, "segments", "%", False, False, rows, ready.aggregate, judged=True
        )


def _says_something(probe: AnyProbe) -> bool:
    """Whether there is anything to compare: a fault that nobody has is none."""
    return not (
        isinstance(probe, SumProbe) and probe.kind == "fault" and not probe.rows[:, :, 0].any()
    )


def suite_probes(data: Dataset, suite: RunResult | None) -> Iterator[SumProbe]:
    """Categories and phenomena, over the items on which all systems have a verdict."""
    if suite is None:
        return
    from assay.suites.check import FAIL, PASS

    verdicts = suite.verdicts
    if missing := [name for name in data.systems if name not in verdicts.systems]:
        raise DataError(f"the suite has no outputs of {', '.join(missing)}.")
    codes = verdicts.codes[[verdicts.systems.index(name) for name in data.systems]]
    passed, failed = codes == PASS, codes == FAIL
    fair = (passed | failed).all(axis=0)
    rows = np.stack([passed & fair, np.broadcast_to(fair, codes.shape)], axis=-1).astype(float)
    groups: dict[str, list[int]] = {}
    for at, item in enumerate(verdicts.items):
        groups.setdefault(item.category, []).append(at)
        if item.phenomenon != item.category:
            groups.setdefault(f"{item.category}: {item.phenomenon}", []).append(at)
    for name, places in groups.items():
        chosen = np.zeros_like(rows)
        chosen[:, places] = rows[:, places]
        yield SumProbe(
            "phenomenon", name, "accuracy", "%", True, False, chosen, _percent, domain="items"
        )


def _percent(sums: Array) -> Array:
    return 100 * divide(sums[:, 0], sums[:, 1])
