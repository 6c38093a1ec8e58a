"""The sum before anything starts: what fits, what would, and how fast it can be."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from appliance.cli import app
from models.manifest import Profile, read_manifest
from models.plan import Load, own_load, plan, speed
from models.shapes import GIB, Hardware

PROFILES = read_manifest().profiles
BOX = read_manifest().profile("rtx-5060-ti-16gb")
DEMO = read_manifest().profile("cpu-demo")


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_every_profile_fits_its_own_machine_with_its_own_load(profile: Profile) -> None:
    made = plan(profile, own_load(profile))
    assert made.fits, made.smallest_change
    assert made.smallest_change is None


def test_the_weights_of_a_14b_in_four_bits_are_near_ten_gigabytes() -> None:
    assert 9.5e9 < BOX.llm.shape.weight_bytes < 10.5e9
    assert BOX.llm.shape.kv_bytes() == 160 * 1024


@pytest.mark.parametrize(
    ("gib", "a_number", "tokens"),
    # What vLLM's CPU build reported for the demo model in bfloat16, and in float32.
    [(1, 2, 46_592), (2, 2, 93_184), (2, 4, 46_592)],
)
def test_the_cache_of_the_demo_model_is_what_vllm_reports(
    gib: int, a_number: int, tokens: int
) -> None:
    token = DEMO.llm.shape.kv_bytes(a_number=a_number)
    assert gib * GIB // (128 * token) * 128 == tokens


def test_the_demo_is_planned_with_the_cache_that_its_server_reports() -> None:
    made = plan(DEMO, own_load(DEMO))
    assert (made.kv, made.kv_tokens) == ("32-bit", 23_296)
    assert made.parts[0].bytes == 2 * DEMO.llm.shape.weight_bytes  # stored in 16 bits


def test_a_14b_in_sixteen_bits_is_refused_on_a_small_card_with_what_would_do() -> None:
    large = replace(BOX, llm=replace(BOX.llm, shape=read_manifest().profile("h200").llm.shape))
    began = time.perf_counter()
    made = plan(large, Load(users=1, context=8192))
    assert time.perf_counter() - began < 2
    assert not made.fits
    assert made.smallest_change is not None
    assert made.smallest_change.startswith("a smaller model, or ")


def test_the_smallest_change_really_fits_and_no_smaller_one_does() -> None:
    made = plan(BOX, Load(users=16, context=8192))
    assert made.smallest_change is not None
    shorter, fewer = made.smallest_change.split(" or ")
    context = int(shorter.split()[3].replace(",", ""))
    users = int(fewer.split()[0])
    assert plan(BOX, Load(users=16, context=context)).fits
    assert not plan(BOX, Load(users=16, context=context + 256)).fits
    assert plan(BOX, Load(users=users, context=8192)).fits
    assert not plan(BOX, Load(users=users + 1, context=8192)).fits


def test_the_cache_shrinks_before_the_encoder_moves() -> None:
    one, two, eight = (plan(BOX, Load(users=n, context=8192)) for n in (1, 2, 8))
    assert (one.kv, one.helpers) == ("16-bit", "card")
    assert (two.kv, two.helpers) == ("fp8", "card")
    assert eight.helpers == "cpu"
    assert "fp8" in eight.arguments


def test_a_card_without_eight_bit_floats_keeps_its_cache_in_sixteen() -> None:
    card = read_manifest().profile("rtx-3060-12gb")
    for users in (1, 4, 64):
        assert plan(card, Load(users=users, context=8192)).kv == "16-bit"


@given(st.integers(1, 64), st.integers(256, 40_000), st.sampled_from(PROFILES))
def test_more_users_or_more_context_never_need_less(
    users: int, context: int, profile: Profile
) -> None:
    made = plan(profile, Load(users=users, context=context))
    assert made.total_bytes == sum(p.bytes for p in made.parts)
    assert made.fits == (made.smallest_change is None)
    assert made.kv_tokens >= users * context
    if not made.fits:
        assert not plan(profile, Load(users=users + 1, context=context + 256)).fits


# Published single-stream figures of a 14B in four bits: GB/s, tokens/s.
PUBLISHED = {
    "RTX 3060": (360, 29.8),
    "RTX 4070": (504, 42.3),
    "RTX 4070 Ti": (504, 49.7),
    "RTX 4090": (1008, 92.5),
    "GB10": (273, 23.9),
    "M4": (120, 10.7),
}


@pytest.mark.parametrize("card", PUBLISHED)
def test_published_speeds_lie_within_the_band(card: str) -> None:
    bandwidth, measured = PUBLISHED[card]
    machine: Hardware = replace(BOX.hardware, bandwidth_gb_s=float(bandwidth))
    low, high = speed(BOX.llm.shape, machine, Load(users=1, context=1024)).decode_one
    assert low <= measured <= high


def test_many_users_share_the_reading_of_the_weights() -> None:
    made = plan(BOX, Load(users=8, context=4096)).speed
    assert made.decode_one[0] < made.decode_all[0] < 8 * made.decode_one[0]


# ------------------------------------------------------------------ the command


def test_the_command_prints_what_was_fixed_and_exits_1_where_it_does_not_fit() -> None:
    runner = CliRunner()
    good = runner.invoke(app, ["plan", "--profile", "rtx-5060-ti-16gb", "--users", "2", "--json"])
    assert good.exit_code == 0
    value = json.loads(good.stdout)
    assert value["fits"] is True
    assert value["total_bytes"] == sum(p["bytes"] for p in value["parts"])
    assert value["vllm_args"][:4] == ["--max-model-len", "8192", "--max-num-seqs", "2"]
    bad = runner.invoke(app, ["plan", "--profile", "rtx-3060-12gb", "--users", "64"])
    assert bad.exit_code == 1
    assert "does not fit" in bad.stderr
    assert "instead of 64" in bad.stderr
