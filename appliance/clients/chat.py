"""The chat client: one OpenAI-compatible server, spoken to over httpx.

Half of this module is pure: bytes to events, events to deltas, text without the
model's thinking.  The other half asks.  A reply counts only when the server said
that it was finished: one that is cut, empty or unparsable is a `ChatBroken`, so
that no one mistakes half a sentence for an answer.

It knows nothing of prompts, of what a draft is for, or of who runs the server.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

import httpx

from appliance.errors import ChatBroken, ChatUnavailable
from appliance.ports import ChatMessage
from appliance.settings import Secret

CONNECT_SECONDS: Final = 5.0
# A server that is silent for half of the time will not finish in the other half.
FIRST_TOKEN_SHARE: Final = 0.5
# For servers that do not say (only vLLM does).  The least that a server of a current model is
# commonly started with: assuming more ends in refused prompts, assuming less only drops passages.
DEFAULT_CONTEXT: Final = 8192
# Places in vLLM's queue (`--scheduling-policy priority`: lower goes first, and may preempt).
PEOPLE: Final = 0
ENRICHMENT: Final = 10
# No event of a chat comes near this; a server that sends no line end is not one.
MOST_EVENT_BYTES: Final = 1 << 20


# ------------------------------------------------------------------ bytes to events (pure)


class EventReader:
    """Server-sent events, sans I/O: bytes in as they come, whole `data` payloads out.

    Lines are cut at LF and CR LF in the bytes.  Cutting decoded text, as httpx's
    `aiter_lines` does, would also cut at U+2028 and the like inside a JSON string.
    """

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> Iterator[str]:
        """Yield the payloads that `piece` completes.  Raises ChatBroken on anything else."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if len(self._rest) > MOST_EVENT_BYTES:
            raise ChatBroken("The model server sent a line without an end; it is no chat server.")
        for line in lines:
            if payload := self._payload(line.removesuffix(b"\r")):
                yield payload

    def _payload(self, line: bytes) -> str | None:
        field, _, value = line.partition(b":")
        if field == b"data":
            return _utf8(value).strip()
        if field in (b"", b"event", b"id", b"retry"):  # b"": a comment, or the end of an event
            return None
        raise ChatBroken("The model server sent a line that is no event; is it a chat server?")


def _utf8(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ChatBroken("The model server sent text that is not UTF-8.") from error


# ------------------------------------------------------------------ events to deltas (pure)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What one event adds to the reply."""

    text: str
    finish: str | None  # why the reply ended; None while it goes on


def parse_delta(payload: str) -> Delta:
    """Return the delta of one event's payload.  Raises ChatBroken."""
    event = _json_object(payload)
    if "error" in event:
        raise ChatBroken(f"The model server broke off: {_error_words(event)}.")
    match event.get("choices"):
        case []:  # the closing event that only counts tokens
            return Delta(text="", finish=None)
        case [dict(choice), *_] if isinstance(choice.get("delta"), dict):
            return _delta_of(choice["delta"], choice.get("finish_reason"))
    raise ChatBroken("The model server sent an event without a choice; is it a chat server?")


def _delta_of(delta: Mapping[str, object], finish: object) -> Delta:
    text = delta.get("content")
    if not isinstance(text, str | None) or not isinstance(finish, str | None):
        raise ChatBroken("The model server sent a reply that is no text.")
    return Delta(text=_whole_text(text or ""), finish=finish)


def _whole_text(text: str) -> str:
    """Return `text`; JSON can spell half a character, which no page can show."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ChatBroken("The model server sent half a character.") from error
    return text


def _json_object(payload: str) -> Mapping[str, Any]:
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise ChatBroken("The model server sent an event that is not JSON.") from error
    if not isinstance(value, dict):
        raise ChatBroken("The model server sent an event that is no JSON object.")
    return value


def _error_words(event: Mapping[str, Any]) -> str:
    """Return the server's own words of an error object, shortened."""
    error = event.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    return str(message or "it did not say why")[:200].rstrip(".")


# ------------------------------------------------------------------ thinking taken out (pure)


class ThinkStripper:
    """Takes a reasoning model's `<think>…</think>` out of a stream, however it is cut.

    What could still become a tag is held back until the next piece decides.  White
    space at the very start goes as well: models put it after their thinking.
    """

    _OPEN: Final = "<think>"
    _CLOSE: Final = "</think>"

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._started = False

    def feed(self, piece: str) -> str:
        """Return what of the stream so far is certainly reply and was not returned yet."""
        text, shown = self._held + piece, ""
        while True:
            tag = self._CLOSE if self._thinking else self._OPEN
            before, found, after = text.partition(tag)
            if not found:
                break
            shown += "" if self._thinking else before
            self._thinking, text = not self._thinking, after
        kept = len(text) - _tag_start(text, tag)
        self._held = text[kept:]
        return self._begin(shown + ("" if self._thinking else text[:kept]))

    def close(self) -> str:
        """Return what was held back; the stream is over."""
        rest, self._held = self._held, ""
        return "" if self._thinking else self._begin(rest)

    def _begin(self, text: str) -> str:
        if not self._started:
            text = text.lstrip()
            self._started = bool(text)
        return text


def _tag_start(text: str, tag: str) -> int:
    """Return the length of the longest end of `text` that begins `tag`."""
    longest = min(len(text), len(tag) - 1)
    return next((n for n in range(longest, 0, -1) if tag.startswith(text[-n:])), 0)


# ------------------------------------------------------------------ one of several choices (pure)

# Enough for a JSON object with one short word, in any tokenizer.
CHOICE_TOKENS: Final = 40


def _one_of(choices: Sequence[str]) -> dict[str, object]:
    """Return the request's part that allows these choices only (vLLM and llama.cpp both know it)."""
    schema = {
        "type": "object",
        "properties": {"choice": {"type": "string", "enum": list(choices)}},
        "required": ["choice"],
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "choice", "schema": schema, "strict": True},
    }


def parse_choice(content: bytes, choices: Sequence[str]) -> str:
    """Return the choice of a whole reply.  Raises ChatBroken: an empty reply is no choice, nor is a cut one."""
    reply = _json_object(_utf8(content))
    match reply.get("choices"):
        case [{"message": {"content": str(text)}, "finish_reason": str(finish)}, *_]:
            _check_end(finish, not text.strip())
        case _:
            raise ChatBroken("The model server sent a reply without a choice; is it a chat server?")
    stripper = ThinkStripper()
    taken = _json_object(stripper.feed(text) + stripper.close()).get("choice")
    if taken not in choices:
        raise ChatBroken("The model's reply is none of the choices that it was given.")
    return str(taken)


# ------------------------------------------------------------------ the client


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    name: str
    context: int


class OpenAIChat:
    """The `Chat` port on an OpenAI-compatible server; an async context manager."""

    def __init__(
        self,
        url: str,
        *,
        key: Secret | None,
        model: str | None,
        seconds: float,
        priority: int = PEOPLE,
    ) -> None:
        """Speak to the server at `url`; whoever has the lower priority goes first there."""
        # Only where it says something: a server that queues in order refuses every other value.
        self._place: dict[str, object] = {"priority": priority} if priority != PEOPLE else {}
        self._url = base_url(url)
        self._name = model
        self._seconds = seconds
        self._models: tuple[_Model, ...] | None = None
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key.value}"} if key else {},
            timeout=httpx.Timeout(seconds, connect=CONNECT_SECONDS),
            # A proxy of the environment must not see a question: nothing leaves this network.
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection; replies under way break off."""
        await self._client.aclose()

    async def model(self) -> str:
        """Return the name of the served model.  Raises ChatUnavailable."""
        return self._name or (await self._served()).name

    async def context(self) -> int:
        """Return the most tokens of prompt and reply together.  Raises ChatUnavailable."""
        return (await self._served()).context

    async def stream(
        self, messages: Sequence[ChatMessage], *, max_tokens: int, temperature: float
    ) -> AsyncGenerator[str, None]:
        """Yield the reply's pieces without its thinking; closing frees the server.

        Raises ChatUnavailable when no server answers, and ChatBroken when the reply
        is refused, empty, cut at the token limit, or breaks off.
        """
        body = {
            "model": await self.model(),
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
            "stream": True,
            **self._place,
        }
        deadline = _Deadline.of(self._seconds)
        stripper, finish, empty = ThinkStripper(), None, True
        async with self._events(body, deadline) as payloads:
            async for payload in payloads:
                delta = parse_delta(payload)
                finish = delta.finish or finish
                if text := stripper.feed(delta.text):
                    empty = False
                    yield text
        if text := stripper.close():
            empty = False
            yield text
        _check_end(finish, empty)

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        """Return the one of the choices that the model takes, by a JSON schema that allows no other.

        Raises ChatUnavailable, and ChatBroken when the reply is none of them.
        """
        body = {
            "model": await self.model(),
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            "max_tokens": CHOICE_TOKENS,
            "temperature": 0.0,
            "response_format": _one_of(choices),
            **self._place,
        }
        deadline = _Deadline.of(self._seconds)
        try:
            async with asyncio.timeout_at(deadline.last):
                response = await self._client.post(f"{self._url}/chat/completions", json=body)
        except (TimeoutError, httpx.TransportError) as error:
            raise self._unreachable(error) from error
        await self._check_status(response)
        return parse_choice(response.content, choices)

    @asynccontextmanager
    async def _events(
        self, body: Mapping[str, object], deadline: _Deadline
    ) -> AsyncIterator[AsyncIterator[str]]:
        """Open the reply; yields its payloads up to `[DONE]`."""
        request = self._client.build_request("POST", f"{self._url}/chat/completions", json=body)
        try:
            async with asyncio.timeout_at(deadline.first):
                response = await self._client.send(request, stream=True)
        except (TimeoutError, httpx.TransportError) as error:
            raise self._unreachable(error) from error
        try:
            await self._check_status(response)
            async with aclosing(self._payloads(response, deadline)) as payloads:
                yield payloads
        finally:
            await response.aclose()

    async def _payloads(
        self, response: httpx.Response, deadline: _Deadline
    ) -> AsyncGenerator[str, None]:
        reader, pieces = EventReader(), response.aiter_bytes()
        piece = await self._first(pieces, deadline)
        while piece:
            for payload in reader.feed(piece):
                if payload == "[DONE]":
                    return
                yield payload
            piece = await self._next(pieces, deadline)

    async def _first(self, pieces: AsyncIterator[bytes], deadline: _Deadline) -> bytes:
        try:
            async with asyncio.timeout_at(deadline.first):
                return await anext(pieces, b"")
        except (TimeoutError, httpx.TransportError) as error:
            raise self._unreachable(error) from error

    async def _next(self, pieces: AsyncIterator[bytes], deadline: _Deadline) -> bytes:
        """Return the next bytes, or none at the end.

        The deadline spans this wait only and no `yield`: a timeout around a `yield`
        would strike whoever reads us, at whatever they are doing.
        """
        try:
            async with asyncio.timeout_at(deadline.last):
                return await anext(pieces, b"")
        except (TimeoutError, httpx.ReadTimeout) as error:
            raise ChatBroken(
                f"The model did not finish within {self._seconds:.0f} s; ask again when fewer ask, "
                "or raise PERMITBOX_CHAT_SECONDS."
            ) from error
        except httpx.TransportError as error:
            raise ChatBroken("The model server broke off in the middle of its reply.") from error

    async def _served(self) -> _Model:
        """Return the model that is asked for, as the server describes it."""
        if self._models is None:
            self._models = _parse_models(await self._get("/models"))
        wanted = self._name or self._models[0].name
        for model in self._models:
            if model.name == wanted:
                return model
        return _Model(name=wanted, context=DEFAULT_CONTEXT)

    async def _get(self, path: str) -> bytes:
        try:
            async with asyncio.timeout(self._seconds * FIRST_TOKEN_SHARE):
                response = await self._client.get(self._url + path)
        except (TimeoutError, httpx.TransportError) as error:
            raise self._unreachable(error) from error
        await self._check_status(response)
        return response.content

    def _unreachable(self, error: Exception) -> ChatUnavailable:
        if isinstance(error, TimeoutError | httpx.ReadTimeout):
            return ChatUnavailable(
                f"The model server at {self._url} does not begin to answer; it is overloaded or "
                "stuck: try again, or restart it."
            )
        return ChatUnavailable(f"No model server answers at {self._url}; check that it runs there.")

    async def _check_status(self, response: httpx.Response) -> None:
        status = response.status_code
        if status == httpx.codes.OK:
            return
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            raise ChatUnavailable(
                f"The model server at {self._url} refuses our key; set PERMITBOX_CHAT_KEY."
            )
        if status == httpx.codes.NOT_FOUND:
            raise ChatUnavailable(
                f"The model server at {self._url} does not know that address or model; check "
                "PERMITBOX_CHAT_URL and PERMITBOX_CHAT_MODEL."
            )
        if status in (httpx.codes.BAD_REQUEST, httpx.codes.UNPROCESSABLE_ENTITY):
            raise ChatBroken(f"The model server refused the prompt: {await _reason(response)}.")
        raise ChatUnavailable(
            f"The model server at {self._url} answers with status {status}; look into its log."
        )


@dataclass(frozen=True, slots=True)
class _Deadline:
    """Until when, on the loop's clock, the first bytes and the whole reply are awaited."""

    first: float
    last: float

    @classmethod
    def of(cls, seconds: float) -> Self:
        now = asyncio.get_running_loop().time()
        return cls(first=now + seconds * FIRST_TOKEN_SHARE, last=now + seconds)


def base_url(url: str) -> str:
    """Return the address that paths are put behind; a bare host means its /v1."""
    stripped = url.rstrip("/")
    return stripped if urlsplit(stripped).path else f"{stripped}/v1"


def _check_end(finish: str | None, empty: bool) -> None:
    if finish is None:
        raise ChatBroken("The model server broke off in the middle of its reply.")
    if finish == "length":
        raise ChatBroken("The model's reply was cut at the token limit.")
    if finish != "stop":
        raise ChatBroken(f"The model's reply ended for another reason than being done: {finish}.")
    if empty:
        raise ChatBroken("The model's reply was empty.")


def _parse_models(content: bytes) -> tuple[_Model, ...]:
    """Return what /v1/models lists.  Raises ChatUnavailable when it is no such list."""
    try:
        entries = json.loads(content)["data"]
        models = tuple(_model_of(entry) for entry in entries)
    except (ValueError, KeyError, TypeError) as error:
        raise ChatUnavailable(
            "The model server's list of models cannot be read; check PERMITBOX_CHAT_URL."
        ) from error
    if not models:
        raise ChatUnavailable("The model server serves no model; load one there.")
    return models


def _model_of(entry: Mapping[str, Any]) -> _Model:
    name = str(entry["id"])  # first: the subscript is what refuses an entry that is no object
    length = entry.get("max_model_len")
    context = length if isinstance(length, int) and length > 0 else DEFAULT_CONTEXT
    return _Model(name=name, context=context)


async def _reason(response: httpx.Response) -> str:
    try:
        return _error_words(_json_object(_utf8(await response.aread())))
    except (ChatBroken, httpx.TransportError):
        return f"status {response.status_code}"
