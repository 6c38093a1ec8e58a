"""The ask flow over real law text: what reaches a reader when the model is right, wrong or gone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

from appliance.ask import (
    Asked,
    ChatAt,
    CitationProven,
    Event,
    Finished,
    PassagesFound,
    SupportJudged,
    TokenWritten,
    ask,
    drain,
)
from appliance.domain import Abstention, Answer, CityId, Flag, Reason, Route
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
    (last,) = [e for e in events if isinstance(e, Finished)]
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
    assert kinds[-2:] == [Finished, SupportJudged]
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
    assert "99.99.999" not in answer.text
    assert [c.flags for c in answer.withheld] == [(Flag.PHANTOM,)]


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


async def test_an_abstention_says_what_a_reading_of_the_whole_code_did_not_find(
    sample_house: House,
) -> None:
    question = "May I build a casino?"
    chat = ScriptedChat(reply="NOT IN THE PASSAGES")
    abstention = outcome(await events_of(sample_house, chat, asked(question)))
    assert isinstance(abstention, Abstention)
    assert abstention.reason is Reason.NOT_FOUND
    coverage = await sample_house.store.coverage(ALDER)
    assert 0 < abstention.searched.sections_read <= coverage.sections
    assert abstention.searched.nowhere == ("casino",)  # fences are mentioned
    assert "sections in force mentions “casino”" in abstention.text


async def test_passages_that_are_silent_on_a_thing_come_with_that_said(
    sample_house: House,
) -> None:
    question = "Do I need a building permit for a casino?"
    answer = outcome(await events_of(sample_house, None, asked(question)))
    assert isinstance(answer, Answer)
    assert answer.note is not None
    assert answer.note.startswith("Nothing in this code mentions “casino”;")
    known = outcome(await events_of(sample_house, None, asked("Do I need a permit for a deck?")))
    assert isinstance(known, Answer)
    assert "mentions" not in (known.note or "")


# ------------------------------------------------------------------ routes


@pytest.mark.parametrize(
    ("question", "reason", "route", "words"),
    [
        ("Hello!", Reason.NO_QUESTION, Route.GREETING, "Ask about the code of Alder Falls"),
        ("Thank you so much", Reason.NO_QUESTION, Route.THANKS, "You are welcome"),
        ("Tell me a joke", Reason.OUT_OF_SCOPE, Route.OUT_OF_SCOPE, "only answers from the code"),
        (
            "How do fence heights differ between Alder Falls and Brackwater County?",
            Reason.COMPARISON,
            Route.COMPARISON,
            "--cities alder-falls-xx,brackwater-county-xx",
        ),
    ],
)
async def test_what_is_no_question_to_this_code_is_turned_away_with_a_way_on(
    sample_house: House, question: str, reason: Reason, route: Route, words: str
) -> None:
    events = await events_of(sample_house, ScriptedChat(reply=quoting), asked(question))
    (finished,) = events  # nothing was searched, and no model asked
    assert isinstance(finished, Finished)
    assert isinstance(finished.outcome, Abstention)
    assert finished.outcome.reason is reason
    assert finished.route is route
    assert words in finished.outcome.text


async def test_a_section_asked_for_by_its_number_is_all_that_is_quoted(sample_house: House) -> None:
    question = "What does section 15.04.070 say?"
    events = await events_of(sample_house, None, asked(question))
    answer = outcome(events)
    assert isinstance(answer, Answer)
    assert {c.section.external_id for c in answer.citations} == {"alder-falls-xx/15.04.070"}
    assert [e.route for e in events if isinstance(e, Finished)] == [Route.LOOKUP]


async def test_a_follow_up_is_searched_with_the_question_that_it_follows(
    sample_house: House,
) -> None:
    alone = asked("And if I do start, but stop?")
    after = replace(alone, before=("What does a goat licence cost?", QUESTION))
    finished = await drain(ask(sample_house.store, sample_house.encoder, None, after))
    assert finished.route is Route.FOLLOW_UP
    assert finished.read_as == f"{QUESTION} And if I do start, but stop?"
    assert isinstance(finished.outcome, Answer)
    found = {c.section.external_id for c in finished.outcome.citations}
    assert "alder-falls-xx/15.04.060" in found


async def test_what_was_no_question_before_is_passed_over(sample_house: House) -> None:
    after = replace(asked("And if I do start, but stop?"), before=(QUESTION, "🏠🏠", "a\0b"))
    finished = await drain(ask(sample_house.store, sample_house.encoder, None, after))
    assert finished.read_as == f"{QUESTION} And if I do start, but stop?"


async def test_the_day_that_a_question_names_is_the_day_of_the_law(sample_house: House) -> None:
    question = "What was the fence height limit in March 1999?"
    finished = await drain(ask(sample_house.store, sample_house.encoder, None, asked(question)))
    assert finished.asked.as_of == date(1999, 3, 1)
    assert isinstance(finished.outcome, Abstention)
    assert finished.outcome.reason is Reason.NOT_IN_FORCE


# ------------------------------------------------------------------ support


async def test_support_is_judged_after_the_answer_and_merged_into_the_whole(
    sample_house: House,
) -> None:
    chat = ScriptedChat(reply=quoting, choice="partly")
    at = ChatAt(chat=chat, demo=False)
    finished = await drain(ask(sample_house.store, sample_house.encoder, at, asked()))
    (claim,) = outcome_json(finished)["claims"]
    assert claim == {
        "text": "It lapses after 180 days without a start.",
        "citations": [1],
        "support": 0.5,
        "flags": [],
    }
    judged = chat.seen[-1][-1].content
    assert "expires if the work it authorizes has not begun within 180 days" in judged
    assert "It lapses after 180 days without a start." in judged


@pytest.mark.parametrize("demo", [True, False])
async def test_a_judge_that_fails_or_is_a_demo_leaves_support_open(
    sample_house: House, demo: bool
) -> None:
    chat = ScriptedChat(reply=quoting, choice="perhaps")
    at = ChatAt(chat=chat, demo=demo)
    finished = await drain(ask(sample_house.store, sample_house.encoder, at, asked()))
    assert isinstance(finished.outcome, Answer)
    assert [c.support for c in finished.outcome.claims] == [None] * len(finished.outcome.claims)
    assert len(chat.seen) == (1 if demo else 2)
