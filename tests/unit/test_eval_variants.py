"""Variants of a search, read from TOML: what is read, and what is refused in a sentence."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from appliance.answers.ranking import WEIGHTS
from appliance.domain import LEGS
from appliance.retrieve import Recipe
from eval.variants import VariantsUnreadable, parse_study

SHIPPED = Path(__file__).parents[2] / "eval" / "variants.toml"


def study(*variants: str) -> str:
    return 'question = "Why?"\n' + "".join(f"[[variant]]\n{v}\n" for v in variants)


def only(text: str):
    (variant,) = parse_study(study(text), "x.toml").variants
    return variant


def test_the_variants_that_ship_end_with_the_product_and_name_its_legs_alone() -> None:
    shipped = parse_study(SHIPPED.read_text("utf-8"), SHIPPED.name)
    last = shipped.variants[-1]
    assert (last.fusion, last.recipe) == ("product", Recipe(seconds=math.inf))
    alone = [v.legs for v in shipped.variants if v.fusion == "leg"]
    assert sorted(alone) == [("dense",), ("lexical",)]
    assert len({v.digest for v in shipped.variants}) == len(shipped.variants)


def test_a_convex_variant_without_weights_has_those_of_the_product() -> None:
    variant = only('name = "c"\nfusion = "convex"\nlegs = ["dense", "lexical"]')
    assert variant.weights == WEIGHTS


def test_what_is_not_said_is_the_product_without_reranker_and_ranker() -> None:
    variant = only('name = "p"\nfusion = "product"')
    assert variant.recipe == Recipe(
        legs=LEGS, widen=True, rerank=False, ranker=False, seconds=math.inf
    )
    assert variant.order([]) is None


@pytest.mark.parametrize(
    "change",
    ['legs = ["dense"]', "k = 61", "widen = false", "weights = { dense = 0.5, lexical = 0.5 }"],
)
def test_a_changed_variant_has_another_digest_though_its_name_stays(change: str) -> None:
    base = 'name = "x"\nfusion = "convex"\n'
    if not change.startswith("legs"):
        base += 'legs = ["dense", "lexical"]\n'
    first = only(base + ('legs = ["dense", "lexical"]\n' if change.startswith("legs") else ""))
    weights = "\nweights = { dense = 1.0 }" if change.startswith("legs") else ""
    assert only(base + change + weights).digest != first.digest


def test_what_a_row_is_compared_with_changes_no_result() -> None:
    one, two = parse_study(
        study('name = "a"\nfusion = "product"', 'name = "b"\nfusion = "product"\nagainst = "a"'),
        "x",
    ).variants
    (alone,) = parse_study(study('name = "b"\nfusion = "product"'), "x").variants
    assert two.against == one.name
    assert two.digest == alone.digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question = 1", "needs at least one"),
        ("[[variant]]\nname = 'x'\nfusion = 'product'", "'question' must be a text"),
        ("question = 'x'\nvariant = 3", "needs at least one [[variant]]"),
        ("question = [", "x.toml: "),
        (study('name = "x"\nfusion = "sum"'), "fusion must be one of product, leg"),
        (study('name = "x"\nfusion = "leg"'), "'leg' takes one leg"),
        (study('name = "x"\nfusion = "product"\nlegs = ["sparse"]'), "legs must be some of dense"),
        (study('name = "x"\nfusion = "product"\nlegs = []'), "legs must be some of dense"),
        (study('name = "x"\nfusion = "rrf"\nweights = { dense = 1.0 }'), "takes no weights"),
        (study('name = "x"\nfusion = "convex"'), "one for each of its legs"),
        (
            study('name = "x"\nfusion = "convex"\nlegs = ["dense"]\nweights = { dense = -1 }'),
            "numbers from 0",
        ),
        (study('name = "x"\nfusion = "rrf"\nk = 1.5'), "k must be a whole number"),
        (study('name = "x"\nfusion = "rrf"\nrerank = true'), "only 'product' has a reranker"),
        (study('name = "x"\nfusion = "product"\nwiden = 1'), "widen must be true or false"),
        (study('name = "x"\nfusion = "product"\ntopk = 1'), "'topk' is no field"),
        (study('name = "x"\nfusion = "product"\nagainst = "y"'), "no earlier one is 'y'"),
        (
            study('name = "x"\nfusion = "product"', 'name = "x"\nfusion = "rrf"'),
            "two variants have the name 'x'",
        ),
    ],
)
def test_a_file_in_another_form_is_refused_with_its_name_and_the_reason(
    text: str, message: str
) -> None:
    with pytest.raises(VariantsUnreadable) as refusal:
        parse_study(text, "x.toml")
    assert message in str(refusal.value)
    assert str(refusal.value).startswith("x.toml: ")
