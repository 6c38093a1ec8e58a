"""What each part of a search is worth: variants over the same questions, compared in pairs.  Pure.

Knows results and variants, no store.  Every comparison is over the questions that all variants were
asked, so that a run that was stopped early still compares like with like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from appliance.errors import BadRequest
from eval.results import (
    Json,
    Key,
    NothingInCommon,
    RetrievalResult,
    Sourced,
    averages,
    by_city,
    by_kind,
    estimate_json,
    milliseconds,
)
from eval.scores import DEEPEST, Estimate
from eval.significance import Paired, paired
from eval.split import folds
from eval.variants import Study, Variant

MAIN = f"ndcg@{DEEPEST}"  # the score that variants are chosen and harm is judged by


class NoLegAlone(BadRequest):
    """An ablation has no variant of a single leg, so that harm cannot be told."""


class OtherRun(BadRequest):
    """The --out file is of a run of another kind: its cases cannot be gone on with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationResult(RetrievalResult):
    """One question searched for in one way."""

    variant: str  # its name
    digest: str  # of all that makes it

    def details(self) -> Json:
        """Return what was found, and by which variant."""
        return {
            "variant": self.variant,
            "digest": self.digest,
            **RetrievalResult.details(self),
        }

    @property
    def key(self) -> Key:
        """Return what names the case."""
        return self.of.file, self.of.case.id


By = dict[str, dict[Key, AblationResult]]  # by variant, in the order of the variants; then by case


def in_common(results: Iterable[AblationResult], variants: Sequence[str]) -> By:
    """Return the results of the cases that every variant was asked, in the order of their names."""
    by: By = {name: {} for name in variants}
    for result in results:
        by[result.variant][result.key] = result
    shared = set.intersection(*(set(of) for of in by.values()))
    return {name: {k: r for k, r in of.items() if k in shared} for name, of in by.items()}


# ------------------------------------------------------------------ the rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One variant, and how it differs from the one it is compared with."""

    name: str
    n: int
    scores: Mapping[str, Estimate]
    ms: Mapping[str, float]  # p50 and p95
    against: str | None  # None: the first row
    differences: Mapping[str, Paired]  # by score; empty for the first row
    by_kind: Mapping[str, Mapping[str, Estimate]]  # the scores of each kind of question
    by_city: Mapping[str, Mapping[str, Estimate]]


def rows(by: By, variants: Sequence[Variant]) -> list[Row]:
    """Return a row a variant, each compared with the row above or the one that it names."""
    made: list[Row] = []
    for variant in variants:
        against = variant.against or (made[-1].name if made else None)
        of = by[variant.name]
        made.append(
            Row(
                name=variant.name,
                n=len(of),
                scores=averages(of.values()),
                ms=milliseconds([r.ms for r in of.values()]),
                against=against,
                differences={} if against is None else differences(by[against], of),
                by_kind={k: averages(g) for k, g in by_kind(of.values()).items()},
                by_city={k: averages(g) for k, g in by_city(of.values()).items()},
            )
        )
    return made


def differences(
    before: Mapping[Key, AblationResult], after: Mapping[Key, AblationResult]
) -> dict[str, Paired]:
    """Return how far apart two variants are, for each score that a case has in both."""
    pairs: dict[str, list[tuple[float, float]]] = {}
    for key, first in before.items():
        for score, value in first.scores.items():
            pairs.setdefault(score, []).append((value, after[key].scores[score]))
    return {s: paired([a for a, _ in of], [b for _, b in of]) for s, of in pairs.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The last variant against another, by the main score."""

    name: str
    value: float
    paired: Paired


def last_against_all(by: By) -> list[Against]:
    """Return the last variant against every other."""
    *others, last = by
    return [
        Against(
            name=name,
            value=_mean(by[name].values()),
            paired=differences(by[name], by[last])[MAIN],
        )
        for name in others
    ]


# ------------------------------------------------------------------ do no harm


@dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """One kind of question, or one city: its best single leg against each other variant."""

    group: str
    n: int
    leg: str  # the name of the best single leg's variant
    value: float  # its main score
    against: Mapping[str, Paired]  # by variant


def harms(by: By, variants: Sequence[Variant], group_of: Callable[[Sourced], str]) -> list[Harm]:
    """Return each group's best single leg against the other variants.  Raises NoLegAlone.

    The best leg is chosen on the very questions that it is then compared on, which favours it: a
    small loss in a small group is what chance gives.
    """
    legs = [v.name for v in variants if v.fusion == "leg"]
    if not legs:
        raise NoLegAlone("No variant has fusion 'leg': there is no single leg to be no worse than.")
    return [
        _harm(group, _within(by, group, group_of), legs)
        for group in sorted({group_of(r.of) for of in by.values() for r in of.values()})
    ]


def _within(by: By, group: str, group_of: Callable[[Sourced], str]) -> By:
    return {
        name: {k: r for k, r in of.items() if group_of(r.of) == group} for name, of in by.items()
    }


def _harm(group: str, by: By, legs: Sequence[str]) -> Harm:
    values = {leg: _mean(by[leg].values()) for leg in legs}
    best = max(legs, key=lambda leg: values[leg])
    return Harm(
        group=group,
        n=len(by[best]),
        leg=best,
        value=values[best],
        against={name: _paired_main(by[best], of) for name, of in by.items() if name not in legs},
    )


def _paired_main(
    before: Mapping[Key, AblationResult], after: Mapping[Key, AblationResult]
) -> Paired:
    return paired(
        [r.scores[MAIN] for r in before.values()], [after[k].scores[MAIN] for k in before]
    )


def _mean(results: Iterable[AblationResult]) -> float:
    values = [r.scores[MAIN] for r in results]
    return sum(values) / len(values)


def kind_of(sourced: Sourced) -> str:
    """Return the kind of the question."""
    return sourced.case.kind


def city_of(sourced: Sourced) -> str:
    """Return the city of the question."""
    return sourced.case.city


# ------------------------------------------------------------------ the whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """All that the results of a study say."""

    question: str
    n: int  # cases that every variant was asked
    rows: tuple[Row, ...]
    last: tuple[Against, ...]  # the last variant against every other
    by_kind: tuple[Harm, ...]
    by_city: tuple[Harm, ...]


def ablation_of(study: Study, results: Iterable[AblationResult]) -> Ablation:
    """Return what the results say.  Raises NoLegAlone, or NothingInCommon if no case is whole."""
    by = in_common(results, [v.name for v in study.variants])
    n = len(next(iter(by.values())))
    if not n:
        raise NothingInCommon("No case was asked of every variant.")
    return Ablation(
        question=study.question,
        n=n,
        rows=tuple(rows(by, study.variants)),
        last=tuple(last_against_all(by)),
        by_kind=tuple(harms(by, study.variants, kind_of)),
        by_city=tuple(harms(by, study.variants, city_of)),
    )


def ablation_json(ablation: Ablation) -> Json:
    """Return an ablation with its numbers rounded to four places."""
    return {
        "question": ablation.question,
        "n": ablation.n,
        "rows": [_row_json(row) for row in ablation.rows],
        "last_against_each": {
            a.name: {"value": round(a.value, 4), **_paired_json(a.paired)} for a in ablation.last
        },
        "harm": {
            "score": MAIN,
            "by_kind": {h.group: _harm_json(h) for h in ablation.by_kind},
            "by_city": {h.group: _harm_json(h) for h in ablation.by_city},
        },
    }


def _row_json(row: Row) -> Json:
    return {
        "name": row.name,
        "n": row.n,
        **{score: estimate_json(e) for score, e in row.scores.items()},
        "by_kind": {
            g: {s: estimate_json(e) for s, e in of.items()} for g, of in row.by_kind.items()
        },
        "by_city": {
            g: {s: estimate_json(e) for s, e in of.items()} for g, of in row.by_city.items()
        },
        "ms": dict(row.ms),
        "against": row.against,
        "differences": {s: _paired_json(d) for s, d in row.differences.items()},
    }


def _paired_json(one: Paired) -> Json:
    return {
        "difference": estimate_json(one.difference),
        "p_bootstrap": round(one.bootstrap, 5),
        "p_randomisation": round(one.randomisation, 5),
        "shown": one.shown,
        "harm": one.harm,
    }


def _harm_json(harm: Harm) -> Json:
    return {
        "n": harm.n,
        "best_leg": harm.leg,
        "value": round(harm.value, 4),
        "against": {name: _paired_json(p) for name, p in harm.against.items()},
    }


# ------------------------------------------------------------------ cross-validation


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """One part of the cities: what the others would have chosen for it, and how that did there."""

    cities: tuple[str, ...]
    n: int
    chosen: str
    value: float  # of the chosen variant, on these cities
    best: str  # the variant that was best here, as nobody could know
    best_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossValidation:
    """What choosing a variant is worth on cities that had no say in it."""

    parts: tuple[HeldOut, ...]
    untouched: Mapping[str, Estimate]  # each case scored by what the other cities chose
    fixed: Mapping[str, Estimate]  # the main score of each variant, were it chosen for all


def cross_validate(by: By, k: int, seed: int) -> CrossValidation:
    """Return what the variants would score if each city's were chosen on other cities only.

    For each of the k parts of `split.folds` the variant with the best main score on the other parts
    is taken: Stone, Cross-Validatory Choice and Assessment of Statistical Predictions, 1974.
    """
    first = next(iter(by.values()))
    cities = [city_of(r.of) for r in first.values()]
    parts, untouched = [], []
    for fold in folds(cities, k, seed):
        inside = {n: [r for r in of.values() if city_of(r.of) in fold] for n, of in by.items()}
        outside = {n: [r for r in of.values() if city_of(r.of) not in fold] for n, of in by.items()}
        chosen = max(by, key=lambda name: _mean(outside[name]))
        best = max(by, key=lambda name: _mean(inside[name]))
        untouched += inside[chosen]
        parts.append(
            HeldOut(
                cities=tuple(sorted(fold)),
                n=len(inside[chosen]),
                chosen=chosen,
                value=_mean(inside[chosen]),
                best=best,
                best_value=_mean(inside[best]),
            )
        )
    return CrossValidation(
        parts=tuple(parts),
        untouched=averages(untouched),
        fixed={name: averages(of.values())[MAIN] for name, of in by.items()},
    )


def validation_json(validation: CrossValidation) -> Json:
    """Return a cross-validation with its numbers rounded to four places."""
    return {
        "parts": [
            {
                "cities": list(p.cities),
                "n": p.n,
                "chosen": p.chosen,
                MAIN: round(p.value, 4),
                "best": p.best,
                "best_value": round(p.best_value, 4),
            }
            for p in validation.parts
        ],
        "untouched": {score: estimate_json(e) for score, e in validation.untouched.items()},
        "fixed": {name: estimate_json(e) for name, e in validation.fixed.items()},
    }
