"""Sixty-four bytes at a time: the vector operations of which a scan consists, and what goes with them.

Numba turns simple loops into vector instructions, but not a comparison into a bit mask. They are
therefore written as vectors. LLVM maps them to whatever the processor has, AVX-512, AVX2 or NEON.
"""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES = 64

_BYTE = ir.IntType(8)
_BYTES = ir.VectorType(_BYTE, LANES)
_SHORTS = ir.VectorType(ir.IntType(16), LANES)
_WORDS = ir.VectorType(ir.IntType(32), LANES)
_MASK = ir.IntType(LANES)

EIGHT = 8
"""Records that are worked on at a time."""

SIXTEEN = 16
"""Words of 64 bits in a row of bits (`plugins.kernels.boxes.bitsets`)."""

_SIXTEEN = ir.VectorType(ir.IntType(64), SIXTEEN)
_WORD = ir.IntType(32)
_EIGHT = ir.VectorType(_WORD, EIGHT)
_EIGHT_BYTES = ir.VectorType(_BYTE, EIGHT)


def _constant(kind: ir.VectorType, value: int) -> ir.Constant:
    return ir.Constant(kind, [value] * LANES)


def _splat(builder: Any, byte: Any) -> Any:
    one = builder.insert_element(ir.Constant(_BYTES, ir.Undefined), byte, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_BYTES, ir.Undefined), zeros)


def _binary(builder: Any, name: str, a: Any, b: Any) -> Any:
    kind = a.type
    suffix = f"v{kind.count}i{kind.element.width}"
    shape = ir.FunctionType(kind, [kind, kind])
    function = builder.module.declare_intrinsic(f"llvm.{name}.{suffix}", (), shape)
    return builder.call(function, [a, b])


def _pointer(context: Any, builder: Any, array: Any, array_type: Any, at: Any, kind: ir.VectorType) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    start = builder.gep(builder.bitcast(data, _BYTE.as_pointer()), [at])
    return builder.bitcast(start, kind.as_pointer())


def _load(builder: Any, pointer: Any) -> Any:
    return builder.load(pointer, align=1)


@intrinsic
def _worsen(
    typing: Any, arena: Any, slopes: Any, lows: Any, highs: Any, x: Any, flip: Any, worst: Any, out: Any
) -> Any:
    """worsen(arena, slopes, lows, highs, x, flip, worst, out): raise worst[out:] to the losses of one
    constraint.

    The loss at distance d from [v, V] is (d·S + 128) >> 8, at most 255; a complemented constraint flips its
    bits with 255. Offsets are bytes; slopes are 16 bits each. The sum is split so that 16 bits suffice: (y
    + 128) >> 8 = (y >> 8) + bit 7 of y, and y >> 8 is the high half of (256·d)·S.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arena_type, worst_type = signature.args[0], signature.args[6]
        area, s_at, v_at, V_at, value, bits, into, at = arguments
        value = builder.trunc(value, _BYTE)
        bits = builder.trunc(bits, _BYTE)
        place = _pointer(context, builder, into, worst_type, at, _BYTES)
        x_all = _splat(builder, value)
        v_all = _load(builder, _pointer(context, builder, area, arena_type, v_at, _BYTES))
        V_all = _load(builder, _pointer(context, builder, area, arena_type, V_at, _BYTES))
        s_all = _load(builder, _pointer(context, builder, area, arena_type, s_at, _SHORTS))
        below = _binary(builder, "usub.sat", v_all, x_all)
        above = _binary(builder, "usub.sat", x_all, V_all)
        distance = builder.zext(builder.or_(below, above), _SHORTS)
        shifted = builder.zext(builder.shl(distance, _constant(_SHORTS, 8)), _WORDS)
        product = builder.mul(shifted, builder.zext(s_all, _WORDS))
        high = builder.trunc(builder.lshr(product, _constant(_WORDS, 16)), _SHORTS)
        low = builder.lshr(builder.mul(distance, s_all), _constant(_SHORTS, 7))
        rounded = builder.add(high, builder.and_(low, _constant(_SHORTS, 1)))
        loss = builder.trunc(_binary(builder, "umin", rounded, _constant(_SHORTS, 255)), _BYTES)
        loss = builder.xor(loss, _splat(builder, bits))
        builder.store(_binary(builder, "umax", _load(builder, place), loss), place, align=1)
        return context.get_dummy_value()

    number = types.int64
    signature = types.none(arena, number, number, number, number, number, worst, number)
    return signature, build


@intrinsic
def _inside(typing: Any, arena: Any, firsts: Any, lengths: Any, x: Any) -> Any:
    """inside(arena, firsts, lengths, x): set a bit for each of 64 intervals that x lies in.

    An interval is its first value and how many follow it; one subtraction modulo 256 and one comparison
    decide.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        area, first_at, length_at, value = arguments
        kind = signature.args[0]
        first = _load(builder, _pointer(context, builder, area, kind, first_at, _BYTES))
        length = _load(builder, _pointer(context, builder, area, kind, length_at, _BYTES))
        distance = builder.sub(_splat(builder, builder.trunc(value, _BYTE)), first)
        return builder.bitcast(builder.icmp_unsigned("<=", distance, length), _MASK)

    return types.uint64(arena, types.int64, types.int64, types.int64), build


@intrinsic
def _meets(typing: Any, arena: Any, firsts: Any, lasts: Any, lo: Any, hi: Any) -> Any:
    """meets(arena, firsts, lasts, lo, hi): set a bit for each of 64 intervals that has something in common
    with the interval from lo to hi.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        area, first_at, last_at, low, high = arguments
        kind = signature.args[0]
        first = _load(builder, _pointer(context, builder, area, kind, first_at, _BYTES))
        last = _load(builder, _pointer(context, builder, area, kind, last_at, _BYTES))
        begins = builder.icmp_unsigned("<=", first, _splat(builder, builder.trunc(high, _BYTE)))
        ends = builder.icmp_unsigned(">=", last, _splat(builder, builder.trunc(low, _BYTE)))
        return builder.bitcast(builder.and_(begins, ends), _MASK)

    number = types.int64
    return types.uint64(arena, number, number, number, number), build


def _gathered(builder: Any, context: Any, array: Any, array_type: Any, indexes: Any, offset: Any) -> Any:
    """Return the words array[index + offset] for eight indexes."""
    data = context.make_array(array_type)(context, builder, array).data
    start = builder.gep(builder.bitcast(data, _WORD.as_pointer()), [offset])
    found = ir.Constant(_EIGHT, ir.Undefined)
    for lane in range(EIGHT):
        index = builder.zext(builder.extract_element(indexes, _WORD(lane)), ir.IntType(64))
        found = builder.insert_element(found, builder.load(builder.gep(start, [index])), _WORD(lane))
    return found


def _eight(value: int) -> ir.Constant:
    return ir.Constant(_EIGHT, [value] * EIGHT)


def _all_eight(builder: Any, number: Any) -> Any:
    nothing = ir.Constant(_EIGHT, ir.Undefined)
    one = builder.insert_element(nothing, builder.trunc(number, _WORD), _WORD(0))
    return builder.shuffle_vector(one, nothing, _eight(0))


@intrinsic
def _lose(typing: Any, records: Any, rank: Any, x: Any, flip: Any, chosen: Any, at: Any, worst: Any) -> Any:
    """lose(records, rank, x, flip, chosen, at, worst): raise worst[at:at + 8] to the losses of one
    constraint of the records that begin at chosen[at:at + 8].
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        records_type, chosen_type, worst_type = (signature.args[i] for i in (0, 4, 6))
        held, which, value, bits, begins, start, into = arguments
        four = builder.shl(start, start.type(2))
        indexes = _load(builder, _pointer(context, builder, begins, chosen_type, four, _EIGHT))
        place = _pointer(context, builder, into, worst_type, start, _EIGHT_BYTES)
        packed = _gathered(builder, context, held, records_type, indexes, builder.add(which, which.type(1)))
        x_all = _all_eight(builder, value)
        low = builder.and_(packed, _eight(255))
        high = builder.and_(builder.lshr(packed, _eight(8)), _eight(255))
        outside = _binary(builder, "smax", builder.sub(low, x_all), builder.sub(x_all, high))
        distance = _binary(builder, "smax", outside, _eight(0))
        product = builder.mul(distance, builder.lshr(packed, _eight(16)))
        rounded = builder.lshr(builder.add(product, _eight(128)), _eight(8))
        loss = builder.xor(_binary(builder, "umin", rounded, _eight(255)), _all_eight(builder, bits))
        known = _load(builder, place)
        worse = _binary(builder, "umax", known, builder.trunc(loss, _EIGHT_BYTES))
        builder.store(worse, place, align=1)
        return context.get_dummy_value()

    number = types.int64
    return types.none(records, number, number, number, chosen, number, worst), build


@intrinsic
def _settle(typing: Any, records: Any, chosen: Any, at: Any, worst: Any) -> Any:
    """settle(records, chosen, at, worst): turn chosen[at:at + 8] into keys and worst[at:at + 8] into
    degrees.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        records_type, chosen_type, worst_type = (signature.args[i] for i in (0, 1, 3))
        held, begins, start, into = arguments
        four = builder.shl(start, start.type(2))
        keys = _pointer(context, builder, begins, chosen_type, four, _EIGHT)
        indexes = _load(builder, keys)
        builder.store(_gathered(builder, context, held, records_type, indexes, start.type(0)), keys, align=1)
        place = _pointer(context, builder, into, worst_type, start, _EIGHT_BYTES)
        full = ir.Constant(_EIGHT_BYTES, [255] * EIGHT)
        builder.store(builder.xor(_load(builder, place), full), place, align=1)
        return context.get_dummy_value()

    return types.none(records, chosen, types.int64, worst), build


@intrinsic
def _meet(typing: Any, bits: Any, at: Any, words: Any) -> Any:
    """meet(bits, at, words): AND the sixteen words of `words` with those of `bits` at this word, in place;
    return the OR of what is left.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits_type, words_type = signature.args[0], signature.args[2]
        held, first, into = arguments
        byte = builder.shl(first, first.type(3))
        place = _pointer(context, builder, into, words_type, first.type(0), _SIXTEEN)
        row = _load(builder, _pointer(context, builder, held, bits_type, byte, _SIXTEEN))
        left = builder.and_(_load(builder, place), row)
        builder.store(left, place, align=1)
        shape = ir.FunctionType(ir.IntType(64), [_SIXTEEN])
        name = f"llvm.vector.reduce.or.v{SIXTEEN}i64"
        function = builder.module.declare_intrinsic(name, (), shape)
        return builder.call(function, [left])

    return types.uint64(bits, types.int64, words), build


@intrinsic
def _lowest_bit(typing: Any, mask: Any) -> Any:
    """lowest_bit(mask): return the position of the lowest set bit, 64 if there is none."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.false_bit)

    return types.uint64(types.uint64), build


@intrinsic
def _ones(typing: Any, mask: Any) -> Any:
    """ones(mask): return how many bits are set."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


@intrinsic
def _fetch(typing: Any, array: Any, at: Any) -> Any:
    """fetch(array, at): send for the line of memory at this byte, without waiting for it."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _pointer(context, builder, arguments[0], signature.args[0], arguments[1], _BYTES)
        number = ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch.p0", (), shape)
        to_read, into_all_caches, of_data = number(0), number(3), number(1)
        byte = builder.bitcast(place, _BYTE.as_pointer())
        builder.call(function, [byte, to_read, into_all_caches, of_data])
        return context.get_dummy_value()

    return types.none(array, types.int64), build


meet: Any = _meet
worsen: Any = _worsen
inside: Any = _inside
meets: Any = _meets
lowest_bit: Any = _lowest_bit
ones: Any = _ones
lose: Any = _lose
settle: Any = _settle
fetch: Any = _fetch
"""Called from compiled code, where they take the arguments that their descriptions name."""
