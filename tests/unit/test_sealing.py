"""What is sealed opens with its own secret only, and says nothing of what is in it."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from appliance.answers.cache import CacheKey, Versions
from appliance.answers.ownership import Owner
from appliance.answers.sealing import digest_under, opened, sealed
from appliance.domain import CityId

KEY, OTHER = digest_under("test", "a"), digest_under("test", "b")


@given(st.text(max_size=200), st.binary(max_size=20))
def test_only_its_own_key_opens_it_and_only_whole(text: str, about: bytes) -> None:
    box = sealed(KEY, text, about)
    assert opened(KEY, box, about) == text
    assert opened(OTHER, box, about) is None
    assert opened(KEY, box, about + b"x") is None
    for i in (0, len(box) // 2, len(box) - 1):
        assert opened(KEY, box[:i] + bytes([box[i] ^ 1]) + box[i + 1 :], about) is None
        assert opened(KEY, box[:i], about) is None


def test_the_same_text_is_never_sealed_alike() -> None:
    assert sealed(KEY, "a fence", b"") != sealed(KEY, "a fence", b"")


@given(st.lists(st.text(max_size=5), max_size=4), st.lists(st.text(max_size=5), max_size=4))
def test_no_two_lists_of_texts_share_a_digest(a: list[str], b: list[str]) -> None:
    assert (digest_under("p", *a) == digest_under("p", *b)) is (a == b)
    assert digest_under("p", *a) != digest_under("q", *a)


def test_an_owners_name_and_key_come_from_the_secret_and_do_not_show_it() -> None:
    mine, other = Owner.new(), Owner.new()
    box = mine.seal("How tall may my fence be?")
    assert Owner.of(mine.token) == mine
    assert mine.open(box) == "How tall may my fence be?"
    assert other.open(box) is None
    assert mine.name != other.name
    assert mine.token not in repr(mine)
    assert mine.token.encode() not in mine.name + box


def _key(**other: object) -> CacheKey:
    parts = {
        "question": "How tall may my fence be?",
        "city": CityId("a-xx"),
        "as_of": date(2026, 1, 1),
        "versions": Versions(pipeline="1", model="m"),
    }
    return CacheKey.of(**(parts | other))  # type: ignore[arg-type]


def test_whatever_an_answer_depends_on_is_part_of_its_keys() -> None:
    others = [
        {"question": "How tall may my wall be?"},
        {"city": CityId("b-xx")},
        {"as_of": date(2026, 1, 2)},
        {"versions": Versions(pipeline="2", model="m")},
        {"versions": Versions(pipeline="1", model="n")},
    ]
    keys = [_key(), *(_key(**other) for other in others)]
    for part in ("exact", "semantic", "seal"):
        assert len({getattr(key, part) for key in keys}) == len(keys)


def test_other_words_for_the_same_share_what_they_are_sealed_under_and_not_the_exact_key() -> None:
    polite = _key(question="Please tell me how tall my fence may be. Thanks!")
    assert polite.semantic == _key().semantic
    assert polite.seal == _key().seal
    assert polite.exact != _key().exact
    assert _key(question="HOW TALL  may my fence be?") == _key()
