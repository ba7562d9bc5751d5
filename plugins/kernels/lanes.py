"""Sixty-four bytes at a time: the two vector operations of which a scan consists.

Numba turns simple loops into vector instructions, but not a comparison into a bit mask. These two are
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


def _constant(kind: ir.VectorType, value: int) -> ir.Constant:
    return ir.Constant(kind, [value] * LANES)


def _splat(builder: Any, byte: Any) -> Any:
    one = builder.insert_element(ir.Constant(_BYTES, ir.Undefined), byte, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(_BYTES, ir.Undefined), zeros)


def _binary(builder: Any, name: str, a: Any, b: Any) -> Any:
    kind = a.type
    suffix = f"v{LANES}i{kind.element.width}"
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
def _above(typing: Any, worst: Any, at: Any, arena: Any, floors: Any) -> Any:
    """above(worst, at, arena, floors): turn worst[at:] into degrees, 255 − loss; set a bit for each above
    its floor.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        worst_type, arena_type = signature.args[0], signature.args[2]
        losses, start, area, floor_at = arguments
        place = _pointer(context, builder, losses, worst_type, start, _BYTES)
        degrees = builder.xor(_load(builder, place), _constant(_BYTES, 255))
        builder.store(degrees, place, align=1)
        floor = _load(builder, _pointer(context, builder, area, arena_type, floor_at, _BYTES))
        return builder.bitcast(builder.icmp_unsigned(">", degrees, floor), _MASK)

    return types.uint64(worst, types.int64, arena, types.int64), build


@intrinsic
def _lowest_bit(typing: Any, mask: Any) -> Any:
    """lowest_bit(mask): return the position of the lowest set bit of a mask that is not 0."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.true_bit)

    return types.uint64(types.uint64), build


worsen: Any = _worsen
above: Any = _above
lowest_bit: Any = _lowest_bit
"""Called from compiled code, where they take the arguments that their descriptions name."""
