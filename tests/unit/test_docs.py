"""The documents cannot lie: every command, setting and metric has a heading, and names are real."""

from __future__ import annotations

import re
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from appliance.cli import _mount, app
from appliance.metrics import Metrics
from appliance.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def headings(name: str) -> set[str]:
    text = (DOCS / name).read_text("utf-8")
    return {h.strip() for h in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def commands() -> set[str]:
    whole = typer.Typer()
    whole.registered_commands = list(app.registered_commands)
    whole.registered_groups = list(app.registered_groups)
    _mount(whole)
    return set(get_command(whole).commands)  # type: ignore[attr-defined]


def test_every_command_has_a_heading() -> None:
    missing = {f"permitbox {name}" for name in commands()} - headings("commands.md")
    assert not missing


def test_every_heading_of_a_command_is_a_command() -> None:
    named = {
        h.removeprefix("permitbox ") for h in headings("commands.md") if h.startswith("permitbox ")
    }
    assert named == commands()


def test_every_setting_has_a_heading_and_every_heading_is_a_setting() -> None:
    known = {PREFIX + f.name.upper() for f in fields(Settings)}
    assert {h for h in headings("settings.md") if h.startswith(PREFIX)} == known


def test_every_metric_has_a_heading() -> None:
    text = Metrics().exposition([], model_ready=False).decode()
    exposed = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
    # A counter's or histogram's time of creation is a companion, not a metric of ours.
    exposed = {name for name in exposed if not name.endswith("_created")}
    assert exposed == {h for h in headings("metrics.md") if h.startswith("permitbox_")}


def test_the_readme_names_only_files_that_are_there() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    tree = re.search(r"```\n(appliance/.*?)```", text, re.DOTALL)
    assert tree, "the README shows the tree"
    folder = Path()
    for line in tree[1].splitlines():
        name, _, _ = line.strip().partition("  ")
        if not line.startswith(" "):
            folder = Path(name)
            assert (ROOT / folder).exists(), name
        else:
            assert (ROOT / folder / name).exists(), f"{folder}/{name}"


@pytest.mark.parametrize("document", sorted(p.name for p in DOCS.glob("*.md")))
def test_links_between_documents_lead_somewhere(document: str) -> None:
    text = (DOCS / document).read_text("utf-8")
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert (DOCS / target).exists(), f"{document} -> {target}"


def test_the_top_level_is_what_the_readme_says() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    if not listed:
        pytest.skip("not a git checkout")
    top = {p.split("/", 1)[0] for p in listed}
    assert top == {
        *("pyproject.toml", "README.md", "appliance", "models", "compose", "ansible", "benchmarks"),
        *("scrapers", "eval", "tests", "Makefile", "CHANGELOG.md", "LICENSE", "CONTRIBUTING.md"),
        *("docs", ".ci", ".gitignore"),
    }
