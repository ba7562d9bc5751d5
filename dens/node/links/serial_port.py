"""A serial port with one board, reopened whenever it disappears.

The board sends first, because bytes sent while it starts would go to its console. A board that shows its
console prompt is restarted.
"""

import asyncio
import os
import termios
import tty
from collections.abc import Callable
from pathlib import Path
from typing import Final

from dens.node.links.runtime import Runtime
from dens.node.links.serial import PROMPT, RESTART, SerialLink

_RETRY_S: Final = 2.0
_BURST_S: Final = 0.02
_READ_BYTES: Final = 65_536
BAUDS: Final = {rate: getattr(termios, f"B{rate}") for rate in (9600, 19200, 38400, 57600, 115200, 230400)}
"""Supported speeds."""


class SerialPort:
    """The link to one board, identified by its node number."""

    def __init__(
        self,
        runtime: Runtime,
        path: Path,
        node: int,
        complain: Callable[[str], None],
        *,
        is_trusted: bool,
        baud: int,
    ) -> None:
        """`complain` receives, once, that the port cannot be used."""
        self._runtime = runtime
        self._path = path
        self._node = node
        self._complain = complain
        self._is_trusted = is_trusted
        self._baud = baud
        self._descriptor: int | None = None
        self._lost: asyncio.Event = asyncio.Event()

    async def keep_open(self) -> None:
        """Use the port while it exists, until this is cancelled."""
        is_reported = False
        while True:
            try:
                self._open()
            except OSError as error:
                if not is_reported:
                    self._complain(f"{self._path} cannot be used: {error.strerror}; retrying")
                    is_reported = True
            else:
                is_reported = False
                try:
                    await self._lost.wait()
                finally:
                    self._close()
                self._complain(f"{self._path} disappeared; is the board unplugged? retrying")
            await asyncio.sleep(_RETRY_S)

    def _open(self) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            _make_raw(descriptor, self._baud)
        except (OSError, termios.error) as error:
            os.close(descriptor)
            raise OSError(error.args[0], f"it is not a serial port ({error.args[1]})") from None
        self._descriptor = descriptor
        self._link = SerialLink()
        self._unwritten = b""
        self._tail = b""
        self._is_writing = False
        self._is_in_contact = False
        self._lost.clear()
        asyncio.get_running_loop().add_reader(descriptor, self._readable)

    def _close(self) -> None:
        if self._descriptor is not None:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None
            self._end_contact()
            self._runtime.settle()

    def _end_contact(self) -> None:
        if self._is_in_contact:
            self._is_in_contact = False
            self._runtime.contact_lost(self._node)

    def _readable(self) -> None:
        assert self._descriptor is not None
        try:
            data = os.read(self._descriptor, _READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lost.set()
            asyncio.get_running_loop().remove_reader(self._descriptor)
            return
        self._tail = (self._tail + data)[-len(PROMPT) :]
        if self._tail == PROMPT:
            self._end_contact()
            self._unwritten = RESTART
            self._write_soon()
        for datagram in self._link.receive(data):
            if not self._is_in_contact:
                self._is_in_contact = True
                self._runtime.contact_opened(self._node, self, is_trusted=self._is_trusted)
            self._runtime.receive(datagram, self._node)
        self._runtime.settle()

    def send(self, peer: int, data: bytes) -> None:
        """Queue a datagram."""
        if self._descriptor is not None:
            self._link.send(data)
            self._write_soon()

    def _write_soon(self) -> None:
        if not self._is_writing:
            self._is_writing = True
            asyncio.get_running_loop().call_soon(self._write)

    def _write(self) -> None:
        """Write a burst, and continue later if there is more: a board buffers few bytes."""
        self._is_writing = False
        if self._descriptor is None:
            return
        burst = self._unwritten or self._link.bytes_to_write(self._runtime.now_ms())
        if burst:
            try:
                self._unwritten = burst[os.write(self._descriptor, burst) :]
            except BlockingIOError:
                self._unwritten = burst
            except OSError:
                self._lost.set()
                return
        if self._unwritten or self._link.is_waiting:
            self._is_writing = True
            asyncio.get_running_loop().call_later(_BURST_S, self._write)


def _make_raw(descriptor: int, baud: int) -> None:
    """Disable all translation of bytes and all modem control lines, and set the speed."""
    tty.setraw(descriptor)
    mode = termios.tcgetattr(descriptor)
    mode[2] |= termios.CLOCAL | termios.CREAD
    mode[4] = mode[5] = BAUDS[baud]
    termios.tcsetattr(descriptor, termios.TCSANOW, mode)
