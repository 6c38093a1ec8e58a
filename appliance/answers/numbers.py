"""Which numbers of an answer stand in the passages that it cites?  Pure.

Quantities are compared by value and unit, however they are written; a number without a unit is not
traced.
"""

from __future__ import annotations

from collections.abc import Iterable

from appliance.corpus.quantities import quantities


def unsupported_numbers(answer: str, cited: Iterable[str]) -> tuple[str, ...]:
    """Return the quantities of the answer that no cited text holds, as the answer writes them."""
    held = {(q.value, q.unit) for text in cited for q in quantities(text)}
    missing = [q.text for q in quantities(answer) if (q.value, q.unit) not in held]
    return tuple(dict.fromkeys(missing))
