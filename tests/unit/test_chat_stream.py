"""The pure half of the chat client: bytes to events, events to deltas, thinking taken out."""

from __future__ import annotations

import itertools
import json
import re
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.clients.chat import (
    MOST_EVENT_BYTES,
    Delta,
    EventReader,
    ThinkStripper,
    base_url,
    parse_delta,
)
from appliance.errors import ChatBroken

Text = TypeVar("Text", str, bytes)


def pieces_of(text: Text, cuts: list[int]) -> list[Text]:
    at = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:end] for start, end in itertools.pairwise(at)]


CUTS = st.lists(st.integers(0, 10_000), max_size=12)

# ------------------------------------------------------------------ events


@pytest.mark.parametrize(
    ("sent", "payloads"),
    [
        (b"", []),
        (b"data: one\n\n", ["one"]),
        (b"data:one\r\n\r\ndata: two\r\n\r\n", ["one", "two"]),
        (b": a comment\n\nevent: x\nid: 1\nretry: 3\ndata: one\n\n", ["one"]),
        (b"data: unfinished", []),
        ("data: a\u2028b\x85c\n\n".encode(), ["a\u2028b\x85c"]),
    ],
)
def test_events_are_read(sent: bytes, payloads: list[str]) -> None:
    assert list(EventReader().feed(sent)) == payloads


@pytest.mark.parametrize(
    "sent",
    [b"<html>\n", b'{"error": "x"}\n', b"data: \xff\xfe\n", b"x" * (MOST_EVENT_BYTES + 1)],
    ids=["html", "json", "not utf-8", "no line end"],
)
def test_what_is_no_event_is_refused(sent: bytes) -> None:
    with pytest.raises(ChatBroken):
        list(EventReader().feed(sent))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5), CUTS)
def test_events_do_not_depend_on_how_the_network_cut_them(
    texts: list[str], cuts: list[int]
) -> None:
    payloads = [json.dumps(text, ensure_ascii=False) for text in texts]
    sent = "".join(f"data: {payload}\n\n" for payload in payloads).encode()
    reader = EventReader()
    read = [payload for piece in pieces_of(sent, cuts) for payload in reader.feed(piece)]
    assert read == payloads


# ------------------------------------------------------------------ deltas


@pytest.mark.parametrize(
    ("event", "delta"),
    [
        ({"choices": []}, Delta(text="", finish=None)),
        (
            {"choices": [{"delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
            Delta(text="", finish=None),
        ),
        ({"choices": [{"delta": {"content": "a"}}]}, Delta(text="a", finish=None)),
        ({"choices": [{"delta": {"content": None}}]}, Delta(text="", finish=None)),
        ({"choices": [{"delta": {"reasoning_content": "hm"}}]}, Delta(text="", finish=None)),
        ({"choices": [{"delta": {}, "finish_reason": "stop"}]}, Delta(text="", finish="stop")),
        (
            {"choices": [{"delta": {"content": "b"}, "finish_reason": "length"}]},
            Delta(text="b", finish="length"),
        ),
    ],
)
def test_a_delta_is_read(event: object, delta: Delta) -> None:
    assert parse_delta(json.dumps(event)) == delta


@pytest.mark.parametrize(
    ("payload", "complaint"),
    [
        ("", "not JSON"),
        ('{"choices": [', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "no JSON object"),
        ("{}", "without a choice"),
        ('{"choices": [{"text": "a"}]}', "without a choice"),
        ('{"choices": {"delta": {}}}', "without a choice"),
        ('{"choices": [{"delta": {"content": 1}}]}', "no text"),
        ('{"choices": [{"delta": {}, "finish_reason": 1}]}', "no text"),
        (r'{"choices": [{"delta": {"content": "\ud83d"}}]}', "half a character"),
        ('{"error": {"message": "out of memory."}}', "broke off: out of memory."),
        ('{"error": "x"}', "broke off: x."),
        ('{"error": null}', "it did not say why"),
    ],
)
def test_an_event_that_is_no_delta_is_refused(payload: str, complaint: str) -> None:
    with pytest.raises(ChatBroken, match=re.escape(complaint)):
        parse_delta(payload)


# ------------------------------------------------------------------ thinking


def stripped(pieces: list[str]) -> str:
    stripper = ThinkStripper()
    return "".join(map(stripper.feed, pieces)) + stripper.close()


def expected(text: str) -> str:
    """Say the same as the stripper, on the whole text at once."""
    return re.sub(r"<think>.*?(</think>|\Z)", "", text, flags=re.DOTALL).lstrip()


@pytest.mark.parametrize(
    ("pieces", "reply"),
    [
        (["A fence."], "A fence."),
        (["<think>hm</think>A fence."], "A fence."),
        (["<think>\n\n</think>\n\nA fence."], "A fence."),
        (["<thi", "nk>h", "m</", "think", ">A ", "fence."], "A fence."),
        (["<", "t", "o 6 ft"], "<to 6 ft"),
        (["a <b> c"], "a <b> c"),
        (["ends with <thin"], "ends with <thin"),
        (["<<think>x</think>y"], "<y"),
        (["<think>never closed"], ""),
        (["<think>a</think>b<think>c</think>d"], "bd"),
        ([" \n", " A"], "A"),
        ([], ""),
    ],
)
def test_thinking_is_taken_out(pieces: list[str], reply: str) -> None:
    assert stripped(pieces) == reply


SCRAPS = st.lists(
    st.sampled_from(["<think>", "</think>", "<", "</", "think>", "thi", ">", " ", "\n", "fence"]),
    max_size=12,
).map("".join)


@given(SCRAPS, CUTS)
def test_thinking_does_not_depend_on_how_the_stream_was_cut(text: str, cuts: list[int]) -> None:
    assert stripped(pieces_of(text, cuts)) == expected(text)


@given(st.text())
def test_text_without_tags_goes_through_whole(text: str) -> None:
    assert stripped(list(text)) == expected(text)


# ------------------------------------------------------------------ address


@pytest.mark.parametrize(
    ("given_url", "base"),
    [
        ("http://box:8000", "http://box:8000/v1"),
        ("http://box:8000/", "http://box:8000/v1"),
        ("http://box:8000/v1/", "http://box:8000/v1"),
        ("https://box/llm/v1", "https://box/llm/v1"),
    ],
)
def test_a_bare_host_means_its_v1(given_url: str, base: str) -> None:
    assert base_url(given_url) == base
