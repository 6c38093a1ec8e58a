"""The ask flow over real law text: what reaches a reader when the model is right, wrong or gone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

import pytest

from appliance.ask import (
    Asked,
    ChatAt,
    CitationProven,
    Event,
    Finished,
    PassagesFound,
    TokenWritten,
    ask,
    drain,
)
from appliance.domain import Abstention, Answer, CityId, Reason
from appliance.errors import ChatBroken, ChatUnavailable, NoSuchCity, QuestionRefused
from appliance.forms import outcome_json
from appliance.ports import ChatMessage
from appliance.testing import ScriptedChat
from appliance.wiring import House

ALDER = CityId("alder-falls-xx")
TODAY = date(2026, 11, 30)
QUESTION = "How long is my building permit good for if I never start the work?"


def asked(question: str = QUESTION, city: CityId = ALDER, as_of: date = TODAY) -> Asked:
    return Asked(question=question, city=city, as_of=as_of)


async def events_of(
    house: House, chat: ScriptedChat | None, what: Asked, *, demo: bool = False
) -> list[Event]:
    at = None if chat is None else ChatAt(chat=chat, demo=demo)
    return [event async for event in ask(house.store, house.encoder, at, what)]


def outcome(events: Sequence[Event]) -> Answer | Abstention:
    last = events[-1]
    assert isinstance(last, Finished)
    return last.outcome


def quoting(messages: Sequence[ChatMessage]) -> str:
    """Answer as a good model does: copy words out of the passage that has them."""
    found = re.search(
        r"\[(\d+)\][^\[]*?(expires if the work it authorizes has not begun within 180 days)",
        messages[-1].content,
        re.DOTALL,
    )
    assert found, messages[-1].content
    return f'It lapses after 180 days without a start [{found[1]}: "{found[2]}"].'


async def test_a_proven_draft_leads_with_its_citation_marked(sample_house: House) -> None:
    events = await events_of(sample_house, ScriptedChat(reply=quoting), asked())
    answer = outcome(events)
    assert isinstance(answer, Answer)
    assert answer.outcome == "answer"
    assert answer.text == "It lapses after 180 days without a start [1]."
    (citation,) = answer.citations
    assert citation.section.external_id == "alder-falls-xx/15.04.060"
    assert citation.section.text[citation.span.start : citation.span.end] == citation.quote
    assert not answer.phantoms
    assert not answer.unsupported_numbers


async def test_events_come_in_the_order_that_a_page_needs(sample_house: House) -> None:
    events = await events_of(sample_house, ScriptedChat(reply=quoting), asked())
    kinds = [type(e) for e in events]
    assert kinds[0] is PassagesFound
    assert kinds[-1] is Finished
    tokens = [i for i, k in enumerate(kinds) if k is TokenWritten]
    citations = [i for i, k in enumerate(kinds) if k is CitationProven]
    assert tokens
    assert citations
    assert max(tokens) < min(citations)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (
            'You have five years [1: "a permit is good for five years after it is issued"].',
            "an invented quote",
        ),
        ("You have 180 days [1].", "a mark without a quote"),
        ("You have 180 days.", "no mark at all"),
        (
            'You have 180 days [99: "expires if the work it authorizes has not begun"].',
            "a label that was not given",
        ),
        ('It is so [1: "the"].', "a quote too short to prove anything"),
    ],
    ids=lambda v: v if " " in v and len(v) < 40 else "",
)
async def test_a_draft_that_proves_nothing_gives_way_to_the_quotes(
    sample_house: House, reply: str, why: str
) -> None:
    answer = outcome(await events_of(sample_house, ScriptedChat(reply=reply), asked()))
    assert isinstance(answer, Answer), why
    assert answer.outcome == "quotes"
    assert answer.note is not None
    assert answer.note.startswith("Quotes only")
    assert reply not in answer.text
    assert all(c.span.of(c.section.text) == c.quote for c in answer.citations)


async def test_a_model_that_finds_nothing_makes_the_box_abstain(sample_house: House) -> None:
    abstention = outcome(
        await events_of(sample_house, ScriptedChat(reply="NOT IN THE PASSAGES"), asked())
    )
    assert isinstance(abstention, Abstention)
    assert abstention.reason is Reason.NOT_FOUND
    assert abstention.searched.nearest


async def test_a_section_that_does_not_exist_is_reported_as_a_phantom(sample_house: House) -> None:
    def reply(messages: Sequence[ChatMessage]) -> str:
        return quoting(messages) + " See also Section 99.99.999 and Section 15.04.070."

    answer = outcome(await events_of(sample_house, ScriptedChat(reply=reply), asked()))
    assert isinstance(answer, Answer)
    assert answer.phantoms == ("Section 99.99.999",)


async def test_a_number_that_the_cited_text_does_not_hold_is_flagged(sample_house: House) -> None:
    def reply(messages: Sequence[ChatMessage]) -> str:
        return quoting(messages).replace("after 180 days", "after 180 days, or 14 months,")

    answer = outcome(await events_of(sample_house, ScriptedChat(reply=reply), asked()))
    assert isinstance(answer, Answer)
    assert answer.unsupported_numbers == ("14 months",)


@pytest.mark.parametrize(
    "failure",
    [ChatUnavailable("The model server does not answer."), ChatBroken("The reply broke off.")],
)
async def test_a_failing_server_degrades_to_quotes_and_says_so(
    sample_house: House, failure: ChatUnavailable | ChatBroken
) -> None:
    events = await events_of(sample_house, ScriptedChat(reply="It is", fails=failure), asked())
    answer = outcome(events)
    assert isinstance(answer, Answer)
    assert answer.outcome == "quotes"
    assert answer.note is not None
    assert str(failure) in answer.note
    assert sum(isinstance(e, CitationProven) for e in events) == len(answer.citations)


async def test_a_demo_model_never_leads_even_when_it_is_right(sample_house: House) -> None:
    events = await events_of(sample_house, ScriptedChat(reply=quoting), asked(), demo=True)
    answer = outcome(events)
    assert isinstance(answer, Answer)
    assert answer.outcome == "quotes"
    assert answer.draft is not None
    assert "lapses" in answer.draft.text
    assert "lapses" not in answer.text
    kinds = [type(e) for e in events]
    assert kinds.index(CitationProven) < kinds.index(TokenWritten), "quotes come before the wording"


async def test_without_a_model_the_quotes_are_the_answer(sample_house: House) -> None:
    answer = outcome(await events_of(sample_house, None, asked()))
    assert isinstance(answer, Answer)
    assert answer.outcome == "quotes"
    assert any("within 180 days" in c.quote for c in answer.citations)


async def test_passages_are_packed_whole_into_a_small_window(sample_house: House) -> None:
    chat = ScriptedChat(reply="NOT IN THE PASSAGES", window=1400)
    events = await events_of(sample_house, chat, asked())
    found = events[0]
    assert isinstance(found, PassagesFound)
    (messages,) = chat.seen
    body = messages[-1].content
    given = [p for p in found.passages if p.text.strip() in body]
    assert given
    assert len(body) < 1400 * 4
    for passage in found.passages:
        begins = passage.text.strip()[:60] in body
        assert not begins or passage.text.strip() in body, "a passage was cut"


async def test_closing_the_stream_frees_the_model(sample_house: House) -> None:
    chat = ScriptedChat(reply=quoting, pause=0.01)
    events = ask(sample_house.store, sample_house.encoder, ChatAt(chat=chat, demo=False), asked())
    async for event in events:
        if isinstance(event, TokenWritten):
            break
    await events.aclose()
    assert chat.closed == 1


async def test_a_question_about_another_city_of_the_box_is_sent_there(sample_house: House) -> None:
    events = await events_of(
        sample_house, None, asked("How high may a fence be in Brackwater County?")
    )
    abstention = outcome(events)
    assert isinstance(abstention, Abstention)
    assert abstention.reason is Reason.OTHER_CITY
    assert "Brackwater County" in abstention.text


async def test_a_day_before_any_law_is_an_abstention_that_says_so(sample_house: House) -> None:
    abstention = outcome(await events_of(sample_house, None, asked(as_of=date(1999, 1, 1))))
    assert isinstance(abstention, Abstention)
    assert abstention.reason is Reason.NOT_IN_FORCE
    assert abstention.office is not None
    assert "Alder Falls" in abstention.office


async def test_a_named_section_comes_first(sample_house: House) -> None:
    events = await events_of(sample_house, None, asked("What does section 15.04.070 say?"))
    found = events[0]
    assert isinstance(found, PassagesFound)
    assert found.passages[0].section.external_id == "alder-falls-xx/15.04.070"
    assert "named" in found.passages[0].legs


@pytest.mark.parametrize(
    ("question", "error"),
    [("", QuestionRefused), ("x" * 100_000, QuestionRefused), ("a\0b", QuestionRefused)],
)
async def test_unusable_questions_are_refused_before_anything_happens(
    sample_house: House, question: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await drain(ask(sample_house.store, sample_house.encoder, None, asked(question)))


async def test_an_unknown_city_names_the_nearest(sample_house: House) -> None:
    with pytest.raises(NoSuchCity) as caught:
        await drain(
            ask(sample_house.store, sample_house.encoder, None, asked(city=CityId("alder-fall-xx")))
        )
    assert caught.value.nearest == ("alder-falls-xx",)


async def test_the_json_of_an_answer_holds_what_the_interface_promises(sample_house: House) -> None:
    finished = await drain(ask(sample_house.store, sample_house.encoder, None, asked()))
    value = outcome_json(finished)
    assert {
        "outcome",
        "text",
        "citations",
        "phantoms",
        "unsupported_numbers",
        "reason",
        "timings_ms",
    } <= value.keys()
    for citation in value["citations"]:
        section = await sample_house.store.section(citation["section_id"])
        assert section.text[citation["start"] : citation["end"]] == citation["quote"]
        assert section.version == citation["version"]


@pytest.mark.parametrize(
    ("question", "reason", "words"),
    [
        ("What does section 99.99.999 say?", Reason.NO_SUCH_SECTION, "section 99.99.999"),
        ("What does Sec. 15.08.060 say about it?", Reason.NOT_IN_FORCE, "repealed"),
    ],
)
async def test_a_section_that_cannot_be_shown_is_refused_by_name(
    sample_house: House, question: str, reason: Reason, words: str
) -> None:
    abstention = outcome(await events_of(sample_house, None, asked(question)))
    assert isinstance(abstention, Abstention)
    assert abstention.reason is reason
    assert words in abstention.text


async def test_section_eight_is_not_taken_for_a_missing_section(sample_house: House) -> None:
    question = "How long is my building permit good for under section 8 if I never start?"
    assert isinstance(outcome(await events_of(sample_house, None, asked(question))), Answer)


async def test_passages_that_are_far_from_the_question_come_with_a_warning(
    sample_house: House,
) -> None:
    far = outcome(
        await events_of(sample_house, None, asked("How deep must a footing be for frost?"))
    )
    near = outcome(await events_of(sample_house, None, asked()))
    assert isinstance(far, Answer)
    assert far.note is not None
    assert far.note.startswith("Nothing close")
    assert isinstance(near, Answer)
    assert near.note is not None
    assert not near.note.startswith("Nothing close")
