"""Rows of sections to records: what every reading of `section_columns` shares.  No connection."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from appliance.domain import (
    CityId,
    Digest,
    PendingAmendment,
    SectionId,
    Standing,
    StoredSection,
)


def section_of(row: Sequence[Any]) -> StoredSection:
    """Return the section of a row that begins with `section_columns`."""
    return StoredSection(
        **identity_of(row),
        text=row[11],
        url=row[12],
        doc_type=row[13],
        superseded_by=row[14],
        dated_by_box=row[15],
        inside=row[16],
        record=row[17],
        amendments=tuple(_amendment(a) for a in row[18] or ()),
    )


def identity_of(row: Sequence[Any]) -> dict[str, Any]:
    """Return what a section is, without its words, of a row that begins as `section_columns` does."""
    return {
        "id": SectionId(row[0]),
        "city": CityId(row[1]),
        "external_id": row[2],
        "citation": row[3],
        "number": row[4],
        "heading": row[5],
        "path": tuple(row[6]),
        "standing": Standing(row[7]),
        "version": Digest(row[8]),
        "effective_from": row[9],
        "effective_until": row[10],
    }


def _amendment(facts: Sequence[Any]) -> PendingAmendment:
    law, external_id, kind, enacted, effective = facts
    return PendingAmendment(
        law=law,
        external_id=external_id,
        kind=kind,
        enacted=date.fromisoformat(enacted) if enacted else None,
        effective=date.fromisoformat(effective) if effective else None,
    )
