"""Proof objects: what a stored answer claims of the law, and what of it can be shown again.  Pure.

A proof names the city, the section, the version by the digest of its body, the days on which it
applies, and a span with its words; all of it stands in the JSON of every citation, and
`docs/check_proofs.py` checks the same without any of this code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Self

from appliance.domain import Citation, Digest, StoredSection, digest_of


class Fault(StrEnum):
    """What is wrong with a proof, in the order in which it is looked at."""

    MALFORMED = "malformed"  # a field is missing or of another kind
    WRONG_PROOF = "wrong_proof"  # the fields are not those that the proof's own digest names
    WRONG_HASH = "wrong_hash"  # the quote is not the one that its digest names
    NO_SUCH_SECTION = "no_such_section"  # the city's registry has no such section
    NO_SUCH_VERSION = "no_such_version"  # it has the section, but no text of that digest
    TEXT_CHANGED = "text_changed"  # the stored text is not the one that its digest names
    WRONG_ID = "wrong_id"  # the section's id in this box is another section's
    WRONG_QUOTE = "wrong_quote"  # the text has other words at that span
    WRONG_DATES = "wrong_dates"  # the version applies on other days
    NOT_IN_FORCE = "not_in_force"  # it did not apply on the day of the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One citation of an answer, as it leaves the box."""

    city: str
    section: str  # the citation
    section_id: int  # of this box; another one, or a later reading, numbers sections otherwise
    external_id: str
    version: str  # sha256 of the document's body
    effective_from: str | None  # ISO days
    effective_until: str | None
    start: int  # code points in the text of the record
    end: int
    quote: str
    quote_sha256: str
    legs: tuple[str, ...]  # how it was found
    as_of: str  # the day whose law was asked for

    @property
    def digest(self) -> Digest:
        """Return the sha256 that names the proof: of its fields but the quote, as a JSON list."""
        fields = [
            *(self.city, self.section, self.section_id, self.external_id, self.version),
            *(self.effective_from, self.effective_until, self.start, self.end),
            *(self.quote_sha256, list(self.legs), self.as_of),
        ]
        return digest_of(json.dumps(fields, ensure_ascii=True, separators=(",", ":")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A version of a section as the database has it."""

    section: StoredSection
    body_sha256: str  # computed from the stored body now


def proof_of(citation: Citation, as_of: date) -> Proof:
    """Return the proof of a citation that was proven for a day."""
    section = citation.section
    return Proof(
        city=section.city,
        section=section.citation,
        section_id=section.id,
        external_id=section.external_id,
        version=section.version,
        effective_from=_iso(section.effective_from),
        effective_until=_iso(section.effective_until),
        start=section.inside + citation.span.start,
        end=section.inside + citation.span.end,
        quote=citation.quote,
        quote_sha256=digest_of(citation.quote),
        legs=citation.legs,
        as_of=as_of.isoformat(),
    )


def proof_fields(citation: Citation, as_of: date) -> dict[str, Any]:
    """Return what makes a citation's JSON a proof by itself."""
    proof = proof_of(citation, as_of)
    return {
        "city": proof.city,
        "as_of": proof.as_of,
        "quote_sha256": proof.quote_sha256,
        "proof_sha256": proof.digest,
    }


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


# ------------------------------------------------------------------ reading what was stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A citation found in a stored answer: a proof with the digest it bears, or none."""

    where: str  # "line 3: citations[1]"
    proof: Proof | None
    digest: str | None = None


def proofs_in(value: object, where: str) -> Iterator[Read]:
    """Yield every citation of a JSON value in reading order: an answer, a list of them, a table."""
    open_ = [(value, where, False)]
    while open_:  # no recursion: a stored file can be nested as deep as it likes
        found, place, cites = open_.pop()
        if isinstance(found, Mapping):
            if cites:
                yield _read(found, place)
            inner = [(v, f"{place}.{k}", k in ("citation", "citations")) for k, v in found.items()]
            open_ += reversed(inner)
        elif isinstance(found, list):
            open_ += reversed([(v, f"{place}[{i}]", cites) for i, v in enumerate(found)])


_TEXTS = ("city", "section", "external_id", "version", "quote", "quote_sha256", "as_of")
_NUMBERS = ("section_id", "start", "end")
_DAYS = ("effective_from", "effective_until")


def _read(fields: Mapping[str, Any], where: str) -> Read:
    whole = (
        all(isinstance(fields.get(name), str) for name in _TEXTS)
        and all(type(fields.get(name)) is int for name in _NUMBERS)
        and all(fields.get(name, 0) is None or isinstance(fields[name], str) for name in _DAYS)
        and isinstance(fields.get("legs"), list)
        and isinstance(fields.get("proof_sha256"), str)
        and 0 <= fields["start"] < fields["end"]
        and all(_is_day(fields[name]) for name in ("as_of", *_DAYS))
    )
    if not whole:
        return Read(where=where, proof=None)
    names = (*_TEXTS, *_NUMBERS, *_DAYS)
    proof = Proof(**{name: fields[name] for name in names}, legs=tuple(fields["legs"]))
    return Read(where=where, proof=proof, digest=fields["proof_sha256"])


def _is_day(written: str | None) -> bool:
    try:
        return written is None or date.fromisoformat(written).isoformat() == written
    except ValueError:
        return False


# ------------------------------------------------------------------ checking


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What became of a proof that was shown again; without faults it holds."""

    where: str
    proof: Proof | None
    faults: tuple[Fault, ...]

    @classmethod
    def of(cls, read: Read, held: Sequence[Held]) -> Self:
        """Check a proof against all versions of the section that the database has."""
        if read.proof is None:
            return cls(where=read.where, proof=None, faults=(Fault.MALFORMED,))
        faults = [*_own_faults(read.proof, read.digest), *_faults(read.proof, held)]
        return cls(where=read.where, proof=read.proof, faults=tuple(faults))


def _own_faults(proof: Proof, digest: str | None) -> Iterator[Fault]:
    """Yield what is wrong with a proof whatever the database has."""
    if proof.digest != digest:
        yield Fault.WRONG_PROOF
    if digest_of(proof.quote) != proof.quote_sha256:
        yield Fault.WRONG_HASH


def _faults(proof: Proof, held: Sequence[Held]) -> Iterator[Fault]:
    named = (proof.external_id, proof.section)
    sections = [h for h in held if (h.section.external_id, h.section.citation) == named]
    if not sections:
        yield Fault.NO_SUCH_SECTION
        return
    versions = [h for h in sections if h.section.version == proof.version]
    if not versions:
        yield Fault.NO_SUCH_VERSION
        return
    if any(h.body_sha256 != proof.version for h in versions):
        yield Fault.TEXT_CHANGED
    others = [h for h in held if h.section.id == proof.section_id and h not in versions]
    if others:
        yield Fault.WRONG_ID
    quoting = [h for h in versions if _text_at(h.section, proof) == proof.quote]
    if not quoting:
        yield Fault.WRONG_QUOTE
    yield from _date_faults(proof, [h.section for h in quoting or versions])


def _text_at(section: StoredSection, proof: Proof) -> str:
    start, end = proof.start - section.inside, proof.end - section.inside
    return section.text[start:end] if start >= 0 and end <= len(section.text) else ""


def _date_faults(proof: Proof, sections: Sequence[StoredSection]) -> Iterator[Fault]:
    """Yield what is wrong with the days; an end that came to be known later is no fault."""
    dated = [
        s
        for s in sections
        if _iso(s.effective_from) == proof.effective_from
        and proof.effective_until in (None, _iso(s.effective_until))
    ]
    if not dated:
        yield Fault.WRONG_DATES
    day = date.fromisoformat(proof.as_of)
    if not any(s.in_force(day) for s in dated or sections):
        yield Fault.NOT_IN_FORCE
