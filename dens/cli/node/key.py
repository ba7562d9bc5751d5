"""`dens key`: creates, derives and shows the keys of a mission, its nodes and its subscribers."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dens.cli.options import AsJson
from dens.overlay.wire.codes import LAST_NODE

if TYPE_CHECKING:
    from dens.node.keys import Key

app = typer.Typer(
    no_args_is_help=True,
    help="Create, derive and show keys.",
)

NewFile = Annotated[
    Path, typer.Option("--out", "-o", metavar="FILE", help="File for the key; never overwritten.")
]


class RoleName(StrEnum):
    """Roles of nodes."""

    SUBSCRIBER = "subscriber"
    MEDIATOR = "mediator"
    PUBLISHER = "publisher"


Secret = Annotated[
    bool, typer.Option("--secret", help="Print the secret line too. Anyone who reads it has the key.")
]


@app.command()
def new(
    out: NewFile,
    subscriber: Annotated[
        int | None,
        typer.Option(
            metavar="NODE",
            min=0,
            max=LAST_NODE,
            help="Create the signing key of this subscriber instead of a mission key.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create the key of a mission, or the signing key of a subscriber."""
    from dens.node.keys import new_mission_key, new_signing_key, write_key

    key = new_mission_key() if subscriber is None else new_signing_key(subscriber)
    write_key(key, out)
    _show(key, out, is_secret_shown=False, as_json=as_json)


@app.command()
def derive(
    key: Annotated[
        Path, typer.Argument(metavar="KEY", help="A mission key, or the signing key of a subscriber.")
    ],
    out: NewFile,
    node: Annotated[
        int | None,
        typer.Option(
            metavar="NODE",
            min=0,
            max=LAST_NODE,
            help="Node whose key to derive from the mission key.",
            show_default=False,
        ),
    ] = None,
    role: Annotated[
        RoleName | None,
        typer.Option(help="Role of this node; the key is valid in this role only.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Derive the key of a node from a mission key, or the public key from a signing key."""
    from dens.node.keys import ROLES, read_key, write_key
    from dens.node.keys import derive as derived

    source = read_key(key)
    _warn_if_readable(source, key)
    made = derived(source, node, None if role is None else ROLES[role.value])
    write_key(made, out)
    _show(made, out, is_secret_shown=False, as_json=as_json)


@app.command()
def show(
    key: Annotated[Path, typer.Argument(metavar="KEY", help="File of the key.")],
    secret: Secret = False,
    as_json: AsJson = False,
) -> None:
    """Show the kind and the fingerprint of a key, without its secret."""
    from dens.node.keys import read_key

    _show(read_key(key), key, is_secret_shown=secret, as_json=as_json)


def _warn_if_readable(key: "Key", path: Path) -> None:
    from dens.cli import console
    from dens.node.keys import is_private

    if not is_private(key, path):
        console.say(f"{path} can be read by others; protect it: chmod 600 {path}", style="yellow")


def _show(key: "Key", path: Path, *, is_secret_shown: bool, as_json: bool) -> None:
    from dens.cli import console
    from dens.node.keys import describe

    facts: dict[str, str | int] = {"file": str(path), **describe(key)}
    if is_secret_shown:
        facts["secret"] = key.as_line().strip()
    _warn_if_readable(key, path)
    if as_json:
        console.print_document(facts)
        return
    for name, value in facts.items():
        typer.echo(f"{name}: {value}")
