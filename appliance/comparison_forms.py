"""The JSON forms of comparisons and scans: one for the command and the API.

Records in, plain values out; nothing is decided here.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from appliance.absence import Looked, Mentioned, Scan, sentence
from appliance.compare import Cell, Comparison, EmptyCell
from appliance.forms import citation_json, nearest_json


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return the JSON form of a comparison: the same for the command and the API."""
    day = comparison.as_of
    return {
        "question": comparison.question,
        "as_of": day.isoformat(),
        "cells": {cell.city.id: _cell_json(cell, day) for cell in comparison.cells},
    }


def _cell_json(cell: Cell, day: date) -> dict[str, Any]:
    base = {"found": not isinstance(cell, EmptyCell), "name": cell.city.name, "text": cell.text}
    if isinstance(cell, EmptyCell):
        looked = [
            looked_json(f) | {"of": t} for s in cell.scans for t in s.things for f in s.looked
        ]
        sections = max((s.sections for s in cell.scans), default=0)
        return base | {
            "citations": [],
            "searched": looked,
            "sections": sections,
            "absent": list(cell.absent),
            "nearest": [nearest_json(p) for p in cell.nearest],
            "by": None,
            "office": cell.city.office,
        }
    return base | {
        "citations": [citation_json(1, cell.citation, day)],
        "fact": {"start": cell.fact.start, "end": cell.fact.end},
        "searched": [],
        "by": cell.by,
        "office": cell.city.office,
    }


def scan_json(scan: Scan, name: str) -> dict[str, Any]:
    """Return the JSON form of an exhaustive reading; `name` is the city's."""
    return {
        "city": scan.city,
        "as_of": scan.as_of.isoformat(),
        "asked": list(scan.things),
        "absent": scan.absent,
        "text": sentence(scan, name),
        "sections": scan.sections,
        "searched": [looked_json(f) for f in scan.looked],
        "mentions": scan.places,
        "places": [_mentioned_json(m) for m in scan.mentioned],
    }


def looked_json(form: Looked) -> dict[str, Any]:
    """Return the JSON form of a form that was looked for."""
    return {"form": form.form, "why": form.why, "sections": form.sections}


def _mentioned_json(mentioned: Mentioned) -> dict[str, Any]:
    place = mentioned.place
    return {
        "section": place.citation,
        "section_id": place.section,
        "external_id": place.external_id,
        "heading": place.heading,
        "form": mentioned.form,
        "text": mentioned.words,
        "start": place.span.start,
        "end": place.span.end,
    }
