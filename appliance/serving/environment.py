"""The model server's own Python environment and its model, made on first use.

The server cannot share the app's environment (gigabytes of torch, other pins),
so it gets one under HOME/envs, named by the digest of what it holds: another
recipe is another folder.  Everything can be killed at any moment and run again:
a marker is written last, pip goes on over a half-made environment, a model
folder appears whole or not at all.  pip runs with the system's own settings, so
a mirror, a constraint or a folder of wheels works as everywhere else.

It never reaches for a model hub, and knows nothing of ports or running servers.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from appliance.errors import ModelServerFailed, WeightsRefused
from appliance.serving import guard
from appliance.serving.weights import verify
from appliance.settings import PREFIX, Settings
from models.manifest import FolderWeights, Llm, PackagedWeights, Server
from models.shapes import Shape

Tell = Callable[[str], None]

# Wheels (0.6 GB), the environment (2.5 GB, 3.5 GB before the uninstall) and the model (0.3 GB).
NEEDED_BYTES = 5 * 10**9
PIP_GRACE = 5.0

PYTHON_VERSION = "{}.{}".format(*sys.version_info)

_MARKER = "complete"


# ------------------------------------------------------------------ the environment


def environment_dir(settings: Settings, server: Server) -> Path:
    """Return the folder of the environment that this recipe makes."""
    recipe = (
        PYTHON_VERSION,
        *server.requirements,
        "uninstall",
        *server.uninstall,
        "without dependencies",
        *server.without_dependencies,
    )
    digest = hashlib.sha256("\n".join(recipe).encode()).hexdigest()
    return settings.home / "envs" / f"llm-{digest[:12]}"


def python_of(environment: Path) -> Path:
    """Return the Python program of an environment."""
    return environment / "bin" / "python"


def is_complete(environment: Path) -> bool:
    """Tell whether `install` once reached its end here."""
    return (environment / _MARKER).is_file()


async def install(settings: Settings, server: Server, tell: Tell) -> Path:
    """Make the environment if it is not there yet, and return its Python.

    Raises ModelServerFailed with one sentence saying what is missing.
    """
    environment = environment_dir(settings, server)
    python = python_of(environment)
    if is_complete(environment):
        return python
    _check_disk(settings.home)
    steps = _Steps(log=settings.log_dir / "model-server-install.log", tell=tell)
    steps.begin()
    await _make_venv(environment, steps)
    await _install_requirements(python, server, steps)
    if server.uninstall:
        await steps.must((*_pip(python), "uninstall", "-y", *server.uninstall))
    for package in server.without_dependencies:
        await steps.must(_pip_install(python, "--no-deps", package))
    (environment / _MARKER).write_text("\n".join(server.requirements) + "\n", "utf-8")
    return python


def _check_disk(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(home).free
    if free < NEEDED_BYTES:
        raise ModelServerFailed(
            f"The model server needs {NEEDED_BYTES / 1e9:.0f} GB of disk and {home} has "
            f"{free / 1e9:.1f} GB free: free some, or move the box with {PREFIX}HOME."
        )


async def _make_venv(environment: Path, steps: _Steps) -> None:
    # Always run: over a whole environment it takes a second, and a killed one is mended by it.
    steps.tell("making a Python environment")
    if await steps.run((sys.executable, "-m", "venv", str(environment))):
        raise ModelServerFailed(
            f"{sys.executable} cannot make an environment ({steps.last_line}): install "
            "Python's venv module (on Debian and Ubuntu: apt install python3-venv)."
        )


async def _install_requirements(python: Path, server: Server, steps: _Steps) -> None:
    plain = _pip_install(python, *server.requirements)
    if await steps.run(plain) == 0:
        return
    torch = missing_cpu_torch(steps.tail)
    if torch is None or server.fallback_index is None:
        raise steps.failure()
    steps.tell(f"asking PyTorch's own index for {torch}")
    if await steps.run((*plain, "--extra-index-url", server.fallback_index)):
        raise ModelServerFailed(
            f"The model server needs {torch}, which neither pip's index nor "
            f"{server.fallback_index} gave for Python {PYTHON_VERSION}: name an "
            "index or a folder that holds it in PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS, and start "
            f"again ({steps.last_line})."
        )


def _pip(python: Path) -> tuple[str, ...]:
    return (str(python), "-m", "pip", "--no-input", "--disable-pip-version-check")


def _pip_install(python: Path, *what: str) -> tuple[str, ...]:
    return (*_pip(python), "install", "--progress-bar", "off", *what)


# ------------------------------------------------------------------ the model


async def provide_model(settings: Settings, llm: Llm, python: Path, tell: Tell) -> Path:
    """Return the folder (or file) that the server is given, converting it if need be.

    Raises WeightsRefused when it is missing or is not what the manifest pins.
    """
    match llm.weights:
        case PackagedWeights() as weights:
            return await _convert(settings, weights, python, tell)
        case FolderWeights() as weights:
            return _find(settings, weights, llm.shape)


def _find(settings: Settings, weights: FolderWeights, shape: Shape) -> Path:
    folder = settings.models_dir / weights.folder
    wanted = folder / (weights.file or "config.json")
    if not wanted.is_file():
        raise WeightsRefused(
            f"{wanted} is missing: put the files of {weights.repository} into {folder}; "
            "this box never fetches a model by itself."
        )
    if wrong := verify(folder, shape):
        raise WeightsRefused(
            f"{folder} is not the model of the manifest: {'; '.join(wrong[:3])}; "
            "`permitbox models verify` says all."
        )
    return folder if weights.file is None else wanted


async def _convert(settings: Settings, weights: PackagedWeights, python: Path, tell: Tell) -> Path:
    output = settings.models_dir / weights.folder
    if (output / "config.json").is_file():
        return output
    packages = python.parent.parent / "lib" / f"python{PYTHON_VERSION}" / "site-packages"
    gguf = packages / weights.module / weights.file
    tell(f"checking {weights.file}")
    await asyncio.to_thread(_check_digest, gguf, weights.sha256)
    tell(f"converting {weights.file}")
    output.parent.mkdir(parents=True, exist_ok=True)
    steps = _Steps(log=settings.log_dir / "model-server-convert.log", tell=tell)
    steps.begin()
    script = files("models").joinpath("convert_smollm2.py")
    await steps.must((str(python), str(script), str(output), str(gguf)))
    return output


def _check_digest(file: Path, sha256: str) -> None:
    try:
        with file.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise WeightsRefused(
            f"{file} cannot be read ({error.strerror}): remove {file.parents[4]} and start again."
        ) from error
    if found != sha256:
        raise WeightsRefused(
            f"{file} has sha256 {found[:12]}…, not the pinned {sha256[:12]}…: it is damaged or "
            f"another release; remove {file.parents[4]} and start again."
        )


# ------------------------------------------------------------------ running the steps


def clean_environ(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables that a child of ours may see.

    Ours hold secrets, and those that steer Python belong to the app's environment.
    """
    return {
        name: value
        for name, value in (os.environ if environ is None else environ).items()
        if not name.startswith((PREFIX, "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP"))
    }


@dataclass(slots=True, kw_only=True)
class _Steps:
    """Runs one program after the other: lines to a log, progress to whoever watches."""

    log: Path
    tell: Tell
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=20))

    def begin(self) -> None:
        """Start the log anew."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_bytes(b"")

    @property
    def last_line(self) -> str:
        """Return the line that best says why the last program failed."""
        errors = [line for line in self.tail if line.startswith("ERROR: ")]
        line = (errors or list(self.tail) or ["it said nothing"])[-1]
        # pip puts the conditions of a requirement behind it, which nobody asked about.
        return line.removeprefix("ERROR: ").partition("; ")[0].rstrip(".")

    async def run(self, program: Sequence[str]) -> int:
        """Run `program` to its end and return its exit status; cancelling ends it."""
        self.tail.clear()
        async with _running(program) as process:
            with self.log.open("ab", buffering=0) as log:
                async for raw in guard.lines(process):
                    log.write(raw)
                    self._hear(raw.decode("utf-8", "replace").strip())
            return await process.wait()

    async def must(self, program: Sequence[str]) -> None:
        """Run `program`; raises ModelServerFailed when it fails."""
        if await self.run(program):
            raise self.failure()

    def failure(self) -> ModelServerFailed:
        """Return the error of the program that failed last."""
        return ModelServerFailed(
            f"The model server could not be set up: {self.last_line}. "
            f"The whole output is in {self.log}; start again when that is mended."
        )

    def _hear(self, line: str) -> None:
        if line:
            self.tail.append(line)
        if words := progress_of(line):
            self.tell(words)


@asynccontextmanager
async def _running(program: Sequence[str]) -> AsyncIterator[asyncio.subprocess.Process]:
    # Unbuffered: else pip's lines come by the page, long after what they tell of.
    env = clean_environ() | {"PYTHONUNBUFFERED": "1"}
    process = await guard.spawn(program, env=env, output=asyncio.subprocess.PIPE, grace=PIP_GRACE)
    try:
        yield process
    finally:
        await guard.end(process, PIP_GRACE)


# ------------------------------------------------------------------ pip's words (pure)

_WHEEL = r"(?:\S*/)?(?P<name>[A-Za-z0-9_.]+?)-\d\S*\.(?:whl|tar\.gz|zip)"
_SIZE = r"\((?P<size>[\d.]+) (?P<unit>[kMG]?B)\)"
_DOWNLOADING = re.compile(rf"Downloading {_WHEEL}(?:\.metadata)? {_SIZE}")
_PROCESSING = re.compile(rf"Processing {_WHEEL}")
_COLLECTING = re.compile(r"Collecting (?P<name>[A-Za-z0-9_.-]+)")
_INSTALLING = re.compile(r"Installing collected packages: (?P<names>.+)")
_REMOVING = re.compile(r"Uninstalling (?P<name>[A-Za-z0-9_.-]+?)-\d\S*:")
_BUILDING = re.compile(r"Building wheel for (?P<name>\S+)")
_CHOOSING = re.compile(r"INFO: pip is looking at multiple versions of (?P<name>\S+)")
_NO_CPU_TORCH = re.compile(r"No matching distribution found for (?P<torch>torch==\S+\+cpu)\b")


def progress_of(line: str) -> str | None:
    """Return what a line of pip's output means to a person; None when nothing new."""
    if found := _DOWNLOADING.match(line):
        size = f"{float(found['size']):.0f} {found['unit']}"
        return f"downloading {_plain(found['name'])} {size}"
    if found := _INSTALLING.match(line):
        return f"unpacking {found['names'].count(',') + 1} packages"
    for pattern, words in (
        (_PROCESSING, "found {} on disk"),
        (_COLLECTING, "looking for {}"),
        (_REMOVING, "removing {}"),
        (_BUILDING, "building {}"),
        (_CHOOSING, "choosing a version of {}"),
    ):
        if found := pattern.match(line):
            return words.format(_plain(found["name"]))
    return None


def missing_cpu_torch(lines: Sequence[str]) -> str | None:
    """Return the CPU build of torch that pip did not find, e.g. "torch==2.13.0+cpu"."""
    for line in lines:
        if found := _NO_CPU_TORCH.search(line):
            return found["torch"]
    return None


def _plain(name: str) -> str:
    return name.replace("_", "-")
