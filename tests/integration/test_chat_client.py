"""The chat client against a real server that misbehaves in each way a server can."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest

from appliance.clients.chat import DEFAULT_CONTEXT, ENRICHMENT, PEOPLE, OpenAIChat
from appliance.errors import ChatBroken, ChatUnavailable
from appliance.ports import Chat, ChatMessage
from appliance.settings import Secret

pytestmark = pytest.mark.asyncio

QUESTION = [ChatMessage(role="user", content="How high may my fence be?")]


# ------------------------------------------------------------------ the server


@dataclass(slots=True)
class Peer:
    """One connection of the server: what was asked, and the means to answer in any way."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    head: str = ""
    body: bytes = b""

    async def read_request(self) -> None:
        self.head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        sizes = [line for line in self.head.splitlines() if line.startswith("content-length:")]
        self.body = await self.reader.readexactly(int(sizes[0].split(":")[1]) if sizes else 0)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def begin(self, status: int, kind: str = "text/event-stream") -> None:
        await self.send(
            f"HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n".encode()
        )

    async def event(self, text: str | None = None, finish: str | None = None) -> None:
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
        await self.send(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())

    async def done(self) -> None:
        await self.send(b"data: [DONE]\n\n")

    async def until_left(self) -> None:
        """Return when the client has closed the connection."""
        with suppress(ConnectionResetError):
            while await self.reader.read(1024):
                pass


Behaviour = Callable[[Peer], Awaitable[None]]


@dataclass(slots=True)
class Server:
    behaviour: Behaviour
    models: bytes = json.dumps({"data": [{"id": "tiny", "max_model_len": 2048}]}).encode()
    port: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)
    chats: list[Peer] = field(default_factory=list)
    model_lists: int = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(reader, writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await peer.read_request()
            if peer.head.startswith("get /v1/models"):
                self.model_lists += 1
                await peer.begin(200, "application/json")
                await peer.send(self.models)
            else:
                self.chats.append(peer)
                await self.behaviour(peer)
        self.left.set()
        writer.close()


@asynccontextmanager
async def serving(
    behaviour: Behaviour, *, seconds: float = 10.0, model: str | None = None
) -> AsyncIterator[tuple[Server, OpenAIChat]]:
    server = Server(behaviour)
    listener = await asyncio.start_server(server.answer, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{server.port}"
    async with (
        listener,
        OpenAIChat(url, key=Secret("s3cret"), model=model, seconds=seconds) as chat,
    ):
        yield server, chat


async def reply(chat: Chat) -> str:
    return "".join([piece async for piece in chat.stream(QUESTION, max_tokens=9, temperature=0.5)])


# ------------------------------------------------------------------ when all is well


async def says_six_feet(peer: Peer) -> None:
    await peer.begin(200)
    await peer.event("")
    for text in ("<thi", "nk>let me see</th", "ink>\n\nSix", " feet", ".\u2028"):
        await peer.event(text)
    await peer.event(finish="stop")
    await peer.send(b'data: {"choices": [], "usage": {"total_tokens": 9}}\n\n')
    await peer.done()


async def test_a_reply_comes_without_the_thinking() -> None:
    async with serving(says_six_feet) as (_, chat):
        assert await reply(chat) == "Six feet.\u2028"


async def test_the_server_is_asked_for_what_was_given() -> None:
    async with serving(says_six_feet) as (server, chat):
        await reply(chat)
    assert "authorization: bearer s3cret" in server.chats[0].head
    assert json.loads(server.chats[0].body) == {
        "model": "tiny",
        "messages": [{"role": "user", "content": "How high may my fence be?"}],
        "max_tokens": 9,
        "temperature": 0.5,
        "stream": True,
    }


@pytest.mark.parametrize(
    ("priority", "sent"), [(PEOPLE, {}), (ENRICHMENT, {"priority": ENRICHMENT})]
)
async def test_bulk_work_says_that_it_stands_behind_people(
    priority: int, sent: dict[str, int]
) -> None:
    async with serving(says_six_feet) as (server, _):
        url = f"http://127.0.0.1:{server.port}"
        async with OpenAIChat(url, key=None, model="m", seconds=10, priority=priority) as client:
            await reply(client)
            with pytest.raises(ChatBroken):  # the peer streams, which is no choice
                await client.choose(QUESTION, ("yes", "no"))
    bodies = [json.loads(peer.body) for peer in server.chats]
    assert len(bodies) == 2
    for body in bodies:
        assert {key: body[key] for key in body.keys() & {"priority"}} == sent


async def test_the_list_of_models_is_asked_for_once() -> None:
    async with serving(says_six_feet) as (server, chat):
        assert await chat.model() == "tiny"
        assert await chat.context() == 2048
        await reply(chat)
    assert server.model_lists == 1


async def test_a_named_model_is_not_looked_up() -> None:
    async with serving(says_six_feet, model="mine") as (server, chat):
        assert await chat.model() == "mine"
        await reply(chat)
    assert server.model_lists == 0
    assert json.loads(server.chats[0].body)["model"] == "mine"


async def test_a_server_that_does_not_say_its_context_gets_the_default() -> None:
    async with serving(says_six_feet) as (server, chat):
        server.models = b'{"data": [{"id": "tiny"}]}'
        assert await chat.context() == DEFAULT_CONTEXT


async def test_closing_the_stream_frees_the_server() -> None:
    async def talks_for_ever(peer: Peer) -> None:
        await peer.begin(200)
        await peer.event("on")
        await peer.until_left()

    async with serving(talks_for_ever) as (server, chat):
        await chat.model()
        server.left.clear()
        async with aclosing(chat.stream(QUESTION, max_tokens=9, temperature=0.0)) as pieces:
            assert await anext(pieces) == "on"
        await asyncio.wait_for(server.left.wait(), 2)


async def test_cancelling_the_reader_frees_the_server() -> None:
    async def is_silent(peer: Peer) -> None:
        await peer.begin(200)
        await peer.until_left()

    async with serving(is_silent) as (server, chat):
        await chat.model()
        server.left.clear()
        reading = asyncio.create_task(reply(chat))
        while not server.chats:
            await asyncio.sleep(0.01)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await asyncio.wait_for(server.left.wait(), 2)


async def test_a_slow_reader_is_not_struck_by_the_deadline() -> None:
    async with serving(says_six_feet, seconds=0.4) as (_, chat):
        pieces = []
        async for piece in chat.stream(QUESTION, max_tokens=9, temperature=0.0):
            pieces.append(piece)
            await asyncio.sleep(0.3)  # longer in all than the deadline; the server was done before
            if len(pieces) == 1:
                continue
            break
        assert pieces[0] == "Six"


# ------------------------------------------------------------------ when it is not


def status(number: int, body: bytes = b"") -> Behaviour:
    async def behave(peer: Peer) -> None:
        await peer.begin(number, "application/json")
        await peer.send(body)

    return behave


async def hangs_before_the_head(peer: Peer) -> None:
    await peer.until_left()


async def hangs_before_the_first_word(peer: Peer) -> None:
    await peer.begin(200)
    await peer.until_left()


async def hangs_in_the_middle(peer: Peer) -> None:
    await peer.begin(200)
    await peer.event("Six")
    await peer.until_left()


async def hangs_up_at_once(peer: Peer) -> None:
    peer.writer.transport.abort()


async def is_cut_between_events(peer: Peer) -> None:
    await peer.begin(200)
    await peer.event("Six")


async def is_cut_within_an_event(peer: Peer) -> None:
    await peer.begin(200)
    await peer.event("Six")
    await peer.send(b'data: {"choices": [{"del')


async def is_reset(peer: Peer) -> None:
    await peer.begin(200)
    await peer.event("Six")
    await asyncio.sleep(0.05)
    peer.writer.transport.abort()


async def breaks_a_promised_chunk(peer: Peer) -> None:
    await peer.send(b"HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\n1f\r\ndata: ")


async def is_empty(peer: Peer) -> None:
    await peer.begin(200)
    await peer.event("", finish="stop")
    await peer.done()


async def only_thinks(peer: Peer) -> None:
    await peer.begin(200)
    await peer.event("<think>hm")
    await peer.event(finish="stop")
    await peer.done()


async def runs_out_of_tokens(peer: Peer) -> None:
    await peer.begin(200)
    await peer.event("Six fe", finish="length")
    await peer.done()


async def is_filtered(peer: Peer) -> None:
    await peer.begin(200)
    await peer.event("Six", finish="content_filter")
    await peer.done()


async def is_done_without_a_reason(peer: Peer) -> None:
    await peer.begin(200)
    await peer.event("Six")
    await peer.done()


async def sends_no_json(peer: Peer) -> None:
    await peer.begin(200)
    await peer.send(b"data: Six feet\n\n")


async def sends_a_web_page(peer: Peer) -> None:
    await peer.begin(200, "text/html")
    await peer.send(b"<html>\n<body>Log in, please</body>\n</html>\n")


async def breaks_off_with_words(peer: Peer) -> None:
    await peer.begin(200)
    await peer.event("Six")
    await peer.send(b'data: {"error": {"message": "EngineDeadError"}}\n\n')


@pytest.mark.parametrize(
    ("behaviour", "error", "words"),
    [
        (status(500), ChatUnavailable, "answers with status 500"),
        (status(503), ChatUnavailable, "answers with status 503"),
        (status(429), ChatUnavailable, "answers with status 429"),
        (status(302), ChatUnavailable, "answers with status 302"),
        (status(401), ChatUnavailable, "refuses our key"),
        (status(403), ChatUnavailable, "refuses our key"),
        (status(404), ChatUnavailable, "does not know that address or model"),
        (status(400, b'{"error": {"message": "too long."}}'), ChatBroken, "the prompt: too long."),
        (status(400, b"\xff"), ChatBroken, "the prompt: status 400."),
        (hangs_before_the_head, ChatUnavailable, "does not begin to answer"),
        (hangs_before_the_first_word, ChatUnavailable, "does not begin to answer"),
        (hangs_up_at_once, ChatUnavailable, "No model server answers"),
        (hangs_in_the_middle, ChatBroken, "did not finish within"),
        (is_cut_between_events, ChatBroken, "broke off"),
        (is_cut_within_an_event, ChatBroken, "broke off"),
        (is_reset, ChatBroken, "broke off"),
        (breaks_a_promised_chunk, ChatBroken, "broke off"),
        (is_empty, ChatBroken, "was empty"),
        (only_thinks, ChatBroken, "was empty"),
        (runs_out_of_tokens, ChatBroken, "cut at the token limit"),
        (is_filtered, ChatBroken, "content_filter"),
        (is_done_without_a_reason, ChatBroken, "broke off"),
        (sends_no_json, ChatBroken, "not JSON"),
        (sends_a_web_page, ChatBroken, "no event"),
        (breaks_off_with_words, ChatBroken, "broke off: EngineDeadError."),
    ],
)
async def test_a_bad_server_is_named_in_one_sentence(
    behaviour: Behaviour, error: type[Exception], words: str
) -> None:
    async with serving(behaviour, seconds=0.6) as (_, chat):
        with pytest.raises(error) as caught:
            await asyncio.wait_for(reply(chat), 5)
    assert type(caught.value) is error
    assert words in str(caught.value)
    assert "s3cret" not in str(caught.value)


async def test_no_server_at_all() -> None:
    async with serving(says_six_feet) as (server, chat):
        pass
    async with OpenAIChat(
        f"http://127.0.0.1:{server.port}", key=None, model="x", seconds=5
    ) as chat:
        with pytest.raises(ChatUnavailable, match="No model server answers"):
            await reply(chat)


@pytest.mark.parametrize(
    "models", [b"", b"[]", b'{"data": []}', b'{"data": [{}]}', b'{"data": [1]}']
)
async def test_a_list_of_models_that_is_none(models: bytes) -> None:
    async with serving(says_six_feet) as (server, chat):
        server.models = models
        with pytest.raises(ChatUnavailable):
            await chat.model()


# ------------------------------------------------------------------ one of several choices


def choosing(text: str, finish: str = "stop", *, status: int = 200, whole: bytes | None = None):
    async def behaviour(peer: Peer) -> None:
        message = {"role": "assistant", "content": text}
        body = json.dumps({"choices": [{"message": message, "finish_reason": finish}]}).encode()
        await peer.begin(status, "application/json")
        await peer.send(body if whole is None else whole)

    return behaviour


async def test_a_choice_is_asked_for_with_a_schema_and_read_from_the_reply() -> None:
    async with serving(choosing('<think>hm</think>{"choice": "no"}')) as (server, chat):
        assert await chat.choose(QUESTION, ["yes", "no"]) == "no"
    asked = json.loads(server.chats[0].body)
    schema = asked["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["choice"]["enum"] == ["yes", "no"]
    assert asked["temperature"] == 0


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        (choosing(""), "empty"),
        (choosing("   "), "empty"),
        (choosing('{"choice": "no"}', "length"), "cut"),
        (choosing('{"choice": "perhaps"}'), "none of the choices"),
        (choosing('{"choice": ["no"]}'), "none of the choices"),
        (choosing('["no"]'), "no JSON object"),
        (choosing("no"), "not JSON"),
        (choosing("", whole=b'{"choices": []}'), "without a choice"),
        (choosing("", whole=b"\xff"), "UTF-8"),
        (choosing("", status=400, whole=b"{}"), "refused the prompt"),
    ],
)
async def test_a_reply_that_is_no_choice_is_an_error_and_never_a_no(
    behaviour: Behaviour, why: str
) -> None:
    async with serving(behaviour) as (_, chat):
        with pytest.raises(ChatBroken, match=why):
            await chat.choose(QUESTION, ["yes", "no"])


async def test_a_server_that_is_slow_to_choose_is_not_waited_for() -> None:
    async def silent(peer: Peer) -> None:
        await peer.until_left()

    async with serving(silent, seconds=0.3) as (_, chat):
        with pytest.raises(ChatUnavailable):
            await chat.choose(QUESTION, ["yes", "no"])
