"""The program of Pico W and ESP32: its types against the boards' stubs, its life with a bad network."""

import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dens.boards.build import build_board
from dens.boards.local_mission import MEDIATOR, LocalMission, RequestedSubscription
from dens.boards.settings import board_settings
from dens.overlay.events import MessageAcknowledged, NotificationDelivered
from dens.overlay.wire.codes import MessageType
from knowledge_manager.mission_table import load_mission_table
from tests.dens.boards.install import FOLDER
from tests.paths import ROOT
from watchdog.gauge import Gauge
from watchdog.sources import MemorySource

TABLE = load_mission_table(["weather"])
NODE = 9
MAINS = ROOT / "dens" / "boards" / "mains"
WARM = bytes([1, 0, 100, 0, 0, 0xD0, 100, 180, 120, 2, 1])
STUBS = {"pico": "rp2", "esp32": "esp32"}

CONFIGURATION = """[mypy]
mypy_path = {stubs}:{folder}
custom_typeshed_dir = {stubs}
no_site_packages = true
python_version = 3.11
platform = linux
follow_imports = silent
follow_imports_for_stubs = true
strict = true
cache_dir = {folder}/cache
"""


@pytest.mark.board
@pytest.mark.parametrize("board", sorted(STUBS))
def test_the_program_fits_the_types_of_its_board(board: str, tmp_path: Path) -> None:
    stubs = FOLDER / STUBS[board]
    assert (stubs / "machine.pyi").is_file(), "run tests/dens/boards/install.py"
    settings = board_settings(TABLE, "weather", ["temperature"], node=NODE)
    build_board(board, tmp_path, "0", settings)
    configuration = tmp_path / "mypy.ini"
    configuration.write_text(CONFIGURATION.format(stubs=stubs, folder=tmp_path), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", str(configuration)]
    # What is named is judged; only the stubs themselves, which are not ours, are followed in silence.
    programs = ["main.py", "settings.py", "sensors.py", "bus_sensors.py"]
    programs += sorted(str(path.relative_to(tmp_path)) for path in (tmp_path / "watchdog").glob("*.py"))
    assert len(programs) > 30

    def checked() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *programs], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    done = checked()
    assert done.returncode == 0, done.stdout
    right = (tmp_path / "main.py").read_text(encoding="utf-8")
    wrong = right.replace("self.radio.isconnected()", "self.radio.is_connected()")
    (tmp_path / "main.py").write_text(wrong, encoding="utf-8")
    assert "attr-defined" in checked().stdout
    (tmp_path / "main.py").write_text(right, encoding="utf-8")
    pool = tmp_path / "watchdog" / "pool.py"
    pool.write_text(pool.read_text(encoding="utf-8").replace("found[1] += 1", 'found[1] += "1"'))
    assert "watchdog/pool.py" in checked().stdout


class Hardware:
    """What stands in for the chip: pins, the watchdog timer, the radio, the time."""

    def __init__(self) -> None:
        self.is_up = True
        self.asked = 0
        self.light = 0
        self.fed = 0
        self.started = 0
        self.now_ms = 0
        self.temperature: str | None = "20.00"
        self.reads = 0
        self.is_on = False

    def modules(self) -> dict[str, ModuleType]:
        chip = self

        class Pin:
            OUT = 1

            def __init__(self, *_: Any) -> None:
                pass

            def value(self, on: int) -> None:
                chip.light = on

        class WDT:
            def __init__(self, timeout: int) -> None:
                chip.started += 1
                assert timeout <= 8388  # the most that an RP2040 can

            def feed(self) -> None:
                chip.fed += 1

        class WLAN:
            def __init__(self, *_: Any) -> None:
                pass

            def active(self, *_: Any) -> None:
                pass

            def isconnected(self) -> bool:
                return chip.is_up

            def connect(self, *_: Any) -> None:
                chip.asked += 1

        class Sensor:
            def start(self) -> None:
                if chip.temperature == "unplugged":
                    raise OSError(19)
                chip.is_on = True

            def stop(self) -> None:
                chip.is_on = False

            def read(self) -> str | None:
                assert chip.is_on
                chip.reads += 1
                if chip.temperature == "broken":
                    raise OSError(5)
                return chip.temperature

        machine, network, sensors = (ModuleType(name) for name in ("machine", "network", "sensors"))
        vars(machine).update(Pin=Pin, WDT=WDT)
        vars(network).update(WLAN=WLAN, STA_IF=0)
        vars(sensors).update(SENSORS=[Sensor()])
        return {"machine": machine, "network": network, "sensors": sensors}


class Life:
    """A board's program and a DENS node with a subscriber, each at an end of a real UDP socket."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        key: bytes | None = None,
        wanted: bytes = WARM,
        protocol: str = "adc",
    ) -> None:
        self.chip = Hardware()
        self.here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.here.bind(("127.0.0.1", 0))
        self.here.setblocking(False)
        for name, module in self.chip.modules().items():
            monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.setattr(time, "ticks_ms", lambda: self.chip.now_ms, raising=False)
        monkeypatch.setattr(time, "ticks_diff", lambda a, b: a - b, raising=False)
        monkeypatch.chdir(folder)
        settings = board_settings(TABLE, "weather", ["temperature"], node=NODE, protocol=protocol)
        settings = replace(settings, mission_key=key)
        build_board("pico", folder / "built", "0", settings)
        for name in ("settings", "main"):
            spec = importlib.util.spec_from_file_location(name, folder / "built" / (name + ".py"))
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            monkeypatch.setitem(sys.modules, name, module)
            spec.loader.exec_module(module)
            if name == "settings":
                module.MEDIATOR = self.here.getsockname()
                module.PORT = 0
        self.main = module
        self.board = module.Board()
        self.key = key
        self.desk = LocalMission(TABLE, NODE, [RequestedSubscription(wanted)], 0, mission_key=key)
        self.desk.mediator.contact_opened(NODE, 0)
        self.refusals: list[str | None] = []
        self.address: Any = None
        self.delivered: list[bytes] = []

    def pass_time(self, for_ms: int) -> None:
        end_ms = self.chip.now_ms + for_ms
        while self.chip.now_ms < end_ms:
            self.chip.now_ms += 20
            self.board.turn()
            while True:
                try:
                    data, self.address = self.here.recvfrom(2000)
                except OSError:
                    break
                self.desk.mediator.receive(data, NODE, self.chip.now_ms)
            for number, machine in ((MEDIATOR, self.desk.mediator), (0, self.desk.subscriber)):
                timer = machine.next_timer_ms()
                if timer is not None and timer <= self.chip.now_ms:
                    machine.timer_due(self.chip.now_ms)
                for out in machine.datagrams_to_send(self.chip.now_ms):
                    if out.peer == NODE:
                        if self.address and self.chip.is_up:
                            self.here.sendto(out.data, self.address)
                    elif number == MEDIATOR:
                        self.desk.subscriber.receive(out.data, MEDIATOR, self.chip.now_ms)
                    else:
                        self.desk.mediator.receive(out.data, self.desk.subscriber.node, self.chip.now_ms)
                while (event := machine.next_event()) is not None:
                    if isinstance(event, NotificationDelivered):
                        self.delivered.append(event.item.payload)
                    elif isinstance(event, MessageAcknowledged) and event.item.type == MessageType.INSTALL:
                        self.refusals.append(event.reason)

    def close(self) -> None:
        self.here.close()
        self.board.forget_socket()


@pytest.fixture(params=[None, b"mission"], ids=["open", "sealed"])
def life(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Life]:
    made = Life(tmp_path, monkeypatch, request.param)
    yield made
    made.close()


def test_a_reading_reaches_the_subscriber_and_the_light_is_on(life: Life) -> None:
    life.pass_time(3000)
    assert len(life.delivered) >= 2
    assert {vector[6] for vector in life.delivered} == {153}  # 20 °C of -40..60
    assert life.chip.light == 1


def test_it_comes_back_after_an_outage_and_sends_what_it_measured_meanwhile(life: Life) -> None:
    life.pass_time(3000)
    before = len(life.delivered)
    life.chip.is_up = False
    life.chip.temperature = "25.00"
    life.pass_time(25_000)
    assert (life.chip.asked, len(life.delivered)) == (3, before)
    assert life.board.socket is None
    life.chip.is_up = True
    life.pass_time(5000)
    assert {vector[6] for vector in life.delivered[before:]} == {166}
    assert len(life.delivered) - before > 20


def test_restarted_mediator_is_found_again(life: Life) -> None:
    life.pass_time(3000)
    life.desk = LocalMission(
        TABLE, NODE, [RequestedSubscription(WARM)], life.chip.now_ms, mission_key=life.key
    )
    life.desk.mediator.contact_opened(NODE, life.chip.now_ms)
    life.delivered.clear()
    life.pass_time(30_000)
    assert len(life.delivered) > 5


def test_sensors_that_fail_are_counted_and_the_board_goes_on(life: Life) -> None:
    life.pass_time(2000)
    counters = life.board.guard.counters
    life.chip.temperature = "broken"
    life.pass_time(2000)
    assert counters["missing"] >= 2
    life.chip.temperature = "999"
    life.pass_time(2000)
    assert counters["clipped"] >= 2
    life.chip.temperature = "20.00"
    before = len(life.delivered)
    life.pass_time(3000)
    assert len(life.delivered) > before


def test_garbage_from_the_network_is_counted(life: Life) -> None:
    life.pass_time(1000)
    for noise in (b"", b"x", b"\x20\x01" + bytes(40), bytes(200)):
        life.here.sendto(noise, life.address)
    life.pass_time(1000)
    assert life.board.publisher.refused >= 3
    before = len(life.delivered)
    life.pass_time(3000)
    assert len(life.delivered) > before


def test_the_loop_survives_whatever_is_raised(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = iter([None, ValueError("planted"), MemoryError(), None])

    class Enough(BaseException):
        pass

    def turn() -> None:
        try:
            outcome = next(turns)
        except StopIteration:
            raise Enough from None
        if outcome is not None:
            raise outcome

    monkeypatch.setattr(life.board, "turn", turn)
    starts: list[int] = []

    def sleep_ms(ms: int) -> None:
        starts.append(life.chip.started)
        life.chip.now_ms += 6000

    monkeypatch.setattr(time, "sleep_ms", sleep_ms, raising=False)
    with pytest.raises(Enough):
        life.board.run()
    assert life.board.failures == 2
    assert starts == [0, 0, 0, 1]  # the first 15 seconds can be interrupted
    assert life.chip.fed == 1


def test_sensors_are_read_only_while_subscribed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    briefly = bytes([1, 0, 24, *WARM[3:]])  # eight seconds
    life = Life(tmp_path, monkeypatch, wanted=briefly)
    life.chip.is_up = False
    life.pass_time(3000)
    assert (life.chip.is_on, life.chip.reads) == (False, 0)
    life.chip.is_up = True
    life.pass_time(4000)
    assert life.chip.is_on
    assert life.chip.reads >= 2
    life.pass_time(8000)
    assert not life.chip.is_on
    before = life.chip.reads
    life.pass_time(5000)
    assert life.chip.reads == before
    life.close()


@pytest.mark.parametrize(
    ("protocol", "temperature", "message"),
    [("file", "20.00", "unknown_source"), ("i2c", "unplugged", "source_failed"), ("i2c", "20.00", None)],
)
def test_the_mediator_hears_why_a_source_does_not_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    protocol: str,
    temperature: str,
    message: str | None,
) -> None:
    life = Life(tmp_path, monkeypatch, protocol=protocol)
    life.chip.temperature = temperature
    life.pass_time(3000)
    assert set(life.refusals) == {message}
    assert (life.board.guard.interested() == 0) == (message is not None)
    assert ("dens: source 0, start: 19" in capsys.readouterr().out) == (message == "source_failed")
    life.close()


def test_sources_of_its_owner_come_before_those_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = Life(tmp_path, monkeypatch, protocol="file")
    assert life.board.environment.pairs == [(2, 0)]
    source = MemorySource(1, [Gauge(0, -4000, 6000)], [{0: "20.00"}] * 5, {"clipped": 0, "missing": 0})
    sys.modules["sensors"].SOURCES = {(2, 0): lambda number: source}  # type: ignore[attr-defined]
    life.board = life.main.Board()
    life.pass_time(6000)
    assert source.number == 5
    assert life.refusals == [None]
    assert len(life.delivered) == 5
    life.close()


def test_sensors_on_buses_are_missing_until_they_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    there: list[bytearray] = []
    registers = {(72, 0): b"\xe7\x00", (72, 1): b"\x19\x20"}

    class Ds:
        def __init__(self, bus: object) -> None:
            self.converted = 0

        def scan(self) -> list[bytearray]:
            return there

        def convert_temp(self) -> None:
            self.converted += 1

        def read_temp(self, device: bytearray) -> float:
            assert self.converted
            return 21.5

    class I2c:
        def readfrom_mem(self, address: int, register: int, length: int) -> bytes:
            if (address, register) not in registers:
                raise OSError(5)
            return registers[address, register]

    class Adc:
        def __init__(self, pin: object) -> None:
            pass

        def read_u16(self) -> int:
            return 32768

    fakes = {name: ModuleType(name) for name in ("onewire", "ds18x20", "machine")}
    vars(fakes["onewire"]).update(OneWire=lambda pin: pin)
    vars(fakes["ds18x20"]).update(DS18X20=Ds)
    vars(fakes["machine"]).update(ADC=Adc, I2C=I2c, Pin=int)
    for name, module in fakes.items():
        monkeypatch.setitem(sys.modules, name, module)
    spec = importlib.util.spec_from_file_location("bus_sensors", MAINS / "bus_sensors.py")
    assert spec is not None
    assert spec.loader is not None
    buses = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(buses)

    warmth = buses.OneWireTemperature(4)
    with pytest.raises(OSError, match="no DS18B20"):
        warmth.start()
    there.append(bytearray(8))
    warmth.start()
    assert [warmth.read(), warmth.read()] == [None, 21.5]
    bus = I2c()
    assert buses.I2cRegister(bus, 72, 0, 125, 5).read() == "-25.000"
    assert buses.I2cRegister(bus, 72, 1, 125, 5).read() == "25.125"
    with pytest.raises(OSError, match="5"):
        buses.I2cRegister(bus, 73, 0, 125).start()
    assert buses.AnalogueLine(26, -40_000, 60_000).read() == "10.000"
