"""Do two questions ask the same?  What is left of a question when only its manner is taken away.  Pure.

A cache may give one question's answer to another only if both ask the same of the law, where one
number, one unit, one "not" or one word ("front", "tenant", "existing") makes another question.  So
nothing here measures how near two questions are: what differs must be manner only (politeness,
contractions, spelling, ways to write a number, clauses in another order, a few set phrases), and
every other word must stand in both, in the same order.  Questions that mean the same in other words
are taken for different ones, which costs time and never truth (eval/ledger/018-answer-cache.md).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

from appliance.corpus.number_words import TENS, UNITS

# A question of fewer words says too little to be told from another one by its words.
FEWEST_WORDS = 3
# A page of text is not asked twice in other words, and its clauses could be turned in too many ways.
MOST_UNITS = 60


def normal_form(question: str) -> str:
    """Return the question in NFKC, casefolded, with single spaces: the same words are the same key.

    Figures that NFKC would glue to their neighbours ("3½" to "31⁄2", "10²" to "102") stand apart.
    """
    parted = "".join(f" {c} " if unicodedata.category(c) == "No" else c for c in question)
    return " ".join(unicodedata.normalize("NFKC", parted).casefold().split())


def meaning_of(question: str) -> str | None:
    """Return what the question asks, in a form that its manner does not change.

    None if it is too short or too long.
    Two questions with the same form ask the same.  A question that goes on from an earlier one must
    be made whole before it comes here.
    """
    text = _contracted(_letters(question))
    text = _reworded(_measured(_counted(_spelled(_without_manner(text)))))
    units = [unit for clause in _clauses(text.split()) for unit in _units(clause)]
    if sum(len(unit) for unit in units) < FEWEST_WORDS or len(units) > MOST_UNITS:
        return None
    turned = (units[i:] + units[:i] for i in range(len(units)))
    return json.dumps(min(turned), ensure_ascii=False, separators=(",", ":"))


# ------------------------------------------------------------------ characters

_ALIKE = str.maketrans(
    dict.fromkeys("\u2018\u2019\u2032\u00b4`", "'")
    | dict.fromkeys("\u201c\u201d\u2033", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
    | {"\u2044": "/"}
)
# A capital "A" within a sentence is a name ("the A district"), where a small one is an article.
_LETTER_A = re.compile(r"(?<=[\w,] )A(?=[ ,.?]|$)")
_DESIGNATORS = (
    "district zone zoning class type group category grade tier level schedule table part section "
    "article chapter title appendix figure lot unit occupancy use division"
).replace(" ", "|")
_SMALL_LETTER_A = re.compile(
    rf"\b(?:(?<=\ba )|(?<=\ban )|(?<=\bthe ))a(?![\w-])"
    rf"|\b(?P<before>{_DESIGNATORS}) a(?![\w-])"
    rf"|\ba(?=(?P<after> (?:district|zone|zoning|occupancy))\b)"
)


def _letters(question: str) -> str:
    """Return the normal form with one kind of quotes and dashes, and with letters that are names."""
    named = question if question.isupper() else _LETTER_A.sub("letter_A", question)
    text = normal_form(named).translate(_ALIKE)
    return _SMALL_LETTER_A.sub(_named_a, text)


def _named_a(match: re.Match[str]) -> str:
    """Return the mark of an "a" that is a name, or of one that may be ("in a district")."""
    if match["before"]:
        return f"{match['before']} letter_a"
    return "perhaps_a" if match["after"] else "letter_a"


# ------------------------------------------------------------------ manner

_NOT = "do does did is are was were has have had could should would must need might"
_CONTRACTED = tuple(
    (re.compile(pattern), full)
    for pattern, full in (
        (r"\bcan(?:'t|not)\b|\bcant\b", "can not"),
        (r"\bwon't\b", "will not"),
        (rf"\b({_NOT.replace(' ', '|')})n'?t\b", r"\1 not"),
        (r"\b(i)'?m\b", r"\1 am"),
        (r"\b(you|we|they)'re\b", r"\1 are"),
        (r"\b(i|you|we|they)'ve\b|\b(i)ve\b", r"\1\2 have"),
        (r"\b(i|you|he|she|it|we|they|that|there|who|what)'ll\b", r"\1 will"),
        (r"\b(i|you|he|she|it|we|they|that|there|who|what)'d\b", r"\1 would"),
        (r"\b(what|who|where|when|how|why|that|there|here|it|he|she)'s\b", r"\1 is"),
        (r"\b(what|who|where|how)s\b", r"\1 is"),
    )
)


def _contracted(text: str) -> str:
    """Return the text with its contractions written out; a noun's "'s" stays."""
    for pattern, full in _CONTRACTED:
        text = pattern.sub(full, text)
    return text


_KNOW = r"(?:tell me|let me know|help me (?:understand|find out))"
_OPENINGS = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings)"
    r"(?: there| all| everyone)?\s*[,.!:-]+\s*"
    r"|(?:so|ok|okay|well|sorry|excuse me|quick question|just curious|one question)\s*[,.:-]+\s*"
    r"|please[,:]?\s+"
    rf"|(?:(?:can|could|would|will) (?:you|someone|anyone|anybody)(?: please| kindly)? {_KNOW}"
    rf"|{_KNOW}"
    r"|i (?:would (?:like|love)|want|wanted|need) to (?:know|find out|ask|understand)"
    r"|i (?:am|was) (?:just )?(?:wondering|curious)"
    r"|do you (?:happen to )?know|does anyone know)"
    r",?(?: please,?)? (?:(?:if|whether) )?"
)
_CLOSINGS = re.compile(
    r"[\s,.!?-]+(?:please|thanks|thank you|thx|cheers|many thanks)"
    r"(?: (?:so|very) much| a lot| in advance)?[\s.!?]*$"
)


def _without_manner(text: str) -> str:
    """Return the text without greetings, requests to be told, and thanks."""
    while opening := _OPENINGS.match(text):
        text = text[opening.end() :]
    return re.sub(r"[\s?.!]+$", "", _CLOSINGS.sub("", text))


_BRITISH = tuple(
    (re.compile(pattern), american)
    for pattern, american in (
        (r"\b(\w{3,}|od)our(s|ed|ing|ful|less|hood|hoods|able)?\b", r"\1or\2"),
        (r"\b(\w{4,})is(e|es|ed|ing|ation|ations)\b", r"\1iz\2"),
        (r"\b(cent|theat|lit|fib|\w*met)re(s?)\b", r"\1er\2"),
        (r"\bstorey\b", "story"),
        (r"\bstoreys\b", "stories"),
        (r"\blicence(s|d)?\b", r"license\1"),
        (r"\bgrey\b", "gray"),
        (r"\bkerb(s?)\b", r"curb\1"),
        (r"\btyre(s?)\b", r"tire\1"),
        (r"\bmould(s?)\b", r"mold\1"),
        (r"\bprogramme(s?)\b", r"program\1"),
        (r"\baluminium\b", "aluminum"),
        (r"\bjudgement(s?)\b", r"judgment\1"),
    )
)


def _spelled(text: str) -> str:
    """Return the text in American spelling."""
    for pattern, american in _BRITISH:
        text = pattern.sub(american, text)
    return text


# ------------------------------------------------------------------ numbers and units

_PROPER_FRACTION = r"(?P<over>[1-7])/(?P<under>[2348])"
_MEASURES = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (r"(?<=\d),(?=\d{3}(?!\d))", ""),
        (r"\ba\.m\.?|(?<=\d)\s?am\b", " a_m"),
        (r"\bp\.m\.?|(?<=\d)\s?pm\b", " p_m"),
        (r"\$\s?(\d+(?:\.\d+)?)", r"\1 dollar"),
        (r"\s?%|\bper cent\b", " percent"),
        (r"\b(?:sq\.?|square)[ -]?(?:ft|feet|foot)\b\.?|\bs\.f\.|(?<=\d)\s?sf\b", " sqft"),
        (r"(?<=\d)\s?'(?!\w)", " foot"),
        (r"(?<=\d)-?(?=(?:ft|in|yd|hr|lb|wk|yr)s?\b)", " "),
        (r"(?<=\d) in\.(?=\s|$)|(?<=\d) in(?=[,?]|$)", " inch"),
        (r"(?<=\d)[ -](?=[a-z]{2,}\b)", " "),
        # A district is one word however it is written, but "R-1-6" and "R-16" are two.
        (r"(?<![\w.-])([a-z]{1,4})-(\d{1,2}[a-z]{0,2})(?![\w-])", r"\1\2"),
        (r"(?<![\w.-])([a-z]{1,4})-?(\d{1,2})-([a-z]{1,2})(?![\w-])", r"\1\2\3"),
    )
)
_UNIT_WORDS = {
    **dict.fromkeys(("ft", "feet"), "foot"),
    **dict.fromkeys(("inches",), "inch"),
    **dict.fromkeys(("yd", "yds", "yards"), "yard"),
    **dict.fromkeys(("hr", "hrs", "hours"), "hour"),
    **dict.fromkeys(("wk", "wks", "weeks"), "week"),
    **dict.fromkeys(("yr", "yrs", "years"), "year"),
    **dict.fromkeys(("lb", "lbs", "pounds"), "pound"),
    **dict.fromkeys(("days",), "day"),
    **dict.fromkeys(("months",), "month"),
    **dict.fromkeys(("minutes", "mins"), "minute"),
    **dict.fromkeys(("acres",), "acre"),
    **dict.fromkeys(("gallons",), "gallon"),
    **dict.fromkeys(("dollars",), "dollar"),
}
_UNIT = re.compile(rf"\b(?:{'|'.join(_UNIT_WORDS)})\b(?:(?<=ft)\.|(?<=[dr]s)\.)?")
_WHOLE = re.compile(r"\b(\d+)\.0{1,2}(?= (?:dollar|foot|inch|yard|percent|acre|sqft)\b)")


def _measured(text: str) -> str:
    """Return the text with its measures written in one way: "6 ft." and "6'" are "6 foot"."""
    text = re.sub(rf"(?<![\d/.])(?:(?P<whole>\d+)[ -])?{_PROPER_FRACTION}(?![\d/])", _decimal, text)
    for pattern, plain in _MEASURES:
        text = pattern.sub(plain, text)
    return _WHOLE.sub(r"\1", _UNIT.sub(lambda m: _UNIT_WORDS[m[0].rstrip(".")], text))


def _decimal(match: re.Match[str]) -> str:
    over, under = int(match["over"]), int(match["under"])
    if over >= under:
        return match[0]
    value = int(match["whole"] or 0) + round(Decimal(over) / under, 3)
    return f"{value.normalize():f}"


_SMALL = {word: n for n, word in enumerate(UNITS)}
_TENS = {word: 10 * n for n, word in enumerate(TENS, start=2)}
_NUMBER_WORDS = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(TENS)})(?:[ -](?P<ones>{'|'.join(UNITS[1:10])}))?"
    rf"|(?P<small>{'|'.join(UNITS)}))\b"
)
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_SCALED = re.compile(r"(?<![\d.])(\d{1,3}) (hundred|thousand|million)\b(?! \d| and \d)")
_SAID_TWICE = re.compile(r"(?<![\d.])(\d+) ?\( ?\1 ?\)")


def _counted(text: str) -> str:
    """Return the text with numbers in figures: "twenty-five" is 25 and "six (6)" is 6."""
    text = _NUMBER_WORDS.sub(_figure, text)
    text = _SCALED.sub(lambda m: str(int(m[1]) * _SCALES[m[2]]), text)
    return _SAID_TWICE.sub(r"\1", text)


def _figure(match: re.Match[str]) -> str:
    if match["small"]:
        return str(_SMALL[match["small"]])
    return str(_TENS[match["tens"]] + (_SMALL[match["ones"]] if match["ones"] else 0))


# ------------------------------------------------------------------ set phrases

# What a question wants to know and in which mode: in capitals, and placed at the head of its clause
# whatever the order of the words.  "May" and "must" never meet: one asks for the most, the other for
# the least.
_ME = r"(?:i|we)"
_MOST = r"what is the (?:maximum|max|greatest|largest) (?:(?:allowed|permitted|allowable|legal) )?"
_UNLESS_SAID = r"(?![^,.?!;]*\b(?:can|could|may|might|allowed|permitted)\b)"
_LEAST = r"what is the (?:minimum|min|least|smallest) (?:(?:required|allowed|permitted|legal) )?"
_OF = r"(?: (?:allowed|permitted|required))?(?: (?:of|for))"
_MONTH = (
    r"\b(in|by|since|until|during|of|before|after|last|next|early|late|through) may\b"
    r"|\bmay(?= \d)"
)
_PHRASES = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (_MONTH, r"\1 month_may"),
        (rf"{_MOST}height{_OF}\b{_UNLESS_SAID}", "TALL MAY"),
        (rf"{_LEAST}height{_OF}\b{_UNLESS_SAID}", "TALL MUST"),
        (rf"{_MOST}width{_OF}\b{_UNLESS_SAID}", "WIDE MAY"),
        (rf"{_LEAST}width{_OF}\b{_UNLESS_SAID}", "WIDE MUST"),
        (rf"{_MOST}depth{_OF}\b{_UNLESS_SAID}", "DEEP MAY"),
        (rf"{_LEAST}depth{_OF}\b{_UNLESS_SAID}", "DEEP MUST"),
        (rf"{_MOST}size{_OF}\b{_UNLESS_SAID}", "BIG MAY"),
        (rf"{_LEAST}size{_OF}\b{_UNLESS_SAID}", "BIG MUST"),
        (rf"{_MOST}weight{_OF}\b{_UNLESS_SAID}", "HEAVY MAY"),
        (rf"{_MOST}number of\b{_UNLESS_SAID}", "MANY MAY"),
        (rf"{_MOST}number of\b", "MANY"),
        (rf"{_LEAST}number of\b{_UNLESS_SAID}", "MANY MUST"),
        (r"\bhow (?:tall|high)\b", "TALL"),
        (r"\bhow wide\b", "WIDE"),
        (r"\bhow deep\b", "DEEP"),
        (r"\bhow (?:big|large)\b", "BIG"),
        (r"\bhow heavy\b", "HEAVY"),
        (r"\bhow many\b", "MANY"),
        (
            (
                r"\b(?:is|would) it (?:be )?(?:legal|lawful|allowed|permitted|permissible|ok|okay"
                r"|all right)(?: for (?:me|us))? to\b"
            ),
            "MAY",
        ),
        (rf"\b(?:am|are) {_ME} (?:allowed|permitted) to\b", "MAY"),
        (rf"\b{_ME} (?:am|are) (?:allowed|permitted) to\b", "MAY"),
        (rf"\b(?:can|could|may|might) {_ME}\b|\b{_ME} (?:can|could|may|might)\b", "MAY"),
        (r"\b(?:can|could|may|might)\b|\b(?:is|are|be) (?:allowed|permitted) to\b", "MAY"),
        (rf"\b(?:do|will|would) {_ME} (?:need|have) to\b|\bmust {_ME}\b", "MUST"),
        (rf"\b(?:am|are) {_ME} required to\b|\b{_ME} (?:am|are) required to\b", "MUST"),
        (rf"\b{_ME} (?:must|(?:need|have) to)\b", "MUST"),
        (r"\bmust\b|\b(?:need|needs|have|has|required) to\b", "MUST"),
        (rf"\b(?:do|will|would) {_ME} (?:need|require)\b|\b{_ME} (?:need|require)\b", "NEED"),
        (r"\b(?:need|needs|require|requires|needed|required|necessary)\b", "NEED"),
    )
)


def _reworded(text: str) -> str:
    """Return the text with its set phrases in one form, and marks standing apart from words."""
    for pattern, plain in _PHRASES:
        text = pattern.sub(plain, text)
    return re.sub(r"([,;:.?!])[,;:.?!]*(?=\s|$)|([\"()/&#+<>=])", r" \1\2 ", text)


# ------------------------------------------------------------------ clauses

_MODES = frozenset(("MAY", "MUST", "NEED"))
_SCOPED = frozenset(
    [
        *(
            "not",
            "never",
            "no",
            "nor",
            "neither",
            "none",
            "nothing",
            "only",
            "always",
            "ever",
            "still",
        ),
        *(
            "just",
            "even",
            "also",
            "all",
            "every",
            "each",
            "both",
            "either",
            "and",
            "or",
            "but",
            "so",
        ),
        *("than", "as", "that", "which", "who", "whose", "whom"),
    ]
)
_MARKS = frozenset(",;:.?!-")
_JOINING = frozenset(
    [
        "if",
        "when",
        "unless",
        "because",
        "while",
        "before",
        "after",
        "until",
        "once",
        "since",
        "although",
        "though",
        "whether",
    ]
)
_RELATING = frozenset(
    [
        "in",
        "on",
        "at",
        "of",
        "for",
        "from",
        "to",
        "with",
        "within",
        "without",
        "near",
        "over",
        "under",
        "above",
        "below",
        "behind",
        "beside",
        "between",
        "by",
        "into",
        "onto",
        "through",
        "across",
        "along",
        "around",
        "against",
        "toward",
        "towards",
        "off",
        "per",
        "about",
        "during",
        "inside",
        "outside",
        "than",
        "beyond",
    ]
)
_EMPTY = frozenset(
    [
        "a",
        "an",
        "the",
        "do",
        "does",
        "is",
        "are",
        "am",
        "will",
        "would",
        "please",
        "exactly",
        "actually",
        "really",
    ]
)


def _clauses(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield the clauses: parted by marks, and before the words that join them."""
    clause: list[str] = []
    for word in words:
        if word in _MARKS or word in _JOINING:
            yield clause
            clause = []
        if word not in _MARKS:
            clause.append(word)
    yield clause


def _units(clause: Sequence[str]) -> Iterator[list[str]]:
    """Yield the phrases of a clause, each from its preposition on, the first with the clause's mode."""
    head = sorted({w for w in clause if w.isupper()}) if _movable(clause) else []
    words = [w for w in clause if w not in _EMPTY and w not in head]
    first, *rest = [list(p) for p in _phrases(words)] or [[]]
    if head or first:
        yield head + first
    yield from rest


def _movable(clause: Sequence[str]) -> bool:
    """Tell whether it is all one where in the clause its mode stands.

    It is not where a word has a scope, or two things are said of two: "tenants must not pay" is not
    "tenants do not have to pay", nor "owners may build and tenants live" "owners build and tenants may
    live".
    """
    modes = sum(word in _MODES for word in clause)
    measures = sum(word.isupper() for word in clause) - modes
    return modes <= 1 and measures <= 1 and _SCOPED.isdisjoint(clause)


def _phrases(words: Sequence[str]) -> Iterator[Sequence[str]]:
    edges = [0, *(i for i, w in enumerate(words) if i and w in _RELATING), len(words)]
    for start, end in pairwise(edges):
        # "How tall may a fence be" says no more than "how tall a fence may"; "be cut" is not "cut".
        phrase = words[start : end - 1] if words[end - 1 : end] == ["be"] else words[start:end]
        if phrase:
            yield phrase
