"""What `build_board` writes is complete, small, and runs."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import dens.boards
from dens.boards.build import UnknownBoard, build_board, scaled_temperature, unmeasured
from dens.boards.built_folder import built
from dens.boards.recording import recorded_rows
from dens.boards.settings import board_settings
from dens.config.problems import DocumentError
from dens.config.refusal import Refusal
from knowledge_manager.dictionary.extract import PROTOCOLS, decode_extract
from knowledge_manager.mission_table import load_mission_table
from tests.dens.boards.install import cross_compiler
from watchdog.normalise import normal_byte

MAINS = Path(dens.boards.__file__).parent / "mains"
TABLE = load_mission_table(["weather"])
SETTINGS = board_settings(TABLE, "weather", ["temperature"], node=7, protocol="adc")


def test_a_board_with_folders_gets_the_package_and_its_listing(tmp_path: Path) -> None:
    written = build_board("pico", tmp_path, "0.1.0", SETTINGS)
    listing = json.loads((tmp_path / "package.json").read_text(encoding="utf-8"))
    assert listing["version"] == "0.1.0"
    listed = {tmp_path / name for name, _ in listing["urls"]}
    assert listed == set(written) - {
        tmp_path / name for name in ("package.json", "manifest.py", "board.json")
    }
    assert all(path.is_file() for path in written)
    assert tmp_path / "watchdog" / "watchdog.py" in listed


@pytest.mark.board
def test_a_board_with_folders_gets_compiled_modules(tmp_path: Path) -> None:
    written = build_board("esp32", tmp_path, "0.1.0", SETTINGS, mpy_cross=cross_compiler("1.29"))
    modules = [path for path in written if path.suffix == ".mpy"]
    assert len(modules) > 15
    assert all(path.read_bytes()[:2] == b"M\x06" for path in modules)
    assert list((tmp_path / "watchdog").glob("*.py")) == []


@pytest.mark.board
@pytest.mark.parametrize("board", ["esp32", "pico"])
def test_a_build_has_machine_code_of_its_chip_or_none(tmp_path: Path, board: str) -> None:
    """Everything else of the package is bytecode, and the same."""
    compiler = cross_compiler("1.29")
    modules = {}
    for kernels in ("native", "plain"):
        settings = replace(SETTINGS, kernels=kernels)
        written = build_board(board, tmp_path / kernels, "0", settings, mpy_cross=compiler)
        modules[kernels] = {path.name: path.read_bytes() for path in written if path.suffix == ".mpy"}
    assert build_board(board, tmp_path / "usual", "0", SETTINGS, mpy_cross=compiler)
    usual = {path.name: path.read_bytes() for path in (tmp_path / "usual" / "watchdog").iterdir()}
    assert usual == modules["native"]
    native = {name for name, content in usual.items() if content[2] >> 2}
    assert native == {"native_grader.mpy", "native_scan.mpy"}
    assert {usual[name][2] >> 2 for name in native} == {{"pico": 4, "esp32": 10}[board]}
    assert modules["plain"] == {name: usual[name] for name in usual if name not in native}


@pytest.mark.board
def test_a_compiler_that_refuses_is_quoted_and_nothing_is_written(tmp_path: Path) -> None:
    """The oldest one does not know the chip of an ESP32."""
    compiler = cross_compiler("1.9.2")
    compiler.chmod(0o755)
    with pytest.raises(DocumentError, match=r"cannot compile it, .*--kernels plain") as refused:
        build_board("esp32", tmp_path / "new", "0", SETTINGS, mpy_cross=compiler)
    assert [problem.code for problem in refused.value.problems] == ["D709"]
    assert not (tmp_path / "new").exists()


def test_an_unknown_board_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownBoard, match="esp32, microbit, pico"):
        build_board("toaster", tmp_path, "0.1.0", SETTINGS)
    assert list(tmp_path.iterdir()) == []


def test_no_file_of_a_micro_bit_is_larger_than_it_may_be(tmp_path: Path) -> None:
    written = build_board("microbit", tmp_path, "0.1.0", SETTINGS)
    sources = [path for path in written if path.suffix == ".py"]
    assert len(sources) > 3
    assert all(0 < path.stat().st_size <= 2560 for path in sources)
    for path in sources:
        compile(path.read_text(encoding="utf-8"), path.name, "exec")


def test_what_a_board_cannot_do_is_refused(tmp_path: Path) -> None:
    two = board_settings(TABLE, "weather", ["temperature", "humidity"], node=7)
    sealed = replace(board_settings(TABLE, "weather", ["temperature"], node=7), mission_key=b"x")
    for settings, says in ((two, "one attribute"), (sealed, "hashlib")):
        with pytest.raises(Refusal, match=says):
            build_board("microbit", tmp_path, "0.1.0", settings)
    with pytest.raises(Refusal, match=r"sensors\.py"):
        build_board("pico", tmp_path, "0.1.0", SETTINGS, readings=[bytes(8)])
    with pytest.raises(Refusal, match="is a word"):
        board_settings(TABLE, "weather", ["wind_direction"], node=7)
    with pytest.raises(Refusal, match="65000"):
        board_settings(TABLE, "weather", ["temperature"], node=65001)
    assert list(tmp_path.iterdir()) == []


def test_more_subscriptions_than_a_micro_bit_has_room_for_are_refused(tmp_path: Path) -> None:
    many = [bytes([number, 0, 100, 0, 0, 0xD0, 0, 255, 120, 2, 1]) for number in range(60)]
    with pytest.raises(Refusal, match=r"60 subscriptions take .* give it fewer"):
        build_board("microbit", tmp_path, "0.1.0", SETTINGS, subscriptions=many)
    assert list(tmp_path.iterdir()) == []


def test_more_subscriptions_than_a_pico_has_room_for_are_refused(tmp_path: Path) -> None:
    many = [
        bytes([saf, 0, 100, 0, 0, 0xD0, *[0, 255, 120] * saf.bit_count(), 2, saf]) for saf in range(1, 20)
    ]
    with pytest.raises(Refusal, match="room for 8 of these 19"):
        build_board("pico", tmp_path, "0.1.0", SETTINGS, subscriptions=many)
    build_board("pico", tmp_path, "0.1.0", SETTINGS, subscriptions=many[:8])


@pytest.mark.parametrize("board", ["microbit", "pico"])
def test_equal_ids_are_refused(tmp_path: Path, board: str) -> None:
    one = bytes([5, 0, 100, 0, 0, 0xD0, 0, 255, 120, 2, 1])
    with pytest.raises(Refusal, match="subscriptions 0 and 1 have the same id, 5"):
        build_board(board, tmp_path, "0.1.0", SETTINGS, subscriptions=[one, one])
    assert list(tmp_path.iterdir()) == []


def test_what_a_board_does_not_measure_is_known() -> None:
    vectors = [
        bytes([number, 0, 100, 0, 0, 0xD0, 0, 255, 120, event, attributes])
        for number, (event, attributes) in enumerate([(2, 1), (2, 2), (1, 1), (2, 129)])
    ]
    assert unmeasured(SETTINGS, vectors) == [1, 2]


def test_every_gauge_has_a_sensor(tmp_path: Path) -> None:
    settings = board_settings(TABLE, "weather", ["temperature", "humidity"], node=7)
    for board in ("pico", "esp32"):
        build_board(board, tmp_path / board, "0.1.0", settings)
        text = (tmp_path / board / "sensors.py").read_text(encoding="utf-8")
        assert text.endswith(
            "SENSORS = [\n    ChipTemperature(),  # temperature\n    Unconnected(),  # humidity\n]\n"
        )


def frozen(folder: Path) -> tuple[set[str], list[str]]:
    """Return what a manifest freezes: files, and packages of sources."""
    files: set[str] = set()
    packages: list[str] = []
    words = {
        "metadata": lambda **_: None,
        "package": packages.append,
        "module": files.add,
        "freeze_mpy": lambda path, names: files.update(str(Path(path) / name) for name in names),
    }
    exec((folder / "manifest.py").read_text(encoding="utf-8"), words)
    return files, packages


SCALED = load_mission_table(["fire"]).event("fire").attribute("air_temperature")


def test_a_scale_reaches_a_board_with_folders(tmp_path: Path) -> None:
    settings = board_settings(load_mission_table(["fire"]), "fire", ["air_temperature", "x"], node=7)
    build_board("pico", tmp_path, "0", settings)
    namespace: dict[str, object] = {}
    exec((tmp_path / "settings.py").read_text(encoding="utf-8"), namespace)
    assert namespace["GAUGES"] == [(0, -200, 10000, 1, SCALED.inner), (3, 0, 10000, 1)]
    assert SCALED.inner


def test_a_scale_is_worked_into_a_micro_bits_thermometer(tmp_path: Path) -> None:
    """The program for every degree that the chip can give, without the board around it."""
    source = (MAINS / "microbit_temperature.py").read_text(encoding="utf-8")
    body = scaled_temperature(source, SCALED).split("\n\n\n")[1]
    degrees = [0]
    row, mask, counts = bytearray(8), bytearray(1), bytearray(4)
    constants = {"ATTRIBUTE": 0, "SCALE": 10, "LOW": -200, "SPAN": 10200}
    namespace = {**constants, "row": row, "mask": mask, "counts": counts, "temperature": lambda: degrees[0]}
    exec(body, namespace)
    for degree in range(-60, 1100):
        degrees[0] = degree
        counts[0] = 0
        assert namespace["read"]() is True  # type: ignore[operator]
        assert row[0] == normal_byte(10 * degree, -200, 10000, SCALED.inner)
        assert counts[0] == (not -20 <= degree <= 1000)


def test_a_board_without_a_scale_is_none_the_larger(tmp_path: Path) -> None:
    build_board("microbit", tmp_path / "plain", "0", SETTINGS)
    programs = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "plain").glob("*.py"))
    assert programs.count("510*") == 1
    assert "inner" not in programs


@pytest.mark.board
def test_the_manifest_freezes_what_is_there(tmp_path: Path) -> None:
    subscription = bytes([1, 0, 100, 0, 0, 0xD0, 0, 255, 120, 2, 1])
    build_board("pico", tmp_path / "source", "0", SETTINGS)
    programs = {"bus_sensors.py", "main.py", "sensors.py", "settings.py"}
    assert frozen(tmp_path / "source") == (programs, ["watchdog"])
    folder = tmp_path / "compiled"
    compiler = cross_compiler("1.29")
    written = build_board("pico", folder, "0", SETTINGS, mpy_cross=compiler, subscriptions=[subscription])
    files, packages = frozen(folder)
    assert packages == []
    there = {str(path.relative_to(folder)) for path in written if path.suffix in (".py", ".mpy")}
    assert files == there - {"manifest.py"}
    assert "subscriptions.bin cannot be frozen" in (folder / "manifest.py").read_text(encoding="utf-8")


def test_a_board_announces_how_its_sensors_are_read() -> None:
    for protocol in ("pin", "i2c", "adc", "spi", "serial"):
        settings = board_settings(TABLE, "weather", ["temperature"], node=7, protocol=protocol)
        (source,) = decode_extract(settings.extract, TABLE).sources
        assert PROTOCOLS[source.protocol] == protocol
    with pytest.raises(Refusal, match=r'reads nothing by protocol "i2" .*; did you mean "i2c"\?'):
        board_settings(TABLE, "weather", ["temperature"], node=7, protocol="i2")


def test_what_the_owner_edited_is_kept_by_later_builds(tmp_path: Path) -> None:
    other = board_settings(TABLE, "weather", ["temperature"], node=8)
    build_board("pico", tmp_path, "0", SETTINGS)
    build_board("pico", tmp_path, "0", other)
    assert "NODE = 8" in (tmp_path / "settings.py").read_text(encoding="utf-8")
    assert not (tmp_path / "settings.py.new").exists()
    mine = (tmp_path / "settings.py").read_text(encoding="utf-8").replace("NETWORK = ''", "NETWORK = 'home'")
    (tmp_path / "settings.py").write_text(mine, encoding="utf-8")
    for _ in range(2):
        written = build_board("pico", tmp_path, "0", SETTINGS)
        assert (tmp_path / "settings.py").read_text(encoding="utf-8") == mine
        assert tmp_path / "settings.py.new" in written
        assert "NODE = 7" in (tmp_path / "settings.py.new").read_text(encoding="utf-8")
        assert "settings.py.new" not in built(tmp_path)["files"]
        assert not (tmp_path / "sensors.py.new").exists()
    build_board("microbit", tmp_path, "0", SETTINGS)
    assert (tmp_path / "settings.py").read_text(encoding="utf-8") == mine
    assert not (tmp_path / "sensors.py").exists()


@pytest.mark.parametrize(
    "name", ["../mine.txt", "watchdog/../../mine.txt", "ABSOLUTE", "link/mine.txt", "c:x"]
)
@pytest.mark.parametrize("place", ["files", "beside"])
def test_nothing_outside_of_the_folder_is_removed(tmp_path: Path, name: str, place: str) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("mine", encoding="utf-8")
    folder = tmp_path / "built"
    build_board("pico", folder, "0", SETTINGS)
    (folder / "link").symlink_to(tmp_path)
    facts = json.loads((folder / "board.json").read_text(encoding="utf-8"))
    facts[place].append(str(mine) if name == "ABSOLUTE" else name)
    (folder / "board.json").write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(Refusal, match="is not in"):
        build_board("pico", folder, "0", SETTINGS)
    with pytest.raises(Refusal, match="is not in"):
        built(folder)
    assert mine.read_text(encoding="utf-8") == "mine"
    assert (folder / "main.py").is_file()


@pytest.mark.parametrize(
    "text",
    ["{", "", "[]", "3", "null", '{"files": 1}', "\ud800", "[" * 100_000,
     '{"board": "pico", "node": 1, "table_check": 1, "files": [3], "beside": []}',
     '{"board": "pico", "node": 1, "table_check": 1, "files": "ab", "beside": []}',
     '{"board": "pico", "node": 1, "table_check": 1, "files": [], "beside": [], "made": 3}'],
    ids=range(11),
)  # fmt: skip
def test_damaged_listing_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / "board.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(Refusal, match="damaged"):
        build_board("microbit", tmp_path, "0", SETTINGS)
    with pytest.raises(Refusal, match="damaged"):
        built(tmp_path)


def test_a_recording_is_read_as_a_board_would_and_its_faults_are_counted(tmp_path: Path) -> None:
    recording = tmp_path / "r.csv"
    recording.write_text(
        "time,temperature,humidity\n1,20.00,50\n2,99.00,x\n3,20\n4,-40.00,100.00\n", encoding="utf-8"
    )
    settings = board_settings(TABLE, "weather", ["temperature", "humidity"], node=7)
    recorded = recorded_rows(recording, settings)
    assert [row.hex() for row in recorded.rows] == [
        "0399800000000000",
        "01ff000000000000",
        "0300ff0000000000",
    ]
    assert (recorded.broken, recorded.missing, recorded.clipped) == (1, 1, 1)
    for text, says in (
        ("time,temperature\n", "it contains no reading"),
        ("time,temperature\n1,warm\n2,\n", "none of its lines has a number for temperature, humidity"),
    ):
        recording.write_text(text, encoding="utf-8")
        with pytest.raises(DocumentError, match=f"D711: {says}"):
            recorded_rows(recording, settings)


@pytest.mark.parametrize("count", [999, 1000, 1001])
def test_a_recording_is_cut_where_a_board_holds_no_more(tmp_path: Path, count: int) -> None:
    recording = tmp_path / "r.csv"
    recording.write_text("temperature\n" + "20.00\n" * count, encoding="utf-8")
    recorded = recorded_rows(recording, SETTINGS)
    assert (len(recorded.rows), recorded.is_cut) == (min(count, 1000), count > 1000)
