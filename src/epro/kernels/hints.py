"""Two hints, to the processor and to Numba; without effect on any result."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload


def prefetch(address: int) -> None:
    """Starts fetching the cache line at this address, which is about to be read and written."""


@intrinsic
def _prefetch(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer, word = cgutils.voidptr_t, ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), (pointer, word, word, word))
        hint = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), shape)
        write, keep, data = word(1), word(3), word(1)
        builder.call(hint, (builder.inttoptr(arguments[0], pointer), write, keep, data))
        return context.get_dummy_value()

    return types.void(types.uintp), generate


@overload(prefetch)
def _compiled_prefetch(address: Any) -> Any:
    def hint(address: Any) -> None:
        _prefetch(address)  # pyright: ignore[reportCallIssue]  # Numba gives the first argument

    return hint


def borrowed(array: Any) -> Any:
    """The same array, whose references compiled code does not count.

    Numba counts a reference, with a locked instruction, wherever it cannot prove that it need not; for a record of many
    arrays inside a loop that costs more than a step on a sparse row. The caller keeps the array alive.
    """
    return array


@intrinsic
def _borrowed(typing_context: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        struct = context.make_array(signature.args[0])(context, builder, arguments[0])
        struct.meminfo = cgutils.get_null_value(struct.meminfo.type)
        return struct._getvalue()

    return array(array), generate


@overload(borrowed)
def _compiled_borrowed(array: Any) -> Any:
    def borrow(array: Any) -> Any:
        return _borrowed(array)  # pyright: ignore[reportCallIssue]

    return borrow
