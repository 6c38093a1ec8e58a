"""Under which keys an answer is kept for others who ask the same, and in which form.  Pure.

A key is a digest of the city, the day, the version of whatever makes answers, and the question, and
the store gives only what was made from the law as it is now: a change of any of them makes old
answers unreachable at once.  What is kept is sealed under the question's own meaning, so that the
store holds no word of a question.  No citation is kept: a kept answer names spans, and each of them
is proven anew before it is one again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from appliance.answers.citations import prove
from appliance.answers.meaning import meaning_of, normal_form
from appliance.answers.sealing import digest_under, opened, sealed
from appliance.domain import Citation, CityId, SectionId, Span, StoredSection

_T = TypeVar("_T")
_CITATION = "a proven citation"  # the key of a citation's place in the kept form


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """What an answer depends on beside its question and the law."""

    pipeline: str  # code, prompts, weights, encoder
    model: str  # that writes; "" where none does


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheKey:
    """Where the answer to a question is kept, and what it is sealed under."""

    exact: bytes
    semantic: bytes | None  # None: too short a question to have a meaning apart from its words
    seal: bytes

    @classmethod
    def of(cls, question: str, city: CityId, as_of: date, versions: Versions) -> CacheKey:
        """Return the key of a question that stands on its own.

        Letters of any case are the same words, unless the case makes another meaning ("in A zone").
        """
        words, meaning = normal_form(question), meaning_of(question)
        asked = (city, as_of.isoformat(), versions.pipeline, versions.model)
        return cls(
            exact=digest_under("exact", *asked, words, meaning or ""),
            semantic=None if meaning is None else digest_under("semantic", *asked, meaning),
            seal=digest_under("seal", *asked, meaning or words),
        )


# ------------------------------------------------------------------ what is kept


def kept_form(key: CacheKey, record: object, day: date) -> bytes:
    """Return a record of an answer by the law of a day, sealed; its citations become places in that law."""
    tree = {"day": day.isoformat(), "record": _plain(record)}
    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
    return sealed(key.seal, text, b"answer")


def _plain(value: Any) -> Any:
    if isinstance(value, Citation):
        return {_CITATION: _place(value)}
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    return _leaf(value)


def _leaf(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


def _place(citation: Citation) -> dict[str, Any]:
    return {
        "section": citation.section.id,
        "span": [citation.span.start, citation.span.end],
        "quote": citation.quote,
        "legs": list(citation.legs),
        "leads": [[lead.start, lead.end] for lead in citation.leads],
    }


# ------------------------------------------------------------------ proven anew


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A kept answer that was opened: what it claims to have proven is to be proven again."""

    day: date  # whose law was used
    tree: Any  # JSON

    @classmethod
    def of(cls, key: CacheKey, box: bytes) -> Kept | None:
        """Return what was kept, or None if the key does not open it."""
        text = opened(key.seal, box, b"answer")
        if text is None:
            return None
        tree = json.loads(text)
        return cls(day=date.fromisoformat(tree["day"]), tree=tree["record"])

    def cited(self) -> set[SectionId]:
        """Return the sections that it cites."""
        return {SectionId(place["section"]) for place in _places(self.tree)}

    def proven(
        self, kind: type[_T], sections: Mapping[SectionId, StoredSection], city: CityId
    ) -> _T | None:
        """Return the record with its citations, each proven against the stored text as of its day.

        None if one of them is not: its section is gone, not in force, another city's, or says
        something else.
        """
        try:
            revived = _revived(self.tree, sections, city, self.day)
            record: _T = _reader(kind).validate_python(revived)
        except (_Unproven, ValidationError):
            return None
        return record


class _Unproven(Exception):
    """A kept citation does not hold any more."""


# One reader a kind of record: to make it takes longer than to read with it.
_reader: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


def _places(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        if _CITATION in tree:
            yield tree[_CITATION]
        else:
            for value in tree.values():
                yield from _places(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _places(value)


def _revived(
    tree: Any, sections: Mapping[SectionId, StoredSection], city: CityId, day: date
) -> Any:
    if isinstance(tree, dict):
        if _CITATION in tree:
            return _proven(tree[_CITATION], sections, city, day)
        return {k: _revived(v, sections, city, day) for k, v in tree.items()}
    if isinstance(tree, list):
        return [_revived(v, sections, city, day) for v in tree]
    return tree


def _proven(
    place: Mapping[str, Any],
    sections: Mapping[SectionId, StoredSection],
    city: CityId,
    day: date,
) -> Citation:
    section = sections.get(place["section"])
    if section is None:
        raise _Unproven
    start, end = place["span"]
    proof = prove(
        section,
        Span(start=start, end=end),
        as_of=day,
        retrieved=None,
        city=city,
        legs=tuple(place["legs"]),
        leads=tuple(Span(start=a, end=b) for a, b in place["leads"]),
    )
    if not isinstance(proof, Citation) or proof.quote != place["quote"]:
        raise _Unproven
    return proof
