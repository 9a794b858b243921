"""Outputs in the wrong script or in another language than the target's."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain

from assay.metrics.fault_detectors import KEPT, Found, words_of
from assay.text import Pair, rank_languages

__all__ = ["wrong_language"]

_RANGES = {
    "Latin": "A-Za-zªºÀ-ÖØ-öø-ʯḀ-ỿⱠ-Ɀ꜠-ꟿ",
    "Greek": "Ͱ-Ͽἀ-῿",
    "Cyrillic": "Ѐ-ԯᲀ-ᲈⷠ-ⷿꙀ-ꚟ",
    "Armenian": "Ա-֏",
    "Hebrew": "א-ת",
    "Arabic": "ء-يٱ-ۓە-ۿݐ-ݿࢠ-ࣿﭐ-﷿ﹰ-ﻼ",
    "Devanagari": "ऄ-ॡ",
    "Bengali": "অ-ৡ",
    "Gurmukhi": "ਅ-ੜ",
    "Gujarati": "અ-ૡ",
    "Tamil": "அ-ஹ",
    "Telugu": "అ-ౡ",
    "Kannada": "ಅ-ೡ",
    "Malayalam": "അ-ൡ",
    "Sinhala": "අ-ෆ",
    "Thai": "ก-ฮ",
    "Lao": "ກ-ຮ",
    "Myanmar": "က-ဪ",
    "Georgian": "Ⴀ-ჼ",
    "Ethiopic": "ሀ-ፚ",
    "Khmer": "ក-ឳ",
    "Inuktitut": "ᐁ-ᙶ",
    "Kana": "ぁ-ゖァ-ヺ",
    "Hangul": "가-힣ㄱ-ㆎ",
    "Han": "㐀-䶿一-鿿豈-﫿",
}
_SCRIPT = re.compile("|".join(f"(?P<{name}>[{span}]+)" for name, span in _RANGES.items()))
_FOREIGN = re.compile(f"[^\\W\\d_{_RANGES['Latin']}]")

_CODES = """
Cyrillic:ru,uk,be,bg,mk,sr,kk,ky,mn,tg Greek:el Armenian:hy Hebrew:he,yi Arabic:ar,fa,ur,ps,ug
Devanagari:hi,mr,ne Bengali:bn,as Gurmukhi:pa Gujarati:gu Tamil:ta Telugu:te Kannada:kn
Malayalam:ml Sinhala:si Thai:th Lao:lo Myanmar:my Georgian:ka Ethiopic:am Khmer:km Inuktitut:iu
Kana:ja Han:ja,zh Hangul:ko Latin:sr,kk,iu
"""
_SCRIPTS: dict[str, set[str]] = {}
for _entry in _CODES.split():
    _name, _, _list = _entry.partition(":")
    for _code in _list.split(","):
        _SCRIPTS.setdefault(_code, set()).add(_name)

_FUNCTION_WORDS = {
    code: frozenset(words.split())
    for code, words in {
        "en": "the of and to in a is that for on with was as are be by it from at he has this "
        "have his an were which not but will they its been or i we you their said who would",
        "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als "
        "auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem ich",
        "fr": "le la les de des et à en un une du que qui dans pour par sur au est pas plus ne se "
        "il elle ce cette sont avec ont aux été nous je vous mais",
        "es": "el la los las de y en un una que del se por con para es no su al lo como más ha sus "
        "pero fue son este entre también",
        "it": "il la le di e in un una che del della per con non è si da i al dei nel sono ha come "
        "più anche gli alla ma",
        "pt": "o a os as de e em um uma que do da no na por com para não se é ao dos das mais como "
        "foi são mas",
        "nl": "de het een van en in op te dat die is voor met zijn aan niet door er als om ook bij "
        "uit naar was wordt heeft",
        "ru": "и в не на что с по он это как из к за от о для но его то у же так был все а они",
        "cs": "a v se na je že o z s do i to k pro ve by za jsem si ale po jako které který od už",
        "pl": "i w na z do się nie że o to jest za po od przez dla jak ale przy są który jako",
    }.items()
}

ENOUGH, DIFFERENT = 0.2, 3
"""The share of function words of the target language, and how many of them, are proof enough."""

SHARED = 0.25
"""The share of words of a reference from which on the output is in its language."""

FEWEST_LETTERS, FEWEST_WORDS = 20, 2
"""Of outputs with less, not counting names, only the script is looked at."""

MANY_LETTERS = 60
UNLIKELY, VERY_UNLIKELY = 0.1, 0.02
"""The probability of the target language below which it is another: of short texts the lesser."""

_ALIKE = (
    "hr sr bs sl", "no nb nn da sv", "id ms jv", "cs sk", "gl pt es ca", "de lb als", "nl af",
    "bg mk sr ru uk be", "en pcm", "zh wuu yue ja", "fa ps ur ar ug", "hi mr ne", "kk ky tt",
    "et fi", "tr az", "fr oc br", "it la ro es pt", "xh zu",
)  # fmt: skip
_NEAR = {
    code: frozenset(chain(*(group.split() for group in _ALIKE if code in group.split())))
    for code in chain(*map(str.split, _ALIKE))
}
"""Languages that short texts are mistaken for."""


def wrong_language(
    output: str, source: str, references: tuple[str, ...], languages: Pair = ("", "")
) -> Found:
    """Whether the output is in another script or language than the target's, as far as it shows.

    Without the target language that of the references is taken; None where there is neither.
    """
    target = languages[1]
    wanted = _SCRIPTS.get(target, {"Latin"}) if target else set[str]()
    wanted = wanted.union(*map(_main_scripts, references))
    if not wanted:
        return None
    if _foreign_script(output, source, references, wanted):
        return True
    words = words_of(output)
    ours = [word.lower() for word in words]
    if sum(map(len, ours)) < FEWEST_LETTERS or _is_usual(ours, target, references):
        return False
    plain = sum(not word[0].isupper() for word in words)
    if plain < FEWEST_WORDS and not output.isupper():
        return False
    return _other_language(output, target, languages[0], references)


def _foreign_script(
    output: str, source: str, references: tuple[str, ...], wanted: set[str]
) -> bool:
    """Most letters, or a word that source and references do not have, in another script."""
    if "Latin" in wanted and not _FOREIGN.search(output):
        return False
    found = _by_script(output)
    total = sum(found.values())
    # Names, units and brands are Latin everywhere; other scripts do not visit each other.
    if 2 * sum(count for name, count in found.items() if name not in wanted) > max(total, 7):
        return not _main_scripts(output) & set().union(*map(_main_scripts, references))
    strange = set(found) - wanted - {"Latin", "Greek"}
    if not strange:
        return False
    known = references if _main_scripts(source) - wanted else (source, *references)
    runs = [match[0] for match in _SCRIPT.finditer(output) if match.lastgroup in strange]
    return any(len(run) > 1 and not any(run in text for text in known) for run in runs)


@lru_cache(maxsize=KEPT)
def _by_script(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for match in _SCRIPT.finditer(text):
        name = str(match.lastgroup)
        counts[name] = counts.get(name, 0) + len(match[0])
    return counts


def _main_scripts(text: str) -> set[str]:
    """The scripts of at least a third of the letters."""
    counts = _by_script(text)
    total = sum(counts.values())
    return {name for name, count in counts.items() if 3 * count >= total}


def _is_usual(ours: list[str], target: str, references: tuple[str, ...]) -> bool:
    """Whether words show that no model need be asked."""
    usual = _FUNCTION_WORDS.get(target, frozenset())
    found = [word for word in ours if word in usual]
    if len(found) >= ENOUGH * len(ours) and len(set(found)) >= DIFFERENT:
        return True
    for text in references:
        known = {word.lower() for word in words_of(text)}
        if sum(word in known for word in ours) >= SHARED * len(ours):
            return True
    return False


def _other_language(output: str, target: str, source: str, references: tuple[str, ...]) -> bool:
    target = target or (_best(references[0])[0] if references else "")
    if not target:
        return False
    ranked = _ranked(output)
    code, _ = _best(output)
    if code == target or (code in _NEAR.get(target, ()) and code != source):
        return False
    near = _NEAR.get(target, frozenset()) - {source} | {target}
    letters = sum(map(str.isalpha, output[:1000]))
    limit = UNLIKELY if code == source or letters >= MANY_LETTERS else VERY_UNLIKELY
    if sum(ranked.get(each, 0.0) for each in near) > limit:
        return False
    return all(_best(text)[0] != code for text in references)


def _best(text: str) -> tuple[str, float]:
    return max(_ranked(text).items(), key=lambda entry: entry[1])


@lru_cache(maxsize=KEPT)
def _ranked(text: str) -> dict[str, float]:
    # All of a text in capitals looks like another language.
    text = text[:2000]
    return rank_languages(text.lower() if text.isupper() else text)
