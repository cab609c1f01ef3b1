"""A hint to the processor; without effect on any result."""

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
        _prefetch(address)

    return hint
