"""Which model each kind of hardware runs: manifest.toml as frozen records.

Reads one file, its own neighbour, and knows nothing of settings, homes or
processes.  The file is part of the program, so anything wrong in it is a
`ManifestBroken`, which a test meets before a person does.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, TypeVar, cast, get_args

from models.shapes import Hardware, Shape

Engine = Literal["vllm", "llama-server"]
Device = Literal["cpu", "cuda", "metal"]


class UnknownProfile(Exception):
    """No hardware profile has this name."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        self.name = name
        self.known = known
        super().__init__(f"There is no hardware profile {name!r}; choose {' or '.join(known)}.")


class ManifestBroken(Exception):
    """manifest.toml itself is wrong: a key is missing, unknown or of another type."""


# ------------------------------------------------------------------ records


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagedWeights:
    """Weights that ride in a Python package and are converted once."""

    package: str
    version: str
    module: str  # the folder in site-packages that holds the file
    file: str
    sha256: str  # of the file
    folder: str  # under HOME/models: where the converted model is put


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderWeights:
    """Weights that the owner put under HOME/models; nothing is ever fetched."""

    repository: str  # where the owner gets them
    folder: str  # under HOME/models
    file: str | None  # the one file of the folder that the server is given; None: the folder


Weights = PackagedWeights | FolderWeights


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The program that serves the model, and the Python environment that it needs."""

    engine: Engine
    device: Device
    requirements: tuple[str, ...]  # none: the program is not installed by us
    uninstall: tuple[str, ...]  # drawn in by the requirements, and harmful or useless
    without_dependencies: tuple[str, ...]
    fallback_index: str | None  # asked only when plain pip lacks the CPU build of torch
    arguments: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Llm:
    """The language model of a profile."""

    served_name: str  # what /v1/models calls it
    also_known_as: tuple[str, ...]  # how other servers call the same weights
    licence: str
    dtype: str
    max_model_len: int  # tokens of prompt and reply together
    max_num_seqs: int
    weights: Weights
    server: Server
    shape: Shape

    @property
    def names(self) -> frozenset[str]:
        """Return every name of the model, in lower case."""
        return frozenset(name.casefold() for name in (self.served_name, *self.also_known_as))

    @property
    def wider(self) -> int:
        """Return how many times as wide as 16-bit weights are stored the server holds them."""
        return 2 if self.dtype == "float32" else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """The embedding model of a profile."""

    name: str
    licence: str
    dimension: int
    max_tokens: int
    packages: tuple[str, ...]  # none: the owner provides it
    sha256: Mapping[str, str]  # of the files in those packages, by path
    shape: Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranker:
    """The cross-encoder of a profile."""

    name: str
    licence: str
    shape: Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """What an encoder wants before a question and before a passage; most often nothing."""

    query_prefix: str
    document_prefix: str
    source: str  # who says so
    measured: bool  # `permitbox bench roles` has run with these very weights

    @property
    def prefixes(self) -> tuple[str, str]:
        """Return both: the question's, then the passage's."""
        return self.query_prefix, self.document_prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What one kind of hardware runs."""

    name: str
    title: str
    demo: bool  # the model's wording is never shown as advice
    verified: bool  # these lines were run on that kind of hardware
    hardware: Hardware
    llm: Llm
    encoder: Encoder
    reranker: Reranker | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Every profile of manifest.toml, in the file's order, and the roles of encoders by name."""

    profiles: tuple[Profile, ...]
    roles: Mapping[str, Roles]

    def profile(self, name: str) -> Profile:
        """Return the profile called `name`.  Raises UnknownProfile."""
        for profile in self.profiles:
            if profile.name == name:
                return profile
        raise UnknownProfile(name, tuple(profile.name for profile in self.profiles))

    def is_demo(self, served_name: str) -> bool:
        """Tell whether a server that calls its model so serves a demo model."""
        name = served_name.casefold()
        return any(profile.demo and name in profile.llm.names for profile in self.profiles)


# ------------------------------------------------------------------ reading


@cache
def read_manifest() -> Manifest:
    """Return the manifest of this installation."""
    return parse_manifest(files("models").joinpath("manifest.toml").read_text("utf-8"))


def is_demo(served_name: str) -> bool:
    """Tell whether a server that calls its model so serves a demo model."""
    return read_manifest().is_demo(served_name)


def parse_manifest(text: str) -> Manifest:
    """Return the records of a manifest's text.  Raises ManifestBroken."""
    try:
        top = _Table("manifest.toml", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ManifestBroken(f"manifest.toml: {error}") from None
    known = _Known(
        shapes=_each(top.table("shapes"), _shape), hardware=_each(top.table("hardware"), _hardware)
    )
    tables = top.table("profiles")
    profiles = tuple(_profile(name, tables.table(name), known) for name in tables.names())
    of_models = top.table("roles")
    roles = {name: _roles(of_models.table(name)) for name in of_models.names()}
    top.finish()
    for profile in profiles:
        if profile.encoder.name not in roles:
            raise ManifestBroken(f"manifest.toml: roles: {profile.encoder.name} is missing")
    return Manifest(profiles=profiles, roles=MappingProxyType(roles))


T = TypeVar("T")


def _each(table: _Table, read: Callable[[_Table], T]) -> Mapping[str, T]:
    return MappingProxyType({name: read(table.table(name)) for name in table.names()})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The shapes and machines that profiles name."""

    shapes: Mapping[str, Shape]
    hardware: Mapping[str, Hardware]

    def shape(self, table: _Table) -> Shape:
        return self.shapes[table.one_of("shape", tuple(self.shapes))]

    def machine(self, table: _Table) -> Hardware:
        return self.hardware[table.one_of("hardware", tuple(self.hardware))]


def _shape(table: _Table) -> Shape:
    shape = Shape(
        layers=table.count("layers"),
        hidden=table.count("hidden"),
        heads=table.count("heads"),
        kv_heads=table.whole("kv_heads"),
        head_dim=table.count("head_dim"),
        intermediate=table.count("intermediate"),
        gated=table.flag("gated"),
        vocabulary=table.count("vocabulary"),
        tied=table.flag("tied"),
        bits=table.amount("bits"),
        group=table.whole("group"),
    )
    table.finish()
    return shape


def _hardware(table: _Table) -> Hardware:
    hardware = Hardware(
        memory_mib=table.count("memory_mib"),
        unified=table.flag("unified"),
        reserve_mib=table.whole("reserve_mib"),
        bandwidth_gb_s=table.amount("bandwidth_gb_s"),
        tflops=table.amount("tflops"),
        fp8_cache=table.flag("fp8_cache"),
        source=table.text("source"),
    )
    table.finish()
    return hardware


def _profile(name: str, table: _Table, known: _Known) -> Profile:
    profile = Profile(
        name=name,
        title=table.text("title"),
        demo=table.flag("demo"),
        verified=table.flag("verified"),
        hardware=known.machine(table),
        llm=_llm(table.table("llm"), known),
        encoder=_encoder(table.table("encoder"), known),
        reranker=_reranker(table.table("reranker"), known) if table.has("reranker") else None,
    )
    table.finish()
    return profile


def _llm(table: _Table, known: _Known) -> Llm:
    llm = Llm(
        served_name=table.text("served_name"),
        also_known_as=table.texts("also_known_as"),
        licence=table.text("licence"),
        dtype=table.text("dtype"),
        max_model_len=table.count("max_model_len"),
        max_num_seqs=table.count("max_num_seqs"),
        weights=_weights(table.table("weights")),
        server=_server(table.table("server")),
        shape=known.shape(table),
    )
    table.finish()
    return llm


def _weights(table: _Table) -> Weights:
    weights: Weights
    if table.one_of("kind", ("package", "folder")) == "package":
        weights = PackagedWeights(
            package=table.text("package"),
            version=table.text("version"),
            module=table.text("module"),
            file=table.text("file"),
            sha256=table.text("sha256"),
            folder=table.text("folder"),
        )
    else:
        weights = FolderWeights(
            repository=table.text("repository"),
            folder=table.text("folder"),
            file=table.text("file") if table.has("file") else None,
        )
    table.finish()
    return weights


def _server(table: _Table) -> Server:
    server = Server(
        engine=cast(Engine, table.one_of("engine", get_args(Engine))),
        device=cast(Device, table.one_of("device", get_args(Device))),
        requirements=table.texts("requirements"),
        uninstall=table.texts("uninstall"),
        without_dependencies=table.texts("without_dependencies"),
        fallback_index=table.text("fallback_index") if table.has("fallback_index") else None,
        arguments=table.texts("arguments"),
        environment=table.text_table("environment"),
    )
    table.finish()
    return server


def _encoder(table: _Table, known: _Known) -> Encoder:
    encoder = Encoder(
        name=table.text("name"),
        licence=table.text("licence"),
        dimension=table.count("dimension"),
        max_tokens=table.count("max_tokens"),
        packages=table.texts("packages"),
        sha256=table.text_table("sha256"),
        shape=known.shape(table),
    )
    table.finish()
    return encoder


def _roles(table: _Table) -> Roles:
    roles = Roles(
        query_prefix=table.text("query_prefix"),
        document_prefix=table.text("document_prefix"),
        source=table.text("source"),
        measured=table.flag("measured"),
    )
    table.finish()
    return roles


def _reranker(table: _Table, known: _Known) -> Reranker:
    reranker = Reranker(
        name=table.text("name"), licence=table.text("licence"), shape=known.shape(table)
    )
    table.finish()
    return reranker


@dataclass(frozen=True, slots=True)
class _Table:
    """One table of the file, which is asked for typed values and knows what nobody asked for."""

    where: str
    values: Mapping[str, Any]
    asked: set[str] = field(default_factory=set)

    def has(self, key: str) -> bool:
        return key in self.values

    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    def table(self, key: str) -> _Table:
        return _Table(f"{self.where}: {key}", cast(Mapping[str, Any], self._get(key, dict)))

    def text(self, key: str) -> str:
        return cast(str, self._get(key, str))

    def flag(self, key: str) -> bool:
        return cast(bool, self._get(key, bool))

    def count(self, key: str) -> int:
        number = cast(int, self._get(key, int))
        if number < 1:
            raise ManifestBroken(f"{self.where}: {key} must be at least 1")
        return number

    def whole(self, key: str) -> int:
        number = cast(int, self._get(key, int))
        if number < 0:
            raise ManifestBroken(f"{self.where}: {key} must not be negative")
        return number

    def amount(self, key: str) -> float:
        return cast(float, self._get(key, float))

    def texts(self, key: str) -> tuple[str, ...]:
        items = cast(list[Any], self._get(key, list)) if self.has(key) else []
        if not all(isinstance(item, str) for item in items):
            raise ManifestBroken(f"{self.where}: {key} must hold texts only")
        return tuple(items)

    def text_table(self, key: str) -> Mapping[str, str]:
        inner = self.table(key) if self.has(key) else _Table(key, {})
        return MappingProxyType({name: inner.text(name) for name in inner.names()})

    def one_of(self, key: str, allowed: tuple[str, ...]) -> str:
        value = self.text(key)
        if value not in allowed:
            raise ManifestBroken(f"{self.where}: {key} must be {' or '.join(allowed)}")
        return value

    def finish(self) -> None:
        """Refuse a key that nothing asked for: a typo must not be silent."""
        if unknown := sorted(set(self.values) - self.asked):
            raise ManifestBroken(f"{self.where}: {unknown[0]} is not a known key")

    def _get(self, key: str, kind: type) -> object:
        self.asked.add(key)
        if key not in self.values:
            raise ManifestBroken(f"{self.where}: {key} is missing")
        value: object = self.values[key]
        if type(value) is not kind:  # not isinstance: True is an int to Python
            raise ManifestBroken(f"{self.where}: {key} must be of type {kind.__name__}")
        return value
