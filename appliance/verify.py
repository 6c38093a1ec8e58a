"""Is a citation that somebody wrote down true?  Registry and stored text decide; no model.

One claim in, one judgement out; the store is handed in.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from typing import Self

from appliance.answers.citations import Judgement, judge
from appliance.corpus.references import Cited, parse_citation
from appliance.domain import CityId, StoredSection, parse_city_id
from appliance.errors import BadRequest
from appliance.ports import Searcher

# A number like "1-1" stands in many codes; more places than this are not looked at for a quote.
ELSEWHERE = 200

_NO_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimLine:
    """A citation as a person writes it, and the claim that it is to carry."""

    city: CityId
    citation: str
    claim: str

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
            return cls(city=parse_city_id(city), citation=_plain(citation), claim=_plain(claim))
        except ValueError as error:
            raise BadRequest(f"Line {number}: {error}.") from None


def _plain(text: str) -> str:
    """Return a text without what no text has: NUL characters and halves of characters."""
    return _NO_TEXT.sub(" ", text)


async def verify_claim(store: Searcher, claim: ClaimLine, as_of: date) -> Judgement:
    """Return the verdict on one claim.  Raises NoSuchCity."""
    coverage = await store.coverage(claim.city)
    cited = parse_citation(claim.citation)
    here = await _bearing(store, claim.city, cited)
    elsewhere = [s for s in await _bearing(store, None, cited) if s.city != claim.city]
    return judge(
        claim.citation,
        claim.claim,
        place=[*claim.city.split("-"), *coverage.city.name.casefold().replace(",", " ").split()],
        here=here,
        elsewhere=elsewhere,
        as_of=as_of,
    )


async def _bearing(store: Searcher, city: CityId | None, cited: Cited) -> list[StoredSection]:
    """Return the sections that bear a citation's number: by the whole citation, else by its kind."""
    whole = list(await store.by_number(city, [cited.whole], ("whole",), ELSEWHERE))
    if not cited.number:
        return whole
    numbered = await store.by_number(city, [cited.number], (cited.kind,), ELSEWHERE)
    seen = {s.id for s in whole}
    return [*whole, *(s for s in numbered if s.id not in seen)]
