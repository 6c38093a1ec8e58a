"""Cities apart: what is learned or tuned on some is reported on others.  Pure.

A split by question would let a city's words, section numbers and habits be learned from one of its
questions and used on the next.  What is held out is therefore always whole cities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

from appliance.errors import BadRequest

Fold = frozenset[str]


def folds(cities: Iterable[str], k: int, seed: int = 0) -> tuple[Fold, ...]:
    """Return the distinct cities in k parts, each to be held out while the others teach.

    A city that is named once for each of its questions weighs as many: the parts then hold about as
    many questions each.  The same cities, k and seed give the same parts on any machine and in any
    order of the cities.  Raises BadRequest if there are fewer cities than parts, or k < 2.
    """
    weights = Counter(cities)
    if not 2 <= k <= len(weights):
        raise BadRequest(f"{len(weights)} cities cannot be held out in {k} parts.")
    parts: list[set[str]] = [set() for _ in range(k)]
    loads = [0] * k
    # The heaviest first, into the part that is lightest so far; chance decides among equals.
    for city in sorted(weights, key=lambda c: (-weights[c], _lot(c, seed))):
        # An empty part comes first: no part is left without a city.
        lightest = min(range(k), key=lambda i: (bool(parts[i]), loads[i], i))
        parts[lightest].add(city)
        loads[lightest] += weights[city]
    return tuple(map(frozenset, parts))


def _lot(city: str, seed: int) -> str:
    """Return a city's lot: not Python's own hash or generator, which may change with its version."""
    return sha256(f"{seed} {city}".encode()).hexdigest()
