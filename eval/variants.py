"""What an ablation compares: variants of a search, read from TOML.  Pure.

    question = "What is each part of retrieval worth?"

    [[variant]]
    name = "RRF, k = 60"
    fusion = "rrf"                      # product | leg | rrf | weighted_rrf | convex
    legs = ["dense", "lexical"]         # of LEGS
    weights = { dense = 0.7 }           # of weighted_rrf and convex: one for each leg
    k = 60                              # of rrf and weighted_rrf
    widen = true                        # lay terms are widened
    rerank = false                      # of product only
    ranker = false                      # of product only
    against = "dense only"              # the earlier row to compare with, if not the one above

Change one thing at a time.  The last row is the one that is held against all others.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType
from typing import Literal, get_args

from appliance.answers.ranking import WEIGHTS, Ranked
from appliance.domain import LEGS, Hit, Leg
from appliance.errors import BadRequest
from appliance.retrieve import Recipe
from eval.fusions import K, convex, one_leg, reciprocal_ranks

Fusion = Literal["product", "leg", "rrf", "weighted_rrf", "convex"]
FUSIONS: tuple[Fusion, ...] = get_args(Fusion)


class VariantsUnreadable(BadRequest):
    """A file of variants is not in its form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way to search."""

    name: str
    fusion: Fusion
    legs: tuple[Leg, ...] = LEGS
    weights: Mapping[Leg, float] = field(default_factory=lambda: MappingProxyType({}))
    k: int = K
    widen: bool = True
    rerank: bool = False
    ranker: bool = False
    against: str | None = None  # None: the row above

    @property
    def recipe(self) -> Recipe:
        """Return what the product is asked for: all that a variant needs but its own fusion."""
        return Recipe(
            legs=self.legs,
            widen=self.widen,
            rerank=self.rerank,
            ranker=self.ranker,
            seconds=math.inf,  # what was read must not hang on how busy the machine is
        )

    @property
    def digest(self) -> str:
        """Return what names this very variant: results of one that was changed are not its own."""
        facts = (
            *(self.name, self.fusion, self.legs, sorted(self.weights.items()), self.k),
            *(self.widen, self.rerank, self.ranker),
        )
        return sha256(json.dumps(facts).encode()).hexdigest()[:12]

    def order(self, hits: Sequence[Hit]) -> list[Ranked] | None:
        """Return the chunks best first; None if the product's own order is the variant's."""
        match self.fusion:
            case "product":
                return None
            case "leg":
                return one_leg(hits, self.legs[0])
            case "rrf":
                return reciprocal_ranks(hits, dict.fromkeys(self.legs, 1.0), self.k)
            case "weighted_rrf":
                return reciprocal_ranks(hits, self.weights, self.k)
            case "convex":
                return convex(hits, self.weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A question and the variants that shall answer it, in the order of their rows."""

    question: str
    variants: tuple[Variant, ...]


def parse_study(text: str, name: str) -> Study:
    """Return the study that a TOML text describes.  Raises VariantsUnreadable."""
    try:
        table = tomllib.loads(text)
        _only(table, {"question", "variant"}, "the file")
        variants = _in_order([_variant(v) for v in _list(table, "variant")])
        return Study(question=_text(table, "question"), variants=variants)
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise VariantsUnreadable(f"{name}: {error}") from error


def _only(table: Mapping[str, object], fields: set[str], what: str) -> None:
    if unknown := table.keys() - fields:
        raise ValueError(f"{what}: {min(unknown)!r} is no field of it")


def _in_order(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """Return the variants, each with a name of its own and compared with an earlier one."""
    earlier: set[str] = set()
    for variant in variants:
        if variant.name in earlier:
            raise ValueError(f"two variants have the name {variant.name!r}")
        if variant.against is not None and variant.against not in earlier:
            raise ValueError(f"variant {variant.name!r}: no earlier one is {variant.against!r}")
        earlier.add(variant.name)
    return tuple(variants)


def _list(table: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
    value = table.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
        raise ValueError(f"needs at least one [[{key}]]")
    return value


def _text(table: Mapping[str, object], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"field {key!r} must be a text")
    return value


_FIELDS = {"name", "fusion", "legs", "weights", "k", "widen", "rerank", "ranker", "against"}


def _variant(table: Mapping[str, object]) -> Variant:
    name = _text(table, "name")
    _only(table, _FIELDS, f"variant {name!r}")
    fusion = _text(table, "fusion")
    if fusion not in FUSIONS:
        raise ValueError(f"variant {name!r}: fusion must be one of {', '.join(FUSIONS)}")
    legs = _legs(table.get("legs", list(LEGS)), name)
    k = table.get("k", K)
    if not isinstance(k, int) or isinstance(k, bool) or k < 0:
        raise ValueError(f"variant {name!r}: k must be a whole number from 0")
    variant = Variant(
        name=name,
        fusion=fusion,
        legs=legs,
        weights=_weights(table.get("weights"), fusion, legs, name),
        k=k,
        widen=_flag(table, "widen", name, default=True),
        rerank=_flag(table, "rerank", name, default=False),
        ranker=_flag(table, "ranker", name, default=False),
        against=_text(table, "against") if "against" in table else None,
    )
    return _sensible(variant)


def _sensible(variant: Variant) -> Variant:
    if variant.fusion == "leg" and len(variant.legs) != 1:
        raise ValueError(f"variant {variant.name!r}: fusion 'leg' takes one leg")
    if variant.fusion != "product" and (variant.rerank or variant.ranker):
        raise ValueError(f"variant {variant.name!r}: only 'product' has a reranker and a ranker")
    return variant


def _legs(value: object, name: str) -> tuple[Leg, ...]:
    if not isinstance(value, list) or not value or any(leg not in LEGS for leg in value):
        raise ValueError(f"variant {name!r}: legs must be some of {', '.join(LEGS)}")
    return tuple(leg for leg in LEGS if leg in value)


def _weights(value: object, fusion: Fusion, legs: Sequence[Leg], name: str) -> Mapping[Leg, float]:
    """Return a weight for each leg; those of the product where a convex variant gives none."""
    if fusion not in ("weighted_rrf", "convex"):
        if value is not None:
            raise ValueError(f"variant {name!r}: fusion {fusion!r} takes no weights")
        return MappingProxyType({})
    weights = WEIGHTS if value is None and fusion == "convex" else value
    match weights:
        case Mapping() if weights.keys() == set(legs) and all(map(_is_weight, weights.values())):
            return MappingProxyType({leg: float(weights[leg]) for leg in legs})
    raise ValueError(f"variant {name!r}: weights must be numbers from 0, one for each of its legs")


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _flag(table: Mapping[str, object], key: str, name: str, *, default: bool) -> bool:
    value = table.get(key, default)
    match value:
        case bool():
            return value
    raise ValueError(f"variant {name!r}: {key} must be true or false")
