"""Does it fit, and how fast will it be?  The sum before anything starts.  Pure.

Language model, encoder and reranker, their caches, working memory and processes against the card, line
by line.  What does not fit is refused with the smallest change that would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from models.manifest import Device, Profile
from models.shapes import GIB, Hardware, Shape

KvType = Literal["32-bit", "16-bit", "fp8"]
Place = Literal["card", "cpu"]

KV_BYTES: dict[KvType, int] = {"32-bit": 4, "16-bit": 2, "fp8": 1}  # of one number
BLOCK = {
    "cuda": 16,
    "cpu": 128,
    "metal": 1,
}  # tokens of a cache block: of vLLM on each, and of llama.cpp
STEP = 2048  # tokens of one prefill step: vLLM's max_num_batched_tokens, which the box sets
HELPER_TOKENS = 8192  # of one batch of the encoder, and of the reranker

# What a process takes on a card before it has a model: CUDA's context and the libraries' kernels (0.3 to
# 0.6 GiB by driver; an estimate).  On a CPU: Python, torch and vLLM, measured as 3.6 GB of a server with
# 0.27 GB of weights and 1 GiB of cache.
PROCESS = {"cuda": round(0.5 * GIB), "cpu": round(2.1 * GIB), "metal": round(0.3 * GIB)}
GRAPHS = round(0.35 * GIB)  # of the few batch sizes that a small box captures; an estimate
LEAST_CONTEXT = 2048  # rules, question, five passages and the reply

# Of the bandwidth that single-stream decoding reaches: published figures of seven cards lie between.
DECODE_BAND = (0.68, 0.86)
PREFILL_BAND = (0.25, 0.55)  # of the dense 16-bit peak, four-bit weights dequantised on the way


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is asked of a box: so many at once, each with a prompt and reply of so many tokens."""

    users: int
    context: int

    @property
    def tokens(self) -> int:
        """Return the tokens that the cache must hold."""
        return self.users * self.context


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One line of the sum."""

    name: str
    bytes: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """What the roofline allows, as a band: tokens a second, seconds."""

    decode_one: tuple[float, float]  # one user
    decode_all: tuple[float, float]  # all users together
    prefill: tuple[float, float]
    first_token_s: tuple[float, float]  # of a prompt of 2,000 tokens on an idle box


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A sum with what follows from it."""

    profile: str
    load: Load
    kv: KvType
    helpers: Place  # where encoder and reranker are
    parts: tuple[Part, ...]
    card_bytes: int
    kv_tokens: int  # that the cache holds, in whole blocks
    arguments: tuple[str, ...]  # of the model server
    speed: Speed
    smallest_change: str | None  # None: it fits

    @property
    def total_bytes(self) -> int:
        """Return the sum of the parts."""
        return sum(part.bytes for part in self.parts)

    @property
    def fits(self) -> bool:
        """Tell whether the card holds it all."""
        return self.total_bytes <= self.card_bytes

    @property
    def cache_bytes(self) -> int:
        """Return what the server is told to reserve for its cache."""
        return next(part.bytes for part in self.parts if part.name == "KV cache")

    @property
    def refusal(self) -> str | None:
        """Return the sentence that says what does not fit and what would; None when it fits."""
        if self.fits:
            return None
        return (
            f"{self.profile} does not fit: {self.load.users} at once with {self.load.context:,} tokens "
            f"each need {self.total_bytes / GIB:.1f} GiB and it has {self.card_bytes / GIB:.1f}; "
            f"{self.smallest_change} would."
        )


def own_load(profile: Profile) -> Load:
    """Return the load that a profile is made for."""
    return Load(users=profile.llm.max_num_seqs, context=profile.llm.max_model_len)


def plan(profile: Profile, load: Load) -> Plan:
    """Return the plan of a profile for a load.

    The first way that fits is taken: cache as wide as the model computes or, where the card computes so,
    in 8 bits; encoder and reranker on the card or on the CPU.  If none fits, that of the least memory
    says what would.
    """
    tried = [_plan(profile, load, kv, place) for kv, place in _ways(profile)]
    for one in tried:
        if one.fits:
            return one
    least = min(tried, key=lambda p: p.total_bytes)
    return _refused(profile, least)


def _ways(profile: Profile) -> Iterator[tuple[KvType, Place]]:
    full: KvType = "32-bit" if profile.llm.wider > 1 else "16-bit"
    kinds: Sequence[KvType] = (full, "fp8") if profile.hardware.fp8_cache else (full,)
    # A cache in 8 bits costs less than an encoder that takes seconds for a question's passages.
    yield from ((kv, "card") for kv in kinds)
    if profile.llm.server.device == "cuda":
        yield from ((kv, "cpu") for kv in kinds)


def _plan(profile: Profile, load: Load, kv: KvType, helpers: Place) -> Plan:
    llm, shape, device = profile.llm, profile.llm.shape, profile.llm.server.device
    token = shape.kv_bytes(a_number=KV_BYTES[kv])
    cache = _cache_bytes(load, device, token)
    parts = [
        Part(
            name="weights",
            bytes=shape.weight_bytes * llm.wider,
            why=f"{shape.parameters / 1e9:.1f} G weights",
        ),
        Part(
            name="KV cache",
            bytes=cache,
            why=f"{load.users} x {load.context:,} tokens at {token:,} bytes ({kv})",
        ),
        Part(
            name="activations",
            bytes=shape.activation_bytes(min(STEP, load.context), load.users) * llm.wider,
            why=f"a step of {min(STEP, load.context):,} tokens, logits of {load.users}",
        ),
        *_of_device(profile),
        *(_helpers(profile) if helpers == "card" else ()),
    ]
    parts.append(
        Part(name="reserve", bytes=profile.hardware.reserve_mib << 20, why="the system, a desktop")
    )
    made = Plan(
        profile=profile.name,
        load=load,
        kv=kv,
        helpers=helpers,
        parts=tuple(parts),
        card_bytes=profile.hardware.memory_bytes,
        kv_tokens=cache // (BLOCK[device] * token) * BLOCK[device],
        arguments=(),
        speed=speed(shape, profile.hardware, load, a_number=KV_BYTES[kv], wider=llm.wider),
        smallest_change=None,
    )
    return _with_arguments(made, profile)


def _cache_bytes(load: Load, device: Device, token: int) -> int:
    """Return the bytes of whole blocks for the load's tokens, `token` bytes each.

    On a CPU vLLM takes the size from VLLM_CPU_KVCACHE_SPACE, which counts whole GiB.
    """
    blocks = -(-load.tokens // BLOCK[device])
    cache = blocks * BLOCK[device] * token
    return -(-cache // GIB) * GIB if device == "cpu" else cache


def _of_device(profile: Profile) -> Iterator[Part]:
    device, arguments = profile.llm.server.device, profile.llm.server.arguments
    yield Part(name="process", bytes=PROCESS[device], why=f"the server itself ({device})")
    if device == "cuda" and "--enforce-eager" not in arguments:
        yield Part(name="CUDA graphs", bytes=GRAPHS, why="captured decode steps")


def _helpers(profile: Profile) -> Iterator[Part]:
    """Yield what encoder and reranker take: one process, each with its largest batch."""
    named = [("encoder", profile.encoder.shape)]
    if profile.reranker is not None:
        named.append(("reranker", profile.reranker.shape))
    for name, shape in named:
        yield Part(
            name=name,
            bytes=shape.weight_bytes + shape.activation_bytes(HELPER_TOKENS, 1),
            why=f"{shape.parameters / 1e6:,.0f} M weights, a batch of {HELPER_TOKENS:,} tokens",
        )
    if profile.llm.server.device == "cuda":
        yield Part(name="encoder's process", bytes=PROCESS["cuda"], why="a CUDA context of its own")


def _with_arguments(made: Plan, profile: Profile) -> Plan:
    """Add the server's arguments; the cache's size is given in bytes, so that nothing is guessed."""
    if profile.llm.server.engine != "vllm":
        # llama-server divides its context among its slots.
        slots = ("--ctx-size", str(made.load.tokens), "--parallel", str(made.load.users))
        return replace(made, arguments=slots)
    arguments = [
        "--max-model-len", str(made.load.context),
        "--max-num-seqs", str(made.load.users),
        "--max-num-batched-tokens", str(max(STEP, made.load.users)),
        "--scheduling-policy", "priority",  # people who chat go before bulk work
    ]  # fmt: skip
    if profile.llm.server.device == "cuda":  # a CPU's is set by VLLM_CPU_KVCACHE_SPACE
        arguments += ["--kv-cache-memory-bytes", str(made.cache_bytes)]
    if made.kv == "fp8":
        arguments += ["--kv-cache-dtype", "fp8"]
    return replace(made, arguments=tuple(arguments))


# ------------------------------------------------------------------ what would fit


def _refused(profile: Profile, least: Plan) -> Plan:
    """Return the plan with the smallest change that would fit: a shorter context, or fewer at once."""
    load, changes = least.load, []
    fits = [
        Load(users=load.users, context=context)
        for context in range(load.context - 256, LEAST_CONTEXT - 1, -256)
    ]
    if shorter := _first_that_fits(profile, least, fits):
        changes.append(f"a context of {shorter.context:,} tokens instead of {load.context:,}")
    fewer = [Load(users=u, context=load.context) for u in range(load.users - 1, 0, -1)]
    if fewer_users := _first_that_fits(profile, least, fewer):
        changes.append(f"{fewer_users.users} at once instead of {load.users}")
    if not changes:
        over = (least.total_bytes - least.card_bytes) / GIB
        changes.append(f"a smaller model, or {over:.1f} GiB more memory")
    return replace(least, smallest_change=" or ".join(changes))


def _first_that_fits(profile: Profile, least: Plan, loads: Sequence[Load]) -> Load | None:
    for load in loads:
        if _plan(profile, load, least.kv, least.helpers).fits:
            return load
    return None


# ------------------------------------------------------------------ how fast


def speed(
    shape: Shape, hardware: Hardware, load: Load, *, a_number: int = 2, wider: int = 1
) -> Speed:
    """Return the roofline's bands, of weights that are held `wider` times as wide as they are stored.

    A step of decoding reads all weights once and each user's cache: batch x bandwidth / (weights +
    batch x context x cache of a token).  The embeddings' table is only looked up in.  Prefill is bound
    by arithmetic (Williams et al., CACM 52(4), 2009).
    """
    stored = shape.weight_bytes - (0 if shape.tied else 2 * shape.vocabulary * shape.hidden)
    read = stored * wider
    kv = shape.kv_bytes(a_number=a_number)
    bandwidth = hardware.bandwidth_gb_s * 1e9

    def decode(batch: int) -> float:
        # On the way through a reply half of the context is there.
        return batch * bandwidth / (read + batch * kv * load.context / 2)

    prefill = hardware.tflops * 1e12 / shape.flops(load.context // 2)
    slow, fast = (prefill * share for share in PREFILL_BAND)
    return Speed(
        decode_one=_band(decode(1)),
        decode_all=_band(decode(load.users)),
        prefill=(slow, fast),
        first_token_s=(2000 / fast, 2000 / slow),
    )


def _band(peak: float) -> tuple[float, float]:
    return peak * DECODE_BAND[0], peak * DECODE_BAND[1]
