"""`dens key`: make, derive and look at the keys of a mission, its nodes and its subscribers."""

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
    help="Make, derive and look at keys (--json on each). Secrets go into files that only you can read.",
)

NewFile = Annotated[
    Path, typer.Option("--out", "-o", metavar="FILE", help="Where the key goes; a file is never overwritten.")
]


class RoleName(StrEnum):
    """The roles of nodes, as words of the command line."""

    SUBSCRIBER = "subscriber"
    MEDIATOR = "mediator"
    PUBLISHER = "publisher"


Secret = Annotated[
    bool, typer.Option("--secret", help="Print the secret line too. Whoever reads it has the key.")
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
            help="Make the signing key of this subscriber; the mission's secret if absent.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a new secret: a mission's, or the one with which a subscriber signs."""
    from dens.node.keys import new_mission_key, new_signing_key, write_key

    key = new_mission_key() if subscriber is None else new_signing_key(subscriber)
    write_key(key, out)
    _show(key, out, is_secret_shown=False, as_json=as_json)


@app.command()
def derive(
    key: Annotated[
        Path, typer.Argument(metavar="KEY", help="A mission's key, or a subscriber's signing key.")
    ],
    out: NewFile,
    node: Annotated[
        int | None,
        typer.Option(
            metavar="NODE",
            min=0,
            max=LAST_NODE,
            help="Node whose key to derive from the mission's.",
            show_default=False,
        ),
    ] = None,
    role: Annotated[
        RoleName | None,
        typer.Option(help="Role of this node: its key works in no other.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Derive the key of a node in a role from the mission's, or the public key from a signing one."""
    from dens.node.keys import ROLES, read_key, write_key
    from dens.node.keys import derive as derived

    source = read_key(key)
    _warn_if_readable(source, key)
    made = derived(source, node, None if role is None else ROLES[role.value])
    write_key(made, out)
    _show(made, out, is_secret_shown=False, as_json=as_json)


@app.command()
def show(
    key: Annotated[Path, typer.Argument(metavar="KEY", help="A file with a key.")],
    secret: Secret = False,
    as_json: AsJson = False,
) -> None:
    """Say what a key is and by which fingerprint people compare it, without its secret."""
    from dens.node.keys import read_key

    _show(read_key(key), key, is_secret_shown=secret, as_json=as_json)


def _warn_if_readable(key: "Key", path: Path) -> None:
    from dens.cli import console
    from dens.node.keys import is_private

    if not is_private(key, path):
        console.say(f"{path} can be read by others; make it yours alone: chmod 600 {path}", style="yellow")


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
    for name, said in facts.items():
        typer.echo(f"{name}: {said}")
