"""The forms of a name find every ending of it, and nothing else decides but stems."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.corpus.surface_forms import forms_of, named, sieve


def found(name: str, text: str) -> list[str]:
    return [s.of(text) for form in named(name, "asked") for s in form.mentions(text)]


@pytest.mark.parametrize(
    ("name", "text", "mentions"),
    [
        (
            "hot tubs",
            "Every Hot Tub and hot-tub, and hot\ntubs.",
            ["Hot Tub", "hot-tub", "hot\ntubs"],
        ),
        ("hot tub", "a hottub", ["hottub"]),
        ("hot tub", "hot water in a tub", []),
        ("tub", "a tube of tuberculosis", []),
        ("city", "the cities", ["cities"]),
        ("shelf", "two shelves", ["shelves"]),
        ("workmen", "one workman", ["workman"]),
        ("knives", "a pocketknife or a knife", ["knife"]),
        ("roof", "a rooftop", []),
        ("certificate of occupancy", "certificates of occupancy", ["certificates of occupancy"]),
        (
            "certificate of occupancy",
            "certificate for the occupancy",
            ["certificate for the occupancy"],
        ),
        ("bee", "the bee's hive", ["bee's"]),
        ("bee", "a spelling beet", []),
        ("off-street parking", "off street parking", ["off street parking"]),
        ("r-1", "an R-1 district, not R-10", ["R-1"]),
        ("the", "the", []),
    ],
)
def test_a_name_is_found_in_all_its_endings(name: str, text: str, mentions: list[str]) -> None:
    assert found(name, text) == mentions


def test_other_names_of_a_thing_are_looked_for_too() -> None:
    whys = {f.written: f.why for f in forms_of(["beehives"])}
    assert whys["beehives"] == "asked"
    assert {whys[name] for name in ("hives", "apiary", "beekeeping", "bees")} == {"also called"}


def test_a_name_in_the_singular_has_the_other_names_of_its_plural() -> None:
    assert {"chickens", "poultry"} <= {f.written for f in forms_of(["hen"])}
    assert {"chickens", "poultry"} <= {f.written for f in forms_of(["hens"])}


def test_no_form_is_looked_for_twice() -> None:
    forms = forms_of(["hens", "hen", "chicken"])
    assert len({f.stems for f in forms}) == len(forms)


def test_the_sieve_leaves_small_words_out() -> None:
    pattern = sieve(forms_of(["bee"])).replace(r"\m", r"\b").replace(r"\M", r"\b")
    assert re.search(pattern, "a bee")
    assert not re.search(pattern, "it has been")


words = st.text(alphabet="abcdefgilnorsty", min_size=3, max_size=9)


@given(st.lists(words, min_size=1, max_size=3), st.sampled_from(["", "s", "es", "ed", "ing"]))
def test_whatever_a_form_finds_the_sieve_lets_through(name: list[str], ending: str) -> None:
    forms = forms_of([" ".join(name)])
    text = f"x {' '.join(name)}{ending} y"
    if any(True for form in forms for _ in form.mentions(text)):
        pattern = sieve(forms).replace(r"\m", r"\b").replace(r"\M", r"\b")
        assert re.search(pattern, text, re.IGNORECASE)


@given(st.lists(words, min_size=1, max_size=3))
def test_a_name_is_found_where_it_stands_as_it_is(name: list[str]) -> None:
    text = " ".join(name)
    forms = named(text, "asked")
    assert not forms or any(True for form in forms for _ in form.mentions(f"the {text}, and"))
