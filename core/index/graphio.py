"""The graph's bytes, in and out of hnswlib, without touching the disk.

hnswlib saves only to a path. On Linux the path is that of a file that exists in memory alone; elsewhere the graph is
pickled in memory. Must not do: load bytes that were not authenticated (damaged ones crash the process or answer
nonsense: reliability study, B30).
"""

from __future__ import annotations

import importlib.metadata
import io
import os
import pickle
import struct
import sys
from pathlib import Path
from typing import BinaryIO

import hnswlib

from core.errors import Code, EnvironmentFaultError

_DESCRIPTORS = Path("/proc/self/fd")


def memory_files_work() -> bool:
    """Whether this system has files that live in memory and have a path."""
    return hasattr(os, "memfd_create") and _DESCRIPTORS.is_dir()


def graph_format(*, memory_file: bool) -> str:
    """Names the exact layout: another hnswlib or machine may read the bytes differently."""
    kind = "file" if memory_file else "pickle"
    return f"hnswlib-{importlib.metadata.version('hnswlib')}-{sys.byteorder}-{struct.calcsize('P')}-{kind}"


def new_buffer(*, memory_file: bool) -> BinaryIO:
    """An empty place in memory for a graph's bytes."""
    if memory_file:
        return os.fdopen(os.memfd_create("loci-index"), "w+b")
    return io.BytesIO()


def save_graph(graph: hnswlib.Index, *, memory_file: bool) -> tuple[BinaryIO, int]:
    """Write a graph into memory.

    Args:
        graph: an initialised graph that nobody changes meanwhile.
        memory_file: as `memory_files_work` says.

    Returns:
        The bytes, at their start, and how many they are.

    Raises:
        EnvironmentFaultError: E5001 if memory did not suffice.
    """
    buffer = new_buffer(memory_file=memory_file)
    if memory_file:
        graph.save_index(f"{_DESCRIPTORS}/{buffer.fileno()}")
        size = os.fstat(buffer.fileno()).st_size
        # A save that failed raises nothing; only the size tells.
        if size != graph.index_file_size():
            buffer.close()
            raise EnvironmentFaultError(Code.MEMORY_PRESSURE, "There is too little memory for the index snapshot.")
    else:
        buffer.write(pickle.dumps(graph))
        size = buffer.tell()
    buffer.seek(0)
    return buffer, size


def load_graph(dims: int, buffer: BinaryIO, capacity: int, *, memory_file: bool) -> hnswlib.Index:
    """Read a graph back.

    Args:
        dims: its dimension.
        buffer: authentic bytes that `save_graph` wrote.
        capacity: room for so many elements, at least those in the graph.
        memory_file: as at saving.

    Returns:
        The graph; its `ef` is not set.

    Raises:
        RuntimeError: hnswlib refuses the bytes.
    """
    buffer.flush()
    buffer.seek(0)
    if memory_file:
        graph = hnswlib.Index(space="cosine", dim=dims)
        graph.load_index(f"{_DESCRIPTORS}/{buffer.fileno()}", max_elements=capacity)
        return graph
    try:
        loaded: hnswlib.Index = pickle.load(buffer)  # noqa: S301 - only bytes this vault sealed come here
    except (pickle.UnpicklingError, EOFError, ValueError) as error:
        raise RuntimeError("not a graph") from error
    return loaded
