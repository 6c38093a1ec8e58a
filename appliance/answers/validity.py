"""How the dates of a section, and the laws that change it, are put into words.  Pure.

What a source does not say is said to be missing; no date is made up here.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from appliance.domain import PendingAmendment, Standing, StoredSection

UNDATED = "the source does not say since when this applies"


def dates_of(section: StoredSection) -> str:
    """Return one phrase on when a section is law."""
    if section.standing is not Standing.IN_FORCE:
        return section.standing.value.replace("_", " ")
    parts = [_since(section)]
    if section.effective_until:
        parts.append(f"until {section.effective_until}")
    if section.superseded_by:
        parts.append(f"superseded by {section.superseded_by}")
    if section.doc_type == "ordinance":
        parts.append("passed, not yet codified")
    return ", ".join(parts)


def _since(section: StoredSection) -> str:
    if section.effective_from is None:
        return UNDATED
    if section.dated_by_box:
        return f"read so since {section.effective_from} ({UNDATED})"
    return f"in force since {section.effective_from}"


def warning_of(amendment: PendingAmendment, day: date) -> str:
    """Return one sentence on a law that changes a section, as of a day."""
    done = "Repealed" if amendment.kind == "repealed" else "Amended"
    if amendment.effective is None:
        when = "the law does not state a day on which it takes effect"
    elif amendment.effective <= day:
        when = f"in force since {amendment.effective}"
    else:
        when = f"takes effect on {amendment.effective}"
    return f"{done} by {amendment.law} ({when}); the text here does not show it."


def pending_over(sections: Iterable[StoredSection], day: date) -> tuple[PendingAmendment, ...]:
    """Return the laws that change any of the sections, as known on the day, each once."""
    found = {(a.law, a.effective): a for s in sections for a in s.pending(day)}
    return tuple(found.values())
