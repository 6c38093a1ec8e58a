"""Texts that are superseded although their own copy does not say so: known facts, kept as data.

Pure.  It knows what the data file beside it states, each entry with its source, and guesses nothing.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files

from appliance.domain import CityId


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersession:
    """A text of a city that stopped applying on a known day."""

    city: CityId
    citation: re.Pattern[str]  # of the records that it is about, matched whole
    until: date  # the first day on which the text no longer applied
    by: str  # what replaced it
    source: str  # where the fact is from


def supersession_of(city: CityId, citation: str) -> Supersession | None:
    """Return what is known of the end of a text that is cited so, or None."""
    for known in known_supersessions():
        if known.city == city and known.citation.fullmatch(citation):
            return known
    return None


@cache
def known_supersessions() -> tuple[Supersession, ...]:
    """Return the entries of `superseded.toml`."""
    text = files("appliance.corpus").joinpath("superseded.toml").read_text("utf-8")
    return tuple(
        Supersession(
            city=CityId(entry["city"]),
            citation=re.compile(entry["citation"]),
            until=entry["until"],
            by=entry["by"],
            source=entry["source"],
        )
        for entry in tomllib.loads(text)["superseded"]
    )
