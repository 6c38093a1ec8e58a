"""Is a citation that somebody wrote down true?  Registry and stored text decide; no model.

One claim in, one judgement out; the store is handed in.  Bearers of a number are looked up first, and
only a claim that they do not prove is looked for elsewhere: in the rest of the city, in other cities.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from typing import Self, TypedDict

from appliance.answers.citations import (
    Judgement,
    judge_here,
    judge_writing,
    of_the_code,
    read_writing,
)
from appliance.answers.proofs import Checked, Held, Read
from appliance.corpus.references import Cited, names_a_code, parse_citation, same_code
from appliance.domain import CityId, SectionId, parse_city_id
from appliance.errors import BadRequest
from appliance.ports import CitationLookUp, Coverage, Searcher

_NO_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimLine:
    """A citation as a person writes it, and the claim that it is to carry."""

    city: CityId
    citation: str
    claim: str

    @classmethod
    def written(cls, city: CityId, citation: str, claim: str) -> Self:
        """Return the claim without the characters that no text has."""
        return cls(city=city, citation=_plain(citation), claim=_plain(claim))

    @classmethod
    def parse(cls, line: str | bytes, number: int) -> Self:
        """Return the claim of a JSON line.  Raises BadRequest naming the line."""
        try:
            fields = json.loads(line)
            city, citation, claim = (fields[k] for k in ("city", "citation", "claim"))
        except UnicodeDecodeError:
            raise BadRequest(f"Line {number} is not UTF-8 text.") from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise BadRequest(
                f'Line {number} is not a JSON object with "city", "citation" and "claim".'
            ) from None
        if not all(isinstance(v, str) for v in (city, citation, claim)):
            raise BadRequest(f'Line {number}: "city", "citation" and "claim" must be texts.')
        try:
            return cls.written(parse_city_id(city), citation, claim)
        except ValueError as error:
            raise BadRequest(f"Line {number}: {error}.") from None


def _plain(text: str) -> str:
    """Return a text without what no text has: NUL characters and halves of characters."""
    return _NO_TEXT.sub(" ", text)


async def verify_claim(store: Searcher, claim: ClaimLine, as_of: date) -> Judgement:
    """Return the verdict on one claim.  Raises NoSuchCity."""
    async with open_verifier(store) as verifier:
        return await verifier.judgement(claim, as_of)


async def verify_claims(
    store: Searcher, claims: Sequence[ClaimLine], as_of: date
) -> list[Judgement]:
    """Return the verdict on each claim.  Raises NoSuchCity."""
    async with open_verifier(store) as verifier:
        return [await verifier.judgement(claim, as_of) for claim in claims]


@asynccontextmanager
async def open_verifier(store: Searcher) -> AsyncIterator[Verifier]:
    """Hand over a verifier that knows the cities of this moment: for many claims at once."""
    places = {c.city.id: _words_of(c) for c in await store.cities()}
    async with store.looking_up() as law:
        yield Verifier(store=store, law=law, places=places)


def _words_of(coverage: Coverage) -> tuple[str, ...]:
    city = coverage.city
    return (*city.id.split("-"), *city.name.casefold().replace(",", " ").split())


class _LookUp(TypedDict):
    kind: str
    number: str
    whole: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """The law that is cited, with the words of each city's name."""

    store: Searcher
    law: CitationLookUp
    places: Mapping[CityId, tuple[str, ...]]

    async def judgement(self, claim: ClaimLine, as_of: date) -> Judgement:
        """Return the verdict on a claim.  Raises NoSuchCity.

        Looks first where the citation leads; only what is not proven there is looked for elsewhere.
        """
        if claim.city not in self.places:
            await self.store.coverage(claim.city)  # raises, and says which names are near
        writing = read_writing(claim.citation, claim.claim, self.places[claim.city])
        named = _look_up_of(parse_citation(claim.citation), writing.quote or "")
        here = await self.law.cited(claim.city, **named)
        if found := judge_here(writing, here, as_of=as_of):
            return found
        quote = writing.quote
        return judge_writing(
            writing,
            here=here,
            elsewhere=await self.law.cited_elsewhere(claim.city, **named),
            others=await self.law.holding(claim.city, quote) if quote else (),
            foreign=not of_the_code(writing, here)
            and self._names_another(writing.asked, claim.city),
            as_of=as_of,
        )

    def _names_another(self, asked: Sequence[str], city: CityId) -> bool:
        """Tell whether the name of a code is that of another city of this box and not of this one.

        "San Mateo Municipal Code" and "SMMC" are.
        """
        if not names_a_code(asked) or _is_code_of(asked, self.places[city]):
            return False
        return any(_is_code_of(asked, words) for c, words in self.places.items() if c != city)


def _look_up_of(cited: Cited, quote: str) -> _LookUp:
    """Return how a citation is looked up: by its number, or as a whole if it has none."""
    kind, number = (cited.kind, cited.number) if cited.number else ("whole", cited.whole)
    return {"kind": kind, "number": number, "whole": cited.whole, "quote": quote}


def _is_code_of(asked: Sequence[str], place: Sequence[str]) -> bool:
    name = [w for w in dict.fromkeys(place) if w != place[-1] or len(place) < 2]
    return same_code(asked, [*name, "municipal", "code"], place)


# ------------------------------------------------------------------ proofs of answers that were given


async def check_proofs(store: Searcher, reads: Sequence[Read]) -> list[Checked]:
    """Return what became of each citation of stored answers, shown again from the store."""
    async with store.looking_up() as law:
        return [Checked.of(read, await _held(law, read)) for read in reads]


async def _held(law: CitationLookUp, read: Read) -> list[Held]:
    proof = read.proof
    if proof is None or not 0 <= proof.section_id < _LARGEST_ID:
        return []
    found = await law.held_versions(
        CityId(_plain(proof.city)), _plain(proof.external_id), SectionId(proof.section_id)
    )
    return [Held(section=section, body_sha256=digest) for section, digest in found]


_LARGEST_ID = 2**63
