"""Words of law text for the BM25 leg: tokenising, stemming, weights.  Pure.

BM25 as an inner product (Robertson and Zaragoza, The Probabilistic Relevance
Framework: BM25 and Beyond, 2009, eq. 3.15): the document's side
tf(k1+1) / (tf + k1(1 - b + b len/avglen)) is stored per chunk, the query's side is
idf = ln(1 + (N - df + 0.5) / (df + 0.5)).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from zlib import crc32

import Stemmer

# Changes of `terms` raise this number: indexes that an older one made are then made anew.
WORDS_VERSION = 3

K1 = 1.2
B = 0.75

# A term's place in the sparse vectors: a hash, so that no dictionary must be kept in step.  Of 60,000
# stems about two pairs share a place.
PLACES = 1_000_000_000

_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
# Numbers with joints stay whole ("28-105.9", "R-1-6", "2.5") and are also split into their parts;
# "20,000" is "20000".
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+(?:,\d{3})+|\d+[a-z]*|½|¼|¾|\$|%|§")
_COMPOUND = re.compile(r"(?<![a-z0-9])[a-z0-9]+(?:[.\-:][a-z0-9]+)+")
# A district is one word however it is written: "R-1-B", "R1-B" and "R1B" (eval/ledger/015).
_DISTRICT = re.compile(r"(?<![a-z0-9\-.])[a-z]{1,4}\d{1,2}[a-z]{0,2}(?![a-z0-9\-]|\.\d)")
_BEGINS_DISTRICT = re.compile(r"[a-z]{1,4}-?\d")
_LONGEST_DISTRICT = 8
_MEASURE = re.compile(r"\d+-?[a-z]{3,}")  # "60-foot": its parts say all

# Measures in one form, before a text is cut into words.
_FRACTION = re.compile(r"(?<=\d)(?:\s{1,3}|-)?([½¼¾⅓⅔⅛])")
_SLASHED = re.compile(r"(?<=\d)[ -](1/2|1/4|3/4)(?![\d/])")
_DECIMALS = {
    "½": ".5",
    "¼": ".25",
    "¾": ".75",
    "⅓": ".33",
    "⅔": ".67",
    "⅛": ".125",
    "1/2": ".5",
    "1/4": ".25",
    "3/4": ".75",
}
_CENTS = re.compile(r"(\$\s?\d[\d,]{0,12})\.00(?!\d)")
_SQUARE_FEET = re.compile(
    r"\b(?:sq\.?\s?ft\b\.?|sq\.?\s(?:feet|foot)\b|s\.f\.)|(?<=\d)\s?sf\b", re.IGNORECASE
)
_UNITS = {
    "foot": "feet",
    "ft": "feet",
    "inch": "inches",
    "lb": "pound",
    "lbs": "pound",
    "hr": "hour",
    "hrs": "hour",
    "wk": "week",
    "wks": "week",
    "yr": "year",
    "yrs": "year",
    "min": "minimum",
    "max": "maximum",
    "approx": "approximately",
    "apt": "apartment",
    "apts": "apartment",
    "bldg": "building",
    "dept": "department",
}

# Words that a question has because it is a question; they are in the idf's long tail of a small city
# ("my", "can") without meaning anything there.
STOP = frozenset(
    [
        "a",
        "about",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "get",
        "give",
        "go",
        "got",
        "had",
        "has",
        "have",
        "he",
        "her",
        "here",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "itself",
        "just",
        "let",
        "like",
        "me",
        "mine",
        "most",
        "my",
        "no",
        "not",
        "of",
        "on",
        "one",
        "or",
        "our",
        "out",
        "own",
        "please",
        "put",
        "she",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "too",
        "up",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "yours",
        "im",
        "ive",
        "dont",
        "cant",
        "whats",
        "its",
        "s",
        "t",
    ]
)

_stemmer = Stemmer.Stemmer("english")


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    stem: str = _stemmer.stemWord(word)
    return stem


def terms(text: str) -> list[str]:
    """Return the stems and numbers of a text, in order, question words left out."""
    plain = _measured(text).translate(_DASHES).casefold().replace("\u2019", "'")
    found = []
    for match in _WORD.finditer(plain):
        word = match.group().removesuffix("'s")
        if word.replace("'", "") in STOP or word in "§$%":
            continue
        number = word[0].isdigit()
        found.append(word.replace(",", "") if number else _stem(_UNITS.get(word, word)))
    found += _compounds(plain)
    found += _DISTRICT.findall(plain)
    return found


def _compounds(plain: str) -> Iterator[str]:
    """Yield numbers and names with joints; one that may be a district also without its hyphens."""
    for match in _COMPOUND.finditer(plain):
        compound = match.group()
        if not any(c.isdigit() for c in compound) or _MEASURE.fullmatch(compound):
            continue
        yield compound
        joined = compound.replace("-", "")
        if (
            joined != compound
            and len(joined) <= _LONGEST_DISTRICT
            and _BEGINS_DISTRICT.match(compound)
        ):
            yield joined


def _measured(text: str) -> str:
    """Return a text with its measures in one form: "3 1/2 sq. ft." is "3.5 square feet"."""
    text = _FRACTION.sub(lambda m: _DECIMALS[m[1]], text)
    text = _SLASHED.sub(lambda m: _DECIMALS[m[1]], text)
    return _SQUARE_FEET.sub(" square feet", _CENTS.sub(r"\1", text))


def place(term: str) -> int:
    """Return the index of a term in the sparse vectors, 1 to PLACES."""
    return crc32(term.encode()) % PLACES + 1


def document_weights(counts: Mapping[int, int], average: float) -> dict[int, float]:
    """Return the stored side of BM25 for one chunk: {place: weight}."""
    length = sum(counts.values())
    norm = K1 * (1 - B + B * length / average)
    return {p: tf * (K1 + 1) / (tf + norm) for p, tf in counts.items()}


def idf(documents: int, with_term: int) -> float:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5)), which is never negative."""
    return math.log(1 + (documents - with_term + 0.5) / (with_term + 0.5))


def place_counts(text: str) -> Counter[int]:
    """Return how often each place occurs in a text."""
    return Counter(place(t) for t in terms(text))


def query_weights(text: str, documents: int, frequency: Mapping[int, int]) -> dict[int, float]:
    """Return the query's side: idf per distinct term that the city's text holds."""
    places = {place(t) for t in terms(text)}
    return {p: idf(documents, frequency[p]) for p in places if frequency.get(p)}


def query_places(text: str) -> list[int]:
    """Return the distinct places of a query."""
    return sorted({place(t) for t in terms(text)})


def average_length(lengths: Iterable[int]) -> float:
    """Return the mean length, at least one."""
    values = list(lengths)
    return max(1.0, sum(values) / max(1, len(values)))


def written_terms(text: str) -> dict[str, str]:
    """Return {term: the word as it was first written} for the terms of a text, in order."""
    written: dict[str, str] = {}
    for word in re.findall(r"[^\s,;:!?()\"“”]+", _measured(text)):
        for term in terms(word):
            written.setdefault(term, word.strip(".'’"))
    return written
