"""`dens publish`: what somebody knows, as a document, told to a DENS node."""

from pathlib import Path
from typing import Annotated

import typer

from dens.cli.node.node import LONGEST_S, AsLines, Number, Recover, Store
from dens.cli.options import NodeAt


def publish(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="DOCUMENT…", help="What to tell: publications, or folders of them."),
    ],
    node: Annotated[
        Path, typer.Option(metavar="NODE.toml", help="The file of the DENS node that is told.")
    ] = Path("node.toml"),
    number: Number = 65_003,
    at: NodeAt = None,
    store: Store = None,
    recover: Recover = False,
    wait: Annotated[
        float,
        typer.Option(
            min=0,
            max=LONGEST_S,
            metavar="S",
            help="How long to wait for the node, and for somebody who asks.",
        ),
    ] = 10.0,
    anyway: Annotated[
        bool,
        typer.Option(
            "--anyway",
            metavar="",
            help="Publish it though nobody has asked here; it is carried to whoever did elsewhere.",
        ),
    ] = False,
    as_json: AsLines = False,
) -> None:
    """Publish documents at a DENS node: each goes to whoever asks for it, once.

    Nothing is sent unless all of them are good. Ends 1 when nobody asked for one of them in time, when the
    DENS node has not taken all that was published (the rest waits in the store), and when it never answered.
    """
    from dens.cli.publishing import publish_documents

    publish_documents(
        files,
        node,
        number=number,
        at=at,
        store=store,
        recover=recover,
        wait=wait,
        anyway=anyway,
        as_json=as_json,
    )
