"""What a run found out, case by case, and the averages over it.  Pure.

A result has named scores from 0 to 1; a score that does not apply to a case is
absent, so that every average says over how many cases it is.  Results travel as JSON
lines: `compare` pairs two such files.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from appliance.errors import BadRequest, PermitBoxError
from eval.cases import Case
from eval.scores import Estimate, estimate
from eval.significance import Paired, paired

Json = dict[str, object]  # only what goes out as JSON
Key = tuple[str, str]  # file and case: ids are unique within a file


class RunUnreadable(BadRequest):
    """A file of per-case results is not one that --out wrote."""


class NothingInCommon(PermitBoxError):
    """Two runs share no case that has a score of the same name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sourced:
    """A case with the file that it came from."""

    file: str  # its name without folder and suffix: "samples"
    case: Case


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One case's scores; each kind of run adds what it saw."""

    of: Sourced
    scores: Mapping[str, float]
    ms: float  # what the product took

    def observations(self) -> Iterator[tuple[str, float]]:
        """Yield what goes into the averages, by name."""
        yield from self.scores.items()

    def details(self) -> Json:
        """Return what a reader of the --out file wants beyond the scores."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalResult(Result):
    """What was returned."""

    found: tuple[str, ...]  # external ids, best first

    def details(self) -> Json:
        """Return the sections that were returned."""
        return {"found": list(self.found)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerResult(Result):
    """How a question ended, and which of its citations held."""

    outcome: str  # answer | quotes | abstention | refused
    cited: tuple[str, ...]  # external ids, in the order shown
    proofs: tuple[bool, ...]  # parallel to `cited`: does it re-verify?
    text: str

    def observations(self) -> Iterator[tuple[str, float]]:
        """Yield the scores, and one observation for each citation that was shown."""
        yield from self.scores.items()
        for proven in self.proofs:
            yield "proven_citations", float(proven)

    def details(self) -> Json:
        """Return the answer with its citations."""
        return {
            "outcome": self.outcome,
            "cited": list(self.cited),
            "proofs": list(self.proofs),
            "text": self.text,
        }


# ------------------------------------------------------------------ averages


R = TypeVar("R", bound=Result)


def averages(results: Iterable[Result]) -> dict[str, Estimate]:
    """Return the mean of everything observed, by name."""
    values: dict[str, list[float]] = {}
    for result in results:
        for name, value in result.observations():
            values.setdefault(name, []).append(value)
    return {name: estimate(v) for name, v in values.items()}


def grouped(results: Iterable[R], key: Callable[[R], str]) -> dict[str, list[R]]:
    """Return the results by a key, the keys sorted."""
    groups: dict[str, list[R]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return dict(sorted(groups.items()))


def by_kind(results: Iterable[R]) -> dict[str, list[R]]:
    """Return the results by the kind of question."""
    return grouped(results, lambda r: r.of.case.kind)


def by_city(results: Iterable[R]) -> dict[str, list[R]]:
    """Return the results by city."""
    return grouped(results, lambda r: r.of.case.city)


def by_file(results: Iterable[R]) -> dict[str, list[R]]:
    """Return the results by the file that the cases came from."""
    return grouped(results, lambda r: r.of.file)


def outcomes(results: Sequence[AnswerResult]) -> dict[str, int]:
    """Return how often the box answered, quoted, abstained or refused the question."""
    seen = Counter(r.outcome for r in results)
    return {name: seen[name] for name in ("answer", "quotes", "abstention", "refused")}


def abstentions(results: Sequence[AnswerResult]) -> dict[str, int]:
    """Return the abstentions that were right and wrong, and those that were missed."""
    seen = Counter((r.of.case.answerable, r.outcome == "abstention") for r in results)
    return {"right": seen[False, True], "wrong": seen[True, True], "missed": seen[False, False]}


def right_and_wrong(results: Sequence[AnswerResult]) -> dict[str, int]:
    """Return by outcome how many were right: {"quotes right": 3, "quotes wrong": 1, …}.

    An answer, or quotes, are right if the question has an answer and a gold section is cited; an
    abstention if it has none.
    """
    names = ("answer", "quotes", "abstention")
    table = {f"{name} {how}": 0 for name in names for how in ("right", "wrong")}
    for result in results:
        if result.outcome not in names:
            continue
        answerable = result.of.case.answerable
        shown = answerable and result.scores.get("proven_gold") == 1.0
        right = not answerable if result.outcome == "abstention" else shown
        table[f"{result.outcome} {'right' if right else 'wrong'}"] += 1
    return table


# ------------------------------------------------------------------ JSON


def summary_json(results: Sequence[Result]) -> Json:
    """Return the averages: overall, by kind, by city and by file."""
    return {
        **_group_json(results),
        "by_kind": {k: _group_json(v) for k, v in by_kind(results).items()},
        "by_city": {k: _group_json(v) for k, v in by_city(results).items()},
        "per_file": {k: _group_json(v) for k, v in by_file(results).items()},
        "ms": milliseconds([r.ms for r in results]),
    }


def _group_json(results: Sequence[Result]) -> Json:
    means = {name: estimate_json(e) for name, e in averages(results).items()}
    return {"n": len(results), **means}


def estimate_json(one: Estimate) -> dict[str, float]:
    """Return an estimate with its numbers rounded to four places."""
    return {
        "value": round(one.value, 4),
        "low": round(one.low, 4),
        "high": round(one.high, 4),
        "n": one.n,
    }


def milliseconds(values: Sequence[float]) -> dict[str, float]:
    """Return the median and the 95th percentile."""
    p50, p95 = np.percentile(np.asarray(values), [50, 95])
    return {"p50": round(float(p50), 1), "p95": round(float(p95), 1)}


# ------------------------------------------------------------------ files of results


def result_line(result: Result) -> str:
    """Return one JSON line of an --out file."""
    case = result.of.case
    line = {
        "file": result.of.file,
        "id": case.id,
        "city": case.city,
        "kind": case.kind,
        "scores": dict(result.scores),
        "ms": round(result.ms, 1),
        **result.details(),
    }
    return json.dumps(line, ensure_ascii=False)


def parse_run(text: str, name: str) -> dict[Key, dict[str, float]]:
    """Return the scores by file and case of what --out wrote.  Raises RunUnreadable."""
    run: dict[Key, dict[str, float]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            scores = {str(k): float(v) for k, v in row["scores"].items()}
            run[str(row["file"]), str(row["id"])] = scores
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise RunUnreadable(
                f"{name}:{number} is not a line of results; `--out` of a run writes them."
            ) from error
    return run


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One score in two runs, over the cases that both have."""

    score: str
    before: float
    after: float
    paired: Paired

    @property
    def difference(self) -> Estimate:
        """Return the mean of the cases' differences with its interval."""
        return self.paired.difference

    @property
    def shown(self) -> str:
        """Return what the interval shows: better, worse, or no difference."""
        return self.paired.shown


def compare(
    before: Mapping[Key, Mapping[str, float]], after: Mapping[Key, Mapping[str, float]]
) -> list[Comparison]:
    """Return the paired differences of all common scores.  Raises NothingInCommon."""
    pairs: dict[str, list[tuple[float, float]]] = {}
    for key in sorted(before.keys() & after.keys()):
        for name in before[key].keys() & after[key].keys():
            pairs.setdefault(name, []).append((before[key][name], after[key][name]))
    if not pairs:
        raise NothingInCommon("The two runs have no case with a score of the same name.")
    return [_comparison(name, pairs[name]) for name in sorted(pairs)]


def _comparison(name: str, pairs: Sequence[tuple[float, float]]) -> Comparison:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    return Comparison(
        score=name,
        before=sum(first) / len(first),
        after=sum(second) / len(second),
        paired=paired(first, second),
    )


def comparison_json(row: Comparison) -> Json:
    """Return a comparison with its numbers rounded to four places."""
    return {
        "before": round(row.before, 4),
        "after": round(row.after, 4),
        "difference": estimate_json(row.difference),
        "p_bootstrap": round(row.paired.bootstrap, 5),
        "p_randomisation": round(row.paired.randomisation, 5),
        "shown": row.shown,
    }
