"""Access to the GPU: CuPy, readable messages for its errors, and the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module, resources
from typing import Any

import numpy as np

WARP = 32
_THREADS = 256


def load_cupy() -> Any:
    """Return the module CuPy, if there is a GPU that it can use."""
    try:
        cupy = import_module("cupy")
    except ImportError as error:
        raise ImportError(
            "device='cuda' needs CuPy. Install it with pip install 'ramify[cuda12]' or "
            "'ramify[cuda13]', depending on the version of CUDA, or set device='cpu'."
        ) from error
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(
            f"device='cuda' needs an NVIDIA GPU, and CUDA found none: {error}. Check the driver "
            "with nvidia-smi, or set device='cpu'."
        ) from error
    if n_devices == 0:
        raise RuntimeError(
            "device='cuda' needs an NVIDIA GPU, and there is none. Set device='cpu'."
        )
    return cupy


@cache
def has_gpu() -> bool:
    """Return whether CuPy and a GPU are available."""
    try:
        load_cupy()
    except (ImportError, RuntimeError):
        return False
    return True


def check_memory(cupy: Any, n_bytes: int) -> None:
    """Raise an error if the GPU does not have enough free memory."""
    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    if n_bytes > free:
        raise MemoryError(
            f"device='cuda' needs about {n_bytes / 2**30:.1f} GiB for these rows and labels, and "
            f"the GPU has {free / 2**30:.1f} GiB free. Use fewer rows or labels, or set "
            "device='cpu'."
        )


class Kernels:
    """The kernels of kernels.cu, by name."""

    def __init__(self, cupy: Any) -> None:
        code = resources.files(__package__).joinpath("kernels.cu").read_text(encoding="utf-8")
        # Without fused multiply-adds, as in the core.
        self._module = cupy.RawModule(code=code, options=("--std=c++17", "--fmad=false"))
        self._found: dict[str, Any] = {}

    def run(
        self,
        name: str,
        n_blocks: int | Sequence[int],
        arguments: Sequence[Any],
        *,
        n_threads: int = _THREADS,
        shared_bytes: int = 0,
    ) -> None:
        """Start a kernel."""
        kernel = self._found.get(name)
        if kernel is None:
            kernel = self._found[name] = self._module.get_function(name)
        blocks = (n_blocks,) if isinstance(n_blocks, int) else tuple(n_blocks)
        if 0 not in blocks:
            kernel(blocks, (n_threads,), tuple(arguments), shared_mem=shared_bytes)

    def run_each(
        self, name: str, n: int, arguments: Sequence[Any], *, threads_of_each: int = 1
    ) -> None:
        """Start a kernel with some threads for each of n items."""
        self.run(name, -(-n * threads_of_each // _THREADS), arguments)


@cache
def load_kernels() -> Kernels:
    """Return the kernels, compiled once per process."""
    return Kernels(load_cupy())


def copy_struct(cupy: Any, **fields: Any) -> Any:
    """Return a struct on the GPU."""
    kinds = [(name, np.int32 if isinstance(x, int) else np.uint64) for name, x in fields.items()]
    struct = np.zeros(1, dtype=np.dtype(kinds, align=True))
    for name, x in fields.items():
        struct[name] = x if isinstance(x, int) else x.data.ptr
    return cupy.asarray(struct.view(np.uint8))
