"""The JSON forms of comparisons and scans: one for the command and the API.

Records in, plain values out; nothing is decided here.
"""

from __future__ import annotations

from typing import Any

from appliance.absence import Looked, Mentioned, Scan, sentence


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
