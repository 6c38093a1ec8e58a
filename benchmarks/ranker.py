"""How much does each feature of a candidate count?  Trains the ranker, and tells what it brings elsewhere.

Every figure is of cities whose questions the weights have not seen.  The model is a
weighted sum: softmax over the candidates of a question, the mass of the gold ones as
likely as possible (ListNet's top-one likelihood: Cao et al., Learning to Rank: From
Pairwise Approach to Listwise Approach, 2007).  The weight of the first stage's score
is given and the others are drawn to zero, so that a few hundred questions can only
correct the first stage, not replace it.  LambdaMART over the same features stands
beside it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from appliance.answers.features import FEATURES, features
from appliance.answers.ranking import distinct, lifted
from appliance.domain import Query
from appliance.errors import UnreadableFile
from appliance.retrieve import Pool, Recipe, gather
from appliance.wiring import House
from eval.cases import parse_cases
from eval.results import Sourced
from eval.scores import Found, estimate, estimate_difference, ranking_scores, satisfied
from eval.split import folds
from models.ranker import shipped_ranker

# Between 5 and 8, and 10 and 40, MRR on cities held out stays within .016 (eval/ledger/017-ranker.md).
FIRST_STAGE = 6.0
PULL = 20.0
SCORES = ("hit@1", "hit@5", "hit@10", "mrr")

Matrix = NDArray[np.float64]
Judge = Callable[[Matrix], Matrix]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One question with its candidates."""

    of: Sourced
    pool: Pool
    found: tuple[Found, ...]  # the candidates as the scores see them
    rows: Matrix  # (candidates, features)

    @property
    def gold(self) -> NDArray[np.bool_]:
        """Tell of each candidate whether it satisfies the case."""
        return np.array([bool(satisfied(self.of.case, f)) for f in self.found], np.bool_)


def sourced(paths: Sequence[Path]) -> list[Sourced]:
    """Return the cases of the files.  Raises UnreadableFile or CaseError."""
    return [
        Sourced(file=path.stem, case=case)
        for path in paths
        for case in parse_cases(_text(path), path.name)
    ]


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise UnreadableFile(
            str(path), "cannot be read; name a file of evaluation cases."
        ) from error


async def examples(
    house: House, cases: Sequence[Sourced], today: date, *, rerank: bool
) -> AsyncIterator[Example]:
    """Yield each case with the candidates that the product's first stage gives."""
    recipe = Recipe(rerank=rerank, seconds=float("inf"))
    for one in cases:
        case = one.case
        query = Query(text=case.question, city=case.city, as_of=case.as_of or today)
        pool = await gather(house.store, house.encoder, query, recipe)
        rows = features(pool.asked, pool.candidates, pool.fused, pool.late)
        yield Example(
            of=one,
            pool=pool,
            found=await _found(house, pool),
            rows=np.array(rows, np.float64).reshape(-1, len(FEATURES)),
        )


async def _found(house: House, pool: Pool) -> tuple[Found, ...]:
    ids = [c.id for c in pool.candidates]
    record = {f.id: f.section.record for f in await house.store.chunks(ids)}
    return tuple(
        Found(
            external_id=c.external_id,
            citation=c.citation,
            span=c.span.shifted(c.inside),
            record=record.get(c.id),
        )
        for c in pool.candidates
    )


# ------------------------------------------------------------------ learning


def trained(given: Sequence[Example]) -> Matrix:
    """Return the weights of FEATURES that the examples' gold asks for.

    Where a reranker read the candidates, only its weight is learned, over the weights that ship: the
    search must be right without one.
    """
    from scipy.optimize import minimize

    usable = [e for e in given if e.gold.any()]
    rows = np.concatenate([e.rows for e in usable])
    gold = np.concatenate([e.gold for e in usable])
    starts = np.cumsum([0, *(len(e.gold) for e in usable[:-1])])
    sizes = [len(e.gold) for e in usable]
    # Each feature in units of its own spread, so that the pull is the same for all.
    spread = rows.std(axis=0)
    late = np.array([name == "late" for name in FEATURES])
    if spread[late].max() > 1e-9:
        free, fixed = late, np.where(late, 0.0, shipped_ranker().row(FEATURES))
    else:
        fixed = np.where(np.array(FEATURES) == "fused", FIRST_STAGE, 0.0)
        free = (fixed == 0.0) & ~late & (spread > 1e-9)
    base = rows @ fixed
    scaled = rows[:, free] / spread[free]

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        score = scaled @ weights + base
        score = score - np.repeat(np.maximum.reduceat(score, starts), sizes)
        mass = np.exp(score)
        every, right = np.add.reduceat(mass, starts), np.add.reduceat(mass * gold, starts)
        slope = mass / np.repeat(every, sizes) - mass * gold / np.repeat(right, sizes)
        value = np.sum(np.log(every / right)) + PULL / 2 * weights @ weights
        return float(value), scaled.T @ slope + PULL * weights

    fitted = minimize(loss, np.zeros(int(free.sum())), jac=True, method="L-BFGS-B")
    weights = fixed.copy()
    weights[free] = fitted.x / spread[free]
    return weights


def linear(given: Sequence[Example]) -> Judge:
    """Return the weighted sum that the examples ask for."""
    weights = trained(given)
    return lambda rows: rows @ weights


def lambda_mart(given: Sequence[Example]) -> Judge:
    """Return LightGBM's LambdaMART, small, the mean of three seeds."""
    import lightgbm

    usable = [e for e in given if e.gold.any()]
    rows = np.concatenate([e.rows for e in usable])
    gold = np.concatenate([e.gold for e in usable]).astype(int)
    sizes = [len(e.gold) for e in usable]
    settings = {
        "objective": "lambdarank",
        "num_leaves": 7,
        "learning_rate": 0.05,
        "min_data_in_leaf": 40,
        "lambda_l2": 5.0,
        "feature_fraction": 0.6,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "lambdarank_truncation_level": 10,
        "verbose": -1,
    }
    models = [
        lightgbm.train(
            settings | {"seed": seed},
            lightgbm.Dataset(rows, gold, group=sizes),
            num_boost_round=120,
        )
        for seed in (1, 2, 3)
    ]
    return lambda wanted: np.mean([m.predict(wanted) for m in models], axis=0)


def first_stage(_: Sequence[Example]) -> Judge:
    """Return what orders the candidates without a ranker."""
    return lambda rows: rows[:, FEATURES.index("fused")]


LEARNERS = {"first stage": first_stage, "weighted sum": linear, "LambdaMART": lambda_mart}

# ------------------------------------------------------------------ measuring


def held_out(
    given: Sequence[Example], learn: Callable[[Sequence[Example]], Judge], k: int
) -> list[dict[str, float]]:
    """Return each example's scores by what was learned of the other parts' cities."""
    scores: list[dict[str, float]] = [{} for _ in given]
    for part in folds([e.of.case.city for e in given], k):
        judge = learn([e for e in given if e.of.case.city not in part])
        for at, example in enumerate(given):
            if example.of.case.city in part:
                scores[at] = _scores(example, judge(example.rows))
    return scores


def _scores(example: Example, judged: Matrix) -> dict[str, float]:
    pool = example.pool
    ranked = [replace(r, score=float(s)) for r, s in zip(pool.ranked, judged, strict=True)]
    at = {c.id: position for position, c in enumerate(pool.candidates)}
    best = distinct(lifted(ranked, pool.hits), 10, lambda r: pool.candidates[at[r.chunk]])
    return ranking_scores(example.of.case, [example.found[at[r.chunk]] for r in best])


def report(given: Sequence[Example], k: int) -> Iterator[str]:
    """Yield a line for each learner and file, and the paired differences from the first stage."""
    by_learner = {name: held_out(given, learn, k) for name, learn in LEARNERS.items()}
    base = by_learner["first stage"]
    for name, scores in by_learner.items():
        for file in ("all", *sorted({e.of.file for e in given})):
            at = [i for i, e in enumerate(given) if file in ("all", e.of.file)]
            cells = [f"{s} {estimate([scores[i][s] for i in at]).value:.3f}" for s in SCORES]
            yield f"{name:<13} {file:<13} n={len(at):<4} {'  '.join(cells)}"
            if name != "first stage":
                for s in ("hit@1", "mrr"):
                    d = estimate_difference([base[i][s] for i in at], [scores[i][s] for i in at])
                    yield f"{'':<14}{s} {d.value:+.3f} [{d.low:+.3f}, {d.high:+.3f}]"


def write(given: Sequence[Example], command: str) -> Path:
    """Write the weights of all examples where the search reads them."""
    weights = dict(zip(FEATURES, (round(float(w), 4) for w in trained(given)), strict=True))
    path = Path(str(files("models").joinpath("ranker.json")))
    told = f"{len(given)} questions of {len({e.of.case.city for e in given})} cities; {command}"
    path.write_text(json.dumps({"trained": told, "weights": weights}, indent=1) + "\n", "utf-8")
    return path
