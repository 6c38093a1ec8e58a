"""The audit of cities: facts from the store, a verdict, and what an admin says against it.

One flow, taken after every reading of corpus files and by `permitbox audit`.  It needs no model and
no vectors, so that a city is audited before it is encoded.  What is judged how is in
`corpus/coverage.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from appliance.corpus.coverage import PROBES, Facts, Tally, judge
from appliance.domain import CityId, State
from appliance.errors import BadRequest
from appliance.ports import Audits, Coverage, Finding, Refused, Verdict

# States that an admin may set.  "Staged" is nobody's wish: it says that no audit was made.
SETTABLE = (State.LIVE, State.LIMITED, State.QUARANTINED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """An audit with all that it was made of."""

    facts: Facts
    verdict: Verdict
    coverage: Coverage  # as it is kept now: state and override

    @property
    def state(self) -> State:
        """Return the city's state: the verdict's, unless an admin has set another."""
        return self.coverage.state


async def audit(audits: Audits, cities: Sequence[CityId], today: date) -> list[Audited]:
    """Audit the cities, keep each verdict and return them all.  Raises NoSuchCity before the first."""
    for city in cities:
        await audits.held(city)
    return [await _audit_one(audits, city, today) for city in cities]


async def audit_due(audits: Audits, today: date) -> list[Audited]:
    """Audit what was never audited or has changed since."""
    return await audit(audits, await audits.due(), today)


async def _audit_one(audits: Audits, city: CityId, today: date) -> Audited:
    facts = await _facts(audits, await audits.held(city), today)
    verdict = judge(facts)
    await audits.keep(city, verdict)
    coverage = await audits.held(city)
    file = facts.refused[0].file if facts.refused else "FILE"
    ready = _with_readiness(verdict, coverage, file)
    return Audited(facts=facts, verdict=ready, coverage=coverage)


async def _facts(audits: Audits, held: Coverage, today: date) -> Facts:
    tally = Tally(city=held.city, today=today)
    async for section in audits.law(held.city.id):
        tally.add(section)
    documents, fetched, claimed = await audits.counts(held.city.id)
    return Facts(
        city=held.city,
        documents=documents,
        chunks=held.chunks,
        fetched=fetched,
        claimed=claimed,
        tally=tally,
        refused=tuple(r for r in await audits.refused(held.city.id) if not _gone(r)),
        probed=tuple([await audits.probe(held.city.id, probe, today) for probe in PROBES]),
    )


def _gone(refused: Refused) -> bool:
    """Tell whether a file that brought nothing was taken away since: then it is no reason any more."""
    return refused.empty and not Path(refused.file).exists()


def _with_readiness(verdict: Verdict, coverage: Coverage, file: str) -> Verdict:
    """Return the verdict with what is true only for now, and therefore not kept: missing vectors.

    An ingest of any file of the city goes on with its vectors.
    """
    if coverage.dense_ready or not coverage.chunks:
        return verdict
    finding = Finding(
        state=State.LIMITED,
        reason=f"searched by {coverage.status}",
        fix=f"permitbox ingest {file}",
    )
    state = State.LIMITED if verdict.state is State.LIVE else verdict.state
    return replace(verdict, state=state, findings=(*verdict.findings, finding))


# ------------------------------------------------------------------ an admin's word against it


async def override(
    audits: Audits, city: CityId, state: State, *, because: str, who: str, today: date
) -> Audited:
    """Set a city's state against its audit, for a reason that is kept and shown.

    The audit is taken first, so that what is overridden is known.  Raises BadRequest without a
    reason, NoSuchCity.
    """
    if state not in SETTABLE:
        names = ", ".join(s.value for s in SETTABLE)
        raise BadRequest(f"--set {state} cannot be set; it is one of {names}.")
    if not because.strip():
        raise BadRequest('Say why with --because "reason"; it is kept and shown with the city.')
    (audited,) = await audit(audits, [city], today)
    await audits.override(city, state, because=" ".join(because.split()), who=who)
    return replace(audited, coverage=await audits.held(city))


async def clear(audits: Audits, city: CityId, today: date) -> Audited:
    """Take an override back; the audit's own verdict counts again.  Raises BadRequest, NoSuchCity."""
    await audits.held(city)
    if not await audits.clear(city):
        raise BadRequest(f"Nothing was set for {city}; its state is what its audit says.")
    (audited,) = await audit(audits, [city], today)
    return audited
