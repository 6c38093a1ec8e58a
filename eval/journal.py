"""The file of an ablation: a line that says what is run, then a line a result.  Pure.

A run that was stopped is gone on with from its journal, and `crossval` reads nothing else.  Results of
another commit, corpus or day would not pair with new ones, so a journal of such a run is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from appliance.domain import parse_city_id
from eval.ablation import AblationResult, OtherRun
from eval.cases import Case, GoldIds
from eval.results import Json, RunUnreadable, Sourced, result_line
from eval.variants import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a run is of."""

    commit: str | None
    digests: Mapping[str, str]  # of each case file with the corpus, if that was named
    as_of: str  # the day whose law was searched
    variants: tuple[str, ...]  # names, in the order of the rows

    def line(self) -> str:
        """Return the first line of a journal."""
        facts: Json = {
            "commit": self.commit,
            "digests": dict(self.digests),
            "as_of": self.as_of,
            "variants": list(self.variants),
        }
        return json.dumps({"ablation": facts}, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """What a file says: what was run, and the results so far."""

    header: Header
    results: tuple[AblationResult, ...]

    def text(self) -> str:
        """Return the file anew."""
        return "".join(
            f"{line}\n" for line in (self.header.line(), *map(result_line, self.results))
        )


def parse_journal(text: str, name: str) -> Journal:
    """Return what a journal says; a last line that a kill cut off is left out.

    Raises RunUnreadable.
    """
    whole, _, _ = text.rpartition("\n")
    first, *others = whole.split("\n")
    header = _header(first, name)
    rows = [_result(line, f"{name}:{i}") for i, line in enumerate(others, start=2) if line.strip()]
    return Journal(header=header, results=tuple(rows))


def _header(line: str, name: str) -> Header:
    try:
        facts = json.loads(line)["ablation"]
        return Header(
            commit=facts["commit"],
            digests=dict(facts["digests"]),
            as_of=str(facts["as_of"]),
            variants=tuple(facts["variants"]),
        )
    except (ValueError, TypeError, KeyError) as error:
        raise RunUnreadable(f"{name} is not a file that `--out` of `eval ablate` wrote.") from error


def _result(line: str, where: str) -> AblationResult:
    try:
        row = json.loads(line)
        return AblationResult(
            of=Sourced(file=str(row["file"]), case=_case(row)),
            scores={str(k): float(v) for k, v in row["scores"].items()},
            ms=float(row["ms"]),
            found=tuple(row["found"]),
            variant=str(row["variant"]),
            digest=str(row["digest"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RunUnreadable(f"{where} is not a result of `permitbox eval ablate`.") from error


def _case(row: Mapping[str, object]) -> Case:
    """Return the case as far as a line tells: what results are grouped by."""
    return Case(
        id=str(row["id"]),
        city=parse_city_id(str(row["city"])),
        kind=str(row["kind"]),
        question="",
        gold=GoldIds(groups=()),
        facts=(),
        answerable=True,
    )


def resumed(journal: Journal, header: Header, variants: Iterable[Variant], name: str) -> Journal:
    """Return the journal under the new header, with the results of these variants only.

    Raises OtherRun if it is of another commit, corpus or day.
    """
    old = journal.header
    if (old.commit, old.digests, old.as_of) != (header.commit, header.digests, header.as_of):
        raise OtherRun(
            f"{name} holds results of commit {old.commit} as of {old.as_of}, and this run is of "
            f"{header.commit} as of {header.as_of}, or its cases or corpus are others. Give another "
            "--out, or remove that file."
        )
    wanted = {v.digest for v in variants}
    kept = tuple(r for r in journal.results if r.digest in wanted)
    return Journal(header=header, results=kept)
