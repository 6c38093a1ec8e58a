"""`permitbox doctor`: is this machine fit to be a box, and what mends what is not?"""

from __future__ import annotations

import os
from dataclasses import asdict

import typer

from appliance.commands.options import Json, out, print_json, profile_of
from appliance.doctor import Finding, examine
from appliance.settings import read_settings

_STYLES = {"ok": "green", "note": "yellow", "fix": "bold red"}


def doctor_command(as_json: Json = False) -> None:
    """Look at Python, disk, memory, database, models, ports and clock; exit 1 if something must be mended."""
    findings = list(examine(read_settings(), profile_of(None), os.environ))
    if as_json:
        print_json({"ok": _sound(findings), "findings": [asdict(f) for f in findings]})
    else:
        for one in findings:
            _show(one)
    if not _sound(findings):
        raise typer.Exit(1)


def _sound(findings: list[Finding]) -> bool:
    return all(f.state != "fix" for f in findings)


def _show(one: Finding) -> None:
    out.print(f"{one.state:<5}", style=_STYLES[one.state], end="")
    out.print(f"{one.name:<11} {one.says}", markup=False)
    if one.fix is not None:
        out.print(f"                 {one.fix}", style="dim", markup=False)
