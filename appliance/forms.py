"""The JSON forms of answers and passages: one for the command, the API and the audit trail.

Records in, plain values out; nothing is decided here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any

from appliance.answers.citations import Judgement
from appliance.answers.ownership import Owner
from appliance.answers.proofs import proof_fields
from appliance.answers.validity import dates_of
from appliance.ask import Finished
from appliance.audit import Audited
from appliance.domain import (
    Abstention,
    Citation,
    Claim,
    Named,
    Passage,
    PendingAmendment,
    StoredSection,
)
from appliance.naming import missing
from appliance.ports import AnswerRecord, AnswerStatistic, Audit, OwnAnswer
from appliance.retrieve import Retrieved


def outcome_json(finished: Finished) -> dict[str, Any]:
    """Return the JSON form of an answer: the same for the command, the API and the audit trail."""
    outcome = finished.outcome
    base: dict[str, Any] = {
        "city": finished.asked.city,
        "question": finished.asked.question,
        "as_of": finished.asked.as_of.isoformat(),
        "timings_ms": finished.timings_ms,
        "route": finished.route.value,
        "understood_as": finished.read_as,
        "cache": finished.cache,
    }
    if isinstance(outcome, Abstention):
        return base | {
            "outcome": "abstention",
            "text": outcome.text,
            "citations": [],
            "claims": [],
            "withheld": [],
            "phantoms": [],
            "unsupported_numbers": [],
            "warnings": [],
            "reason": outcome.reason.value,
            "office": outcome.office,
            "places": list(outcome.places),
            "searched": {
                "chunks": outcome.searched.chunks,
                "legs": list(outcome.searched.legs),
                "terms": list(outcome.searched.terms),
                "nearest": [nearest_json(p) for p in outcome.searched.nearest],
                "sections_read": outcome.searched.sections_read,
                "nowhere": list(outcome.searched.nowhere),
            },
        }
    return base | {
        "outcome": outcome.outcome,
        "text": outcome.text,
        "citations": [
            citation_json(number, c, finished.asked.as_of)
            for number, c in enumerate(outcome.citations, start=1)
        ],
        "claims": [claim_json(c) for c in outcome.claims],
        "withheld": [claim_json(c) for c in outcome.withheld],
        "phantoms": list(outcome.phantoms),
        "unsupported_numbers": list(outcome.unsupported_numbers),
        "warnings": [warning_json(w) for w in outcome.warnings],
        "reason": None,
        "note": outcome.note,
        "draft": None
        if outcome.draft is None
        else {"text": outcome.draft.text, "model": outcome.draft.model},
    }


def claim_json(claim: Claim) -> dict[str, Any]:
    """Return the JSON form of one sentence of an answer; `citations` are numbers of the answer's."""
    return {
        "text": claim.text,
        "citations": list(claim.citations),
        "support": claim.support,
        "flags": [flag.value for flag in claim.flags],
    }


def warning_json(amendment: PendingAmendment) -> dict[str, Any]:
    """Return the JSON form of a law that changes a section, whether it amends or repeals it."""
    effective = amendment.effective
    return {
        "kind": "amended_by",
        "law": amendment.law,
        "effective": effective.isoformat() if effective else None,
    }


def _in_time(section: StoredSection, day: date) -> dict[str, Any]:
    """Return what a section is to a reader on a day: its dates in words, and what changes it."""
    return {
        "doc_type": section.doc_type,
        "dates": dates_of(section),
        "superseded_by": section.superseded_by,
        "warnings": [warning_json(w) for w in section.pending(day)],
    }


def citation_json(number: int, citation: Citation, day: date) -> dict[str, Any]:
    """Return the JSON form of a proven citation; `start` and `end` count in the section's text."""
    section = citation.section
    return {
        "number": number,
        "section": section.citation,
        "section_id": section.id,
        "external_id": section.external_id,
        "record": section.record,
        "heading": section.heading,
        "path": list(section.path),
        "over": list(citation.over),
        "quote": citation.quote,
        "start": section.inside + citation.span.start,
        "end": section.inside + citation.span.end,
        "version": section.version,
        "effective_from": section.effective_from.isoformat() if section.effective_from else None,
        "effective_until": section.effective_until.isoformat() if section.effective_until else None,
        "url": section.url,
        "legs": list(citation.legs),
    } | (proof_fields(citation, day) | _in_time(section, day))


def nearest_json(passage: Passage) -> dict[str, Any]:
    """Return the JSON form of a passage that came near and does not answer."""
    return {
        "section": passage.section.citation,
        "section_id": passage.section.id,
        "external_id": passage.section.external_id,
        "heading": passage.section.heading,
        "score": passage.score,
    }


def judgement_json(judgement: Judgement) -> dict[str, Any]:
    """Return the verdict on a citation that somebody wrote down."""
    return {
        "verdict": judgement.verdict.value,
        "external_id": judgement.section.external_id if judgement.section else None,
        "why": judgement.why,
    }


def record_of(finished: Finished, owner: Owner) -> AnswerRecord:
    """Return what the trail of answers keeps: texts only as their owner can read them."""
    payload = outcome_json(finished)
    return AnswerRecord(
        city=finished.asked.city,
        as_of=finished.asked.as_of,
        asked_at=datetime.now(UTC),
        outcome=str(payload["outcome"]),
        reason=payload["reason"],
        cache=finished.cache,
        took_ms=finished.timings_ms["total"],
        owner=owner.name,
        sealed=owner.seal(json.dumps(payload, ensure_ascii=False)),
    )


def own_answer_json(kept: OwnAnswer, owner: Owner) -> dict[str, Any] | None:
    """Return an answer with its id and time, or None if it is not this owner's."""
    text = owner.open(kept.sealed)
    if text is None:
        return None
    return {"id": str(kept.id), "asked_at": kept.asked_at.isoformat(), **json.loads(text)}


def statistic_json(counted: AnswerStatistic) -> dict[str, Any]:
    """Return the JSON form of what operators may know of the answers of a day."""
    return {
        "day": counted.day.isoformat(),
        "city": counted.city,
        "outcome": counted.outcome,
        "reason": counted.reason,
        "answers": counted.answers,
        "from_cache": counted.from_cache,
        "p50_ms": counted.p50_ms,
        "p95_ms": counted.p95_ms,
    }


def audit_json(audited: Audited) -> dict[str, Any]:
    """Return the JSON form of a city's audit: state, reasons and all the counts behind them."""
    facts, tally, held = audited.facts, audited.facts.tally, audited.coverage
    findings = audited.verdict.findings
    newest, fetched = tally.newest, facts.fetched
    return {
        "city": held.city.id,
        "name": held.city.name,
        "state": audited.state.value,
        "verdict": audited.verdict.state.value,
        "override": _override_json(held.audit),
        "reasons": [f.reason for f in findings],
        "fix": findings[0].fix if findings else None,
        "fixes": [f.fix for f in findings],
        "documents": facts.documents,
        "sections": tally.sections,
        "in_force": tally.in_force,
        "chunks": facts.chunks,
        "rejected": facts.rejected,
        "rejected_by_reason": dict(facts.rejections.most_common()),
        "empty_sections": tally.empty,
        "damaged_sections": tally.damaged,
        "repeated_sections": tally.repeated,
        "dated_sections": tally.dated,
        "newest": newest.isoformat() if newest else None,
        "fetched_at": fetched.astimezone(UTC).isoformat() if fetched else None,
        "chapters": len(tally.chapters()),
        "empty_chapters": facts.empty_chapters,
        "missing_numbers": facts.missing,
        "probes": [
            {"probe": p.probe, "hits": p.hits, "example": p.example, "external_id": p.example_id}
            for p in facts.probed
        ],
        "coverage": audited.verdict.coverage,
    }


def _override_json(audit: Audit | None) -> dict[str, Any] | None:
    if audit is None or audit.override is None:
        return None
    said = audit.override
    return {
        "state": said.state.value,
        "because": said.because,
        "who": said.who,
        "made_at": said.made_at.astimezone(UTC).isoformat(),
        "verdict_then": said.verdict.value,
        "worse_since": audit.verdict.badness > said.verdict.badness,
    }


def said_json(found: Iterable[Retrieved]) -> dict[str, Any]:
    """Return what the searches of one question in each city say of the question itself.

    A number is missing only if no city has it.
    """
    every = list(found)
    absent = missing(every[0].named) if all(missing(f.named) for f in every) else ()
    read = {word: as_ for f in every for word, as_ in read_as_json(f).items()}
    return {"did_you_mean": did_you_mean_json(absent), "read_as": read}


def hits_json(passages: Sequence[Passage], day: date) -> list[dict[str, Any]]:
    """Return the JSON form of passages: the same for `permitbox search` and the API.

    `start` and `end` are code points in the section's own text.
    """
    return [
        {
            "rank": rank,
            "city": p.section.city,
            "section": p.section.citation,
            "section_id": p.section.id,
            "external_id": p.section.external_id,
            "record": p.section.record,
            "heading": p.section.heading,
            "path": list(p.section.path),
            "score": p.score,
            "similarity": p.similarity,
            "over": list(p.over),
            "text": p.text,
            "start": p.section.inside + p.span.start,
            "end": p.section.inside + p.span.end,
            "legs": list(p.legs),
            "also": [
                {
                    "section": o.citation,
                    "section_id": o.section,
                    "external_id": o.external_id,
                    "heading": o.heading,
                }
                for o in p.also
            ],
            "version": p.section.version,
            "effective_from": p.section.effective_from and p.section.effective_from.isoformat(),
        }
        | _in_time(p.section, day)
        for rank, p in enumerate(passages, start=1)
    ]


def read_as_json(found: Retrieved) -> dict[str, str]:
    """Return {misspelt word: what it was read as}."""
    return {c.written: c.read for c in found.corrections}


def explanation_json(passage: Passage, found: Retrieved) -> dict[str, Any]:
    """Return why a passage stands where it does: each leg's rank, score and index, and the features."""
    chunk = found.chunks[found.passages.index(passage)]
    return {
        "legs": {
            h.leg: {"rank": h.rank, "score": round(h.score, 4)}
            | ({"index": h.path} if h.path else {})
            for h in found.hits
            if h.chunk == chunk
        },
        "features": {n: round(v, 4) for n, v in found.evidence[chunk].items()},
    }


def did_you_mean_json(absent: Sequence[Named]) -> list[dict[str, Any]]:
    """Return the JSON form of numbers that are not in the registry, with the sections near them."""
    return [
        {
            "asked": named.written,
            "suggestions": [
                {
                    "section": s.citation,
                    "heading": s.heading,
                    "external_id": s.external_id,
                    "section_id": s.section_id,
                }
                for s in named.suggestions
            ],
        }
        for named in absent
    ]


def did_you_mean(named: Named) -> str:
    """Return the sentence on a number that is not in the registry."""
    near = "; ".join(f"{s.citation} ({s.heading})" for s in named.suggestions)
    sentence = f"no {'' if named.kind == 'law' else f'{named.kind} '}{named.number}"
    return f"{sentence}; did you mean {near}?" if near else f"{sentence} in this code"
