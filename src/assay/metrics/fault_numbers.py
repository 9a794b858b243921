"""Numbers of a text, however they are written, and those that a translation lost or made up."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

__all__ = ["lost", "made_up", "numbers_in"]

KEPT = 2**16
"""Texts whose numbers are kept in memory."""

_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
_NUMBER = re.compile(r"\d+(?:[.,'’\u00a0\u202f\u2009 ]\d+)*")
_THOUSANDS = re.compile(
    r"(\d{1,3}(?:([.,'’\u00a0\u202f\u2009 ])\d{3})(?:\2\d{3})*|\d{1,2}(?:,\d\d)+,\d{3})"
    r"(?:[.,](\d+))?"
)
_GROUP = re.compile(r"\d+")
_FRACTIONS = str.maketrans(
    {"½": " 1/2", "¼": " 1/4", "¾": " 3/4", "⅓": " 1/3", "⅔": " 2/3", "⅛": " 1/8"}
)

_SCALES = {
    3: "thousand thousands tausend tsd mille mil mila тыс тысяч тысячи tisíc tisíce tysięcy 千",
    4: "万 萬 만",
    6: "million millions mio millionen mn m millones milhões milioni миллион миллиона "
    "миллионов млн milionů milionu miliony milionów miljoen milyon miljoonaa miljonit 百万",
    7: "千万",
    8: "亿 億 억",
    9: "billion billions bn mrd milliarde milliarden milliards milliard miliard miliardi miliardy "
    "miliardů миллиард миллиарда миллиардов млрд milyar miljardia miljardit 十亿",
    12: "trillion trillions billionen 万亿",
}
_SCALE = {word: power for power, words in _SCALES.items() for word in words.split()}
_LONG_SCALES = sorted((word for word in _SCALE if not word.isascii()), key=len, reverse=True)
_AFTER = re.compile(
    rf"(?:[-–—~至到]\d[\d.]{{0,9}})?[\s\u00a0-]?({'|'.join(_LONG_SCALES)}|[a-z]+)", re.IGNORECASE
)

_COUNTED = """
one two three four five six seven eight nine ten eleven twelve
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
once twice thrice
ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf
eine zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte zwölfte
eins beide drittel viertel fünftel sechstel siebtel achtel neuntel zehntel
einen zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften zwölften
erste zwo dreier vierer
un deux trois quatre cinq six sept huit neuf dix onze douze
une deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième
uno dos tres cuatro cinco seis siete ocho nueve diez once doce
una due tre quattro cinque sei sette otto nove dieci undici dodici
um dois três quatro cinco seis sete oito nove dez onze doze
een twee drie vier vijf zes zeven acht negen tien elf twaalf
один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать
одного двух трех четырех пяти шести семи восьми девяти десяти одиннадцати двенадцати
одна две трёх четырёх пятый шестой седьмой восьмой девятый десятый
первый второй третий четвертый
jeden dva tři čtyři pět šest sedm osm devět deset jedenáct dvanáct
jedna dvě tří čtyř pěti šesti sedmi osmi devíti deseti jedenácti dvanácti
první druhý třetí čtvrtý pátý šestý sedmý osmý devátý desátý
jeden dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście
bir iki üç dört beş altı yedi sekiz dokuz on
yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen
üks kaks kolm neli viis kuus seitse kaheksa üheksa kümme
en två tre fyra fem sex sju åtta nio tio elva tolv
january february march april may june july august september october november december
jan feb mar apr may jun jul aug sep oct nov dec
januar februar märz april mai juni juli august september oktober november dezember
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
januari februari maart april mei juni juli augustus september oktober november december
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
ledna února března dubna května června července srpna září října listopadu prosince
stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu
jaanuar veebruar märts aprill mai juuni juuli august september oktoober november detsember
i ii iii iv v vi vii viii ix x xi xii
"""
_TEENS = """
thirteen fourteen fifteen sixteen seventeen eighteen nineteen
thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth
dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn
xiii xiv xv xvi xvii xviii xix
"""
_TENS = """
ten twenty thirty forty fifty sixty seventy eighty ninety hundred
teens twenties thirties forties fifties sixties seventies eighties nineties
zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert
dix vingt trente quarante cinquante soixante
diez veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien
десять двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто сто
x xx xxx
"""
_OTHERS = {
    "both": 2, "double": 2, "couple": 2, "pair": 2, "half": 2, "halb": 2, "hälfte": 2, "triple": 3,
    "quarter": 4, "dozen": 12, "dutzend": 12, "decade": 10, "jahrzehnt": 10, "century": 100,
    "jahrhundert": 100, "midnight": 24, "noon": 12, "mitternacht": 24, "mittag": 12,
    "hundreds": 100, "thousand": 1000, "thousands": 1000, "tausend": 1000, "million": 10**6,
    "single": 1, "an": 1, "a": 1, "einem": 1, "einer": 1, "eines": 1, "sole": 1, "only": 1,
}  # fmt: skip


def _named() -> Iterator[tuple[str, int]]:
    for rows, start, step in ((_COUNTED, 1, 1), (_TEENS, 13, 1), (_TENS, 10, 10)):
        for row in rows.strip().split("\n"):
            for place, word in enumerate(row.split()):
                yield word, start + step * place
    yield from _OTHERS.items()


_NAMES: dict[str, set[int]] = {}
for _word, _value in _named():
    _NAMES.setdefault(_word, set()).add(_value)
"""Words that stand for a number in some language, months and ordinals included."""

_UNITS = dict(zip(_COUNTED.split("\n")[4].split()[:9], range(1, 10), strict=True))
_STEMS = tuple(
    word for row in (_COUNTED.split("\n")[4], _TEENS.split("\n")[3], _TENS.split("\n")[3])
    for word in row.split()
)  # fmt: skip
_GERMAN = re.compile(
    rf"({'|'.join(_UNITS)})und((?:zwan|drei|vier|fünf|sech|sieb|acht|neun)[zß]ig)|"
    rf"({'|'.join(sorted(_STEMS, key=len, reverse=True))})"
)
_LETTERS = re.compile(r"[^\W\d_]+")
_CHINESE = re.compile("[〇零一二两兩三四五六七八九十百千万亿]+")
_CHINESE_DIGITS = {char: place for place, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0, "两": 2, "兩": 2,
}  # fmt: skip
_CLOCK = re.compile(
    r"\d ?[ap]\.? ?m\b|\buhr\b|o['’]clock|\d:\d\d|\d ?h\b|\bheures?\b|часов|hodin|\bsaat|[点點時时]"
    r"|\bkello|\bkell",
    re.IGNORECASE,
)


class Mention(NamedTuple):
    """A number where a text has it.

    `values` are what it may stand for (150 million: also 150,000,000), any of which is enough;
    `parts` are numbers of which all together are enough as well (4.2 million: 4 and 2).
    """

    values: frozenset[str]
    parts: frozenset[str] = frozenset()


class Numbers(NamedTuple):
    """The numbers that a text has in digits, all their values, and whether it has clock times."""

    mentions: tuple[Mention, ...]
    known: frozenset[str]
    clock: bool


@lru_cache(maxsize=KEPT)
def numbers_in(text: str) -> Numbers:
    """The numbers of a text; zeros do not count, as 14:00 is 2 pm.

    >>> [sorted(each.values) for each in numbers_in("1.000 Euro am 07.05.").mentions]
    [['1000'], ['7'], ['5']]
    """
    if not text.isascii():
        text = text.translate(_FRACTIONS)
        text = _FOREIGN_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)
    mentions = tuple(_mentions(text))
    known = frozenset().union(*(values | parts for values, parts in mentions))
    return Numbers(mentions, known, bool(mentions and _CLOCK.search(text)))


def lost(original: str, output: str, others: Iterable[str] = ()) -> bool:
    """Whether the output lacks a number that the original has, and all the others have, too."""
    mentions = numbers_in(original).mentions
    missing = [each for each in mentions if not _has(output, each, original)]
    others = list(others)
    return any(all(_has(text, each, original) for text in others) for each in missing)


def made_up(output: str, texts: Iterable[str]) -> bool:
    """Whether the output has a number that none of the texts has."""
    mentions = numbers_in(output).mentions
    if not mentions:
        return False
    known = list(texts)
    return any(not any(_has(text, each, output) for text in known) for each in mentions)


def _mentions(text: str) -> Iterator[Mention]:
    for match in _NUMBER.finditer(text):
        token = match[0]
        power = 0
        if (after := _AFTER.match(text, match.end())) is not None:
            power = _SCALE.get(after[1].lower(), 0)
        yield from _read(token, power)


def _read(token: str, power: int) -> Iterator[Mention]:
    """The numbers of one run of digits and separators."""
    groups = [_plain(group) for group in _GROUP.findall(token)]
    if match := _THOUSANDS.fullmatch(token):
        whole = _plain("".join(_GROUP.findall(match[1])))
        # Two numbers may stand beside each other: "in Raum 12 150 Leute".
        apart = match[2] == " " and all(not each.startswith("0") for each in token.split(" "))
        values = _values(whole, power)
        if power > 3 and len(groups) == 2 and not match[3]:
            values |= {whole + "0" * (power - 3)}  # 44.069 billion
        yield Mention(values, frozenset(groups) if apart else frozenset())
        if match[3] and match[3].strip("0"):
            yield Mention(frozenset((match[3].strip("0"), _plain(match[3]))))
    elif len(groups) == 2 and " " not in token:
        decimals = _GROUP.findall(token)[1]
        fraction = frozenset((_plain(decimals), decimals.strip("0"))) - {""}
        if power:
            value = _plain(groups[0] + decimals.ljust(power, "0")[: max(power, len(decimals))])
            yield Mention(frozenset((value,)), frozenset(each for each in groups if each))
        else:
            if groups[0]:
                yield Mention(frozenset((groups[0],)))
            if fraction:
                yield Mention(fraction)
    else:
        for place, group in enumerate(groups, 1):
            if group:
                yield Mention(_values(group, power if place == len(groups) else 0))


def _values(digits: str, power: int) -> frozenset[str]:
    return frozenset((digits, digits + "0" * power)) if power else frozenset((digits,))


def _plain(digits: str) -> str:
    return digits.lstrip("0")


def _has(text: str, mention: Mention, where: str) -> bool:
    """Whether the text has a number, in digits or words; `where` is the text it comes from."""
    numbers = numbers_in(text)
    known = numbers.known
    if not known.isdisjoint(mention.values) or (mention.parts and mention.parts <= known):
        return True
    words = _in_words(text)
    if not words.isdisjoint(mention.values) or (mention.parts and mention.parts <= known | words):
        return True
    clock = numbers.clock or numbers_in(where).clock
    return any(not known.isdisjoint(_similar(value, clock=clock)) for value in mention.values)


def _similar(digits: str, *, clock: bool) -> Iterator[str]:
    """Other ways to write a year or an hour: 1990 and '90, 14 and 2 o'clock."""
    if len(digits) == 2:
        yield from ("19" + digits, "20" + digits)
    elif len(digits) == 1:
        yield "200" + digits
    elif len(digits) == 4 and digits[:2] in ("19", "20"):
        yield _plain(digits[2:])
    if clock and len(digits) <= 2:
        yield from (str(int(digits) + 12), str(int(digits) - 12))


@lru_cache(maxsize=KEPT)
def _in_words(text: str) -> frozenset[str]:
    """The numbers that the words of a text stand for."""
    found: set[int] = set()
    before: set[int] = set()
    for word in _LETTERS.findall(text.lower()):
        values = _NAMES.get(word, set())
        if not values and len(word) > 5:
            values = _compound(word)
        found |= values
        # twenty-five
        found |= {a + b for a in before for b in values if a % 10 == 0 and 0 < b < 10 < a < 100}
        before = values
    found |= {_chinese(run) for run in _CHINESE.findall(text)}
    return frozenset(map(str, found))


def _compound(word: str) -> set[int]:
    """German words that begin with a number: fünfundzwanzig, zwölfjährig, dreimal."""
    if not (match := _GERMAN.match(word)):
        return set()
    if match[1]:
        tens = match[2].replace("dreizig", "dreißig")
        return {_UNITS[match[1]] + next(iter(_NAMES.get(tens, {0})))}
    return _NAMES[match[3]]


def _chinese(run: str) -> int:
    """The value of Chinese numerals: 三百五十 is 350, 二〇一七 is 2017.

    >>> _chinese("三百五十"), _chinese("二〇一七"), _chinese("十二")
    (350, 2017, 12)
    """
    if len(run) > 1 and all(char in _CHINESE_DIGITS for char in run):
        return int("".join(str(_CHINESE_DIGITS[char]) for char in run[:20]))
    total = section = digit = 0
    for char in run[:20]:
        if char in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[char]
        elif char in "十百千":
            section += (digit or 1) * 10 ** ("十百千".index(char) + 1)
            digit = 0
        else:
            total = (total + section + digit or 1) * (10**4 if char == "万" else 10**8)
            section = digit = 0
    return total + section + digit
