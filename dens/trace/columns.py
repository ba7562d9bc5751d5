"""Columns of a trace from plain values, built from the buffers that Arrow describes.

Arrow's own conversion checks for pandas objects and imports pandas for that, which takes several times as
long as a short run. The bytes written are the same.
"""

from array import array
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_NUMBERS: Final = {pa.int8(): "b", pa.int32(): "i", pa.int64(): "q", pa.float64(): "d"}
"""The types of numbers, as `array` and numpy call them."""

Missing = NDArray[np.bool_]


def column_of(values: Any, field: Any) -> Any:
    """Return a column of an array, or of a list in which None is null. A value that does not fit raises."""
    if isinstance(values, np.ndarray):
        return of_numbers(values, field.type)
    is_missing = np.array([value is None for value in values], np.bool_)
    if pa.types.is_dictionary(field.type):
        codes = {word: code for code, word in enumerate(dict.fromkeys(w for w in values if w is not None))}
        places = [0 if word is None else codes[word] for word in values]
        return of_words(np.array(places, np.int8), list(codes), is_missing)
    if pa.types.is_string(field.type):
        return _of_bytes([b"" if text is None else text.encode() for text in values], field.type, is_missing)
    if pa.types.is_binary(field.type):
        return _of_bytes([b"" if octets is None else octets for octets in values], field.type, is_missing)
    if pa.types.is_boolean(field.type):
        return of_numbers(np.array(values, np.bool_), field.type)
    numbers = array(_NUMBERS[field.type], [0 if number is None else number for number in values])
    return of_numbers(np.frombuffer(numbers, _NUMBERS[field.type]), field.type, is_missing)


def of_numbers(numbers: NDArray[Any], type: Any, is_missing: Missing | None = None) -> Any:
    """Return a column of numbers or Booleans."""
    if pa.types.is_boolean(type):
        octets = np.packbits(numbers, bitorder="little")
    else:
        octets = np.ascontiguousarray(numbers, _NUMBERS[type])
    return pa.Array.from_buffers(type, len(numbers), [_validity(is_missing), _buffer(octets)])


def of_words(codes: NDArray[np.int8], words: Sequence[str], is_missing: Missing | None = None) -> Any:
    """Return a dictionary column: `codes` are positions in `words`."""
    return pa.DictionaryArray.from_arrays(
        of_numbers(codes, pa.int8(), is_missing), _of_bytes([word.encode() for word in words], pa.string())
    )


def _of_bytes(pieces: Sequence[bytes], type: Any, is_missing: Missing | None = None) -> Any:
    ends = np.zeros(len(pieces) + 1, np.int32)
    np.cumsum([len(piece) for piece in pieces], out=ends[1:])
    buffers = [_validity(is_missing), _buffer(ends), pa.py_buffer(b"".join(pieces))]
    return pa.Array.from_buffers(type, len(pieces), buffers)


def _validity(is_missing: Missing | None) -> Any:
    if is_missing is None or not is_missing.any():
        return None
    return _buffer(np.packbits(~is_missing, bitorder="little"))


def _buffer(octets: NDArray[Any]) -> Any:
    return pa.py_buffer(octets.data)
