"""The flash file system of the micro:bit's MicroPython, as bytes that an emulator loads beside the firmware.

The file system is an array of 128-byte chunks: a mark, 126 bytes and the number of the next chunk. A file
begins with the offset of its end, the length of its name and the name. Pages are 1 KB; the last one is
scratch.
"""

from collections.abc import Mapping

from dens.config.refusal import Refusal

PAGE_BYTES = 1024
SCRATCH_PAGE = 0x3F800
SCRATCH_MARK = b"\xfd"
_CHUNK_DATA = 126


class FlashFull(Refusal):
    """The files do not fit into the flash that the firmware leaves free."""


def file_system_start(firmware_hex: str) -> int:
    """Return the first page behind the firmware, from its Intel hex text."""
    base = 0
    end = 0
    for line in firmware_hex.splitlines():
        if not line.startswith(":"):
            continue
        count, address, kind = int(line[1:3], 16), int(line[3:7], 16), int(line[7:9], 16)
        if kind == 4:
            base = int(line[9:13], 16) << 16
        elif kind == 2:
            base = int(line[9:13], 16) << 4
        elif kind == 0 and base + address < 0x40000:
            end = max(end, base + address + count)
    return -(-end // PAGE_BYTES) * PAGE_BYTES


def file_system(files: Mapping[str, bytes], room: int) -> bytes:
    """Return the file system with these files; FlashFull when they need more than `room` bytes."""
    chunks: list[bytes] = []
    for name, data in files.items():
        first = len(chunks)
        encoded = name.encode()
        body = bytes([len(encoded)]) + encoded + data
        parts = [body[: _CHUNK_DATA - 1]]
        rest = body[_CHUNK_DATA - 1 :]
        while rest:
            parts.append(rest[:_CHUNK_DATA])
            rest = rest[_CHUNK_DATA:]
        end = (len(parts[-1]) + (len(parts) == 1)) % _CHUNK_DATA
        if end == 0:
            parts.append(b"")
        for k, part in enumerate(parts):
            head = b"\xfe" + bytes([end]) if k == 0 else bytes([first + k])
            chunk = head + part
            chunk += b"\xff" * (127 - len(chunk))
            chunks.append(chunk + bytes([first + k + 2 if k < len(parts) - 1 else 255]))
    image = b"".join(chunks)
    if len(image) > room or len(chunks) > 252:
        raise FlashFull(f"{sum(map(len, files.values()))} bytes of files need {len(image)} of {room} bytes")
    return image
