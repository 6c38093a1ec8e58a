"""Which registered numbers a number that is not there was meant to be: "did you mean".  Pure.

The distance is that of Damerau and Levenshtein (optimal string alignment: insertions, deletions,
substitutions and transpositions of neighbours), with the prices of slips that people make in
section numbers: a joint written as another one costs next to nothing; a zero too few, a digit typed
twice or two digits the wrong way round half a slip.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from appliance.corpus.references import number_key
from appliance.ports import Bearer

MOST = 3  # suggestions
FAR = 2.0  # a number farther away was not meant
BARE_FAR = 1.0  # nor was one that nothing but itself calls a section's
_JOINT, _ZERO, _SWAP, _SLIP = 0.2, 0.5, 0.5, 1.0
_DIGITS = "0123456789"


def distance(asked: str, known: str) -> float:
    """Return how much the slips between two normalised numbers cost; 0 if they are the same."""
    missing, extra = _alone(known), _alone(asked)
    before: list[float] = []
    row = [0.0, *accumulate(missing)]
    for i, a in enumerate(asked, start=1):
        last, row = row, [row[0] + extra[i - 1]]
        for j, b in enumerate(known, start=1):
            best = min(
                last[j] + extra[i - 1], row[j - 1] + missing[j - 1], last[j - 1] + _for(a, b)
            )
            if i > 1 and j > 1 and a == known[j - 2] and asked[i - 2] == b and a != b:
                best = min(best, before[j - 2] + _SWAP)
            row.append(best)
        before = last
    return row[-1]


def _alone(number: str) -> list[float]:
    """Return for each character the price of its standing in one of the numbers only."""
    return [
        _ZERO if char in ("0", before) else _SLIP if char.isalnum() else _JOINT
        for before, char in pairwise(f" {number}")
    ]


def _for(a: str, b: str) -> float:
    """Return the price of writing one character for another."""
    if a == b:
        return 0.0
    return _SLIP if a.isalnum() or b.isalnum() else _JOINT


def variants(key: str) -> tuple[str, ...]:
    """Return the keys that one slip makes of a key (some 300), itself left out."""
    splits = [(key[:i], key[i:]) for i in range(len(key) + 1)]
    made = {a + b[1:] for a, b in splits if b}
    made |= {a + b[1] + b[0] + b[2:] for a, b in splits if len(b) > 1}
    made |= {a + c + b[1:] for a, b in splits if b for c in _DIGITS + "."}
    made |= {a + c + b for a, b in splits for c in _DIGITS + "."}
    # A letter only follows the digits of a part: "12-2a".
    made |= {
        a + c + b for a, b in splits if a[-1:].isdigit() and b[:1] in ("", ".") for c in "abcdefgh"
    }
    return tuple(sorted({number_key(m) for m in made} - {key, ""}))


def over(key: str) -> str:
    """Return the key of the number over one: "28.105" of "28.105.99"; "" at the top."""
    return key.rpartition(".")[0]


def nearest(number: str, known: Iterable[Bearer], *, far: float = FAR) -> list[Bearer]:
    """Return the best bearer of each of the numbers next to the asked one, the nearest first.

    Of equally near ones the number that is nearer as a number comes first; those over `far` are left out.
    """
    best: dict[tuple[str, str], tuple[tuple[float, int, int, int, int], Bearer]] = {}
    for place, bearer in enumerate(known):
        if abs(len(bearer.number) - len(number)) * _JOINT > far:
            continue
        away = distance(number, bearer.number)
        rank = (away, *_apart(number, bearer.number), bearer.weight, place)
        key = (bearer.kind, bearer.number)
        if away <= far and (key not in best or rank < best[key][0]):
            best[key] = (rank, bearer)
    return [bearer for _, bearer in sorted(best.values(), key=lambda r: r[0])[:MOST]]


def _apart(a: str, b: str) -> tuple[int, int]:
    """Return minus the number of first parts that are the same, and how far apart the next ones are."""
    pairs = list(zip(_figures(a), _figures(b), strict=False))
    same = next((i for i, (x, y) in enumerate(pairs) if x != y), len(pairs))
    return -same, abs(pairs[same][0] - pairs[same][1]) if same < len(pairs) else 0


def _figures(number: str) -> Sequence[int]:
    return [int(part) for part in re.findall(r"[0-9]+", number)]
