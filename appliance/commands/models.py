"""`permitbox models`: which models the profiles run, whether their files are right, and how they come in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from appliance.commands.options import Json, ProfileName, err, out, print_json, profile_of
from appliance.errors import WeightsRefused
from appliance.serving.weights import Copying, bring_in, folder_of, verify
from appliance.settings import Settings, read_settings
from models.manifest import FolderWeights, Profile, read_manifest
from models.shapes import GIB

app = typer.Typer(help="The models of the hardware profiles and their files.", no_args_is_help=True)


@app.command("list")
def list_command(as_json: Json = False) -> None:
    """List the profiles with their models, and which of them are here."""
    settings = read_settings()
    rows = [_row(settings, profile) for profile in read_manifest().profiles]
    if as_json:
        print_json({"profiles": rows})
        return
    for row in rows:
        mark = "*" if row["chosen"] else " "
        out.print(
            f"{mark} {row['profile']:<18} {row['llm']:<24} {row['encoder']:<24} {row['files']}",
            markup=False,
        )


def _row(settings: Settings, profile: Profile) -> dict[str, Any]:
    weights = profile.llm.weights
    return {
        "profile": profile.name,
        "title": profile.title,
        "chosen": profile.name == settings.profile,
        "verified": profile.verified,
        "llm": profile.llm.served_name,
        "licence": profile.llm.licence,
        "weight_bytes": profile.llm.shape.weight_bytes,
        "encoder": profile.encoder.name,
        "reranker": profile.reranker.name if profile.reranker else None,
        "from": weights.repository if isinstance(weights, FolderWeights) else weights.package,
        "folder": str(folder_of(settings, profile)),
        "files": _state(settings, profile),
    }


def _state(settings: Settings, profile: Profile) -> str:
    folder = folder_of(settings, profile)
    if not folder.exists():
        return "not here"
    return "wrong: permitbox models verify" if verify(folder, profile.llm.shape) else "here"


@app.command("verify")
def verify_command(profile: ProfileName = None, as_json: Json = False) -> None:
    """Check the files of a profile's language model; exit 1 if a server must not be given them."""
    chosen, settings = profile_of(profile), read_settings()
    folder = folder_of(settings, chosen)
    wrong = verify(folder, chosen.llm.shape)
    if as_json:
        print_json({"profile": chosen.name, "folder": str(folder), "wrong": wrong})
    else:
        for each in wrong or [f"{folder}: what the manifest means"]:
            out.print(each, markup=False)
    if wrong:
        raise typer.Exit(1)


@app.command("import")
def import_command(
    folder: Annotated[Path, typer.Argument(help="The folder of the files, on a stick say.")],
    profile: ProfileName = None,
) -> None:
    """Take a model's files into this box, whole or not at all."""
    chosen = profile_of(profile)
    try:
        target = bring_in(read_settings(), chosen, folder, _tell)
    except OSError as error:
        raise WeightsRefused(f"{folder} cannot be copied: {error.strerror or error}.") from error
    out.print(f"{chosen.llm.served_name} is in {target}.", markup=False)


def _tell(copying: Copying) -> None:
    share = 100 * copying.done // max(copying.total, 1)
    err.print(
        f"copying {copying.file}  {copying.done / GIB:.2f}/{copying.total / GIB:.2f} GiB  {share} %",
        markup=False,
    )
