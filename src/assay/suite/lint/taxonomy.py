"""The names of the published German-English suite: categories and what phenomena they have.

From Table 7 of Avramidis et al. (2020), "Fine-grained linguistic evaluation for state-of-the-art
machine translation".
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["TAXONOMY"]

_TENSES = ("future I", "perfect", "pluperfect", "present", "preterite")
_MOODS = ("future I subjunctive II", "pluperfect subjunctive II", "preterite subjunctive II")
_LATER = ("future II", "future II subjunctive II")
_VERBS = ("Ditransitive", "Intransitive", "Reflexive", "Transitive")

TAXONOMY: Mapping[str, tuple[str, ...]] = {
    "Ambiguity": ("Lexical ambiguity", "Structural ambiguity"),
    "Composition": ("Compound", "Phrasal verb"),
    "Coordination & ellipsis": ("Gapping", "Right node raising", "Sluicing", "Stripping"),
    "False friends": ("False friends",),
    "Function word": ("Focus particle", "Modal particle", "Question tag"),
    "LDD & interrogatives": (
        "Extended adjective construction",
        "Extraposition",
        "Multiple connectors",
        "Pied-piping",
        "Polar question",
        "Scrambling",
        "Topicalization",
        "Wh-movement",
    ),
    "MWE": ("Collocation", "Idiom", "Prepositional MWE", "Verbal MWE"),
    "Named entity & terminology": (
        "Date",
        "Domainspecific term",
        "Location",
        "Measuring unit",
        "Proper name",
    ),
    "Negation": ("Negation",),
    "Non-verbal agreement": ("Coreference", "External possessor", "Internal possessor"),
    "Punctuation": ("Comma", "Quotation marks"),
    "Subordination": (
        "Adverbial clause",
        "Cleft sentence",
        "Free relative clause",
        "Indirect speech",
        "Infinitive clause",
        "Object clause",
        "Pseudo-cleft sentence",
        "Relative clause",
        "Subject clause",
    ),
    "Verb tense/aspect/mood": (
        "Conditional",
        "Imperative",
        "Progressive",
        *(f"{verb} - {form}" for verb in _VERBS for form in (*_TENSES, *_MOODS, *_LATER)),
        *(f"{verb} - {form}" for verb in ("Modal", "Modal negated") for form in _TENSES + _MOODS),
    ),
    "Verb valency": (
        "Case government",
        "Mediopassive voice",
        "Passive voice",
        "Resultative predicates",
    ),
}
"""Categories, and the phenomena of each."""
