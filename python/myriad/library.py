"""libmyriad.so, found and loaded, with the types of its functions (src/library/myriad.h).

The library is, in this order, $MYRIAD_LIBRARY, the one beside this file, where pip puts it, that of the source tree
around this file, and the one that the system's loader finds.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_double, c_int, c_int64, c_uint16, c_void_p
from pathlib import Path

NAME = "libmyriad.so"
HERE = Path(__file__).resolve().parent

__all__ = ["Box", "External", "Local", "byref", "library"]


class Box(Structure):
    """myriad_box."""

    _fields_ = [("dimension", c_int), ("periodic", c_int * 3), ("lo", c_double * 3), ("hi", c_double * 3),
                ("xy", c_double), ("xz", c_double), ("yz", c_double)]


class Local(Structure):
    """myriad_local."""

    _fields_ = [("n", c_int64), ("id", POINTER(c_int64)), ("type", POINTER(c_uint16)), ("x", POINTER(c_double) * 3),
                ("v", POINTER(c_double) * 3)]


# myriad_external: caller, step, n, id, x, f, energy, virial.
External = CFUNCTYPE(c_int, c_void_p, c_int64, c_int64, POINTER(c_int64), POINTER(POINTER(c_double)),
                     POINTER(POINTER(c_double)), POINTER(c_double), POINTER(c_double))


FUNCTIONS = {
    "myriad_error": (c_char_p,),
    "myriad_version": (c_char_p,),
    "myriad_open": (c_int, c_int, POINTER(c_char_p), POINTER(c_void_p)),
    "myriad_close": (c_int, c_void_p),
    "myriad_fail": (None, c_void_p),
    "myriad_command": (c_int, c_void_p, c_char_p),
    "myriad_commands": (c_int, c_void_p, c_char_p),
    "myriad_file": (c_int, c_void_p, c_char_p),
    "myriad_interruptible": (None, c_void_p, c_int),
    "myriad_number": (c_int, c_void_p, c_char_p, POINTER(c_double)),
    "myriad_array": (c_int, c_void_p, c_char_p, c_int64, POINTER(c_int64), POINTER(c_int64), c_void_p),
    "myriad_text": (c_int, c_void_p, c_char_p, POINTER(c_char_p)),
    "myriad_natoms": (c_int64, c_void_p),
    "myriad_step": (c_int64, c_void_p),
    "myriad_rank": (c_int, c_void_p),
    "myriad_ranks": (c_int, c_void_p),
    "myriad_get_box": (c_int, c_void_p, POINTER(Box)),
    "myriad_ids": (c_int, c_void_p, c_void_p),
    "myriad_gather": (c_int, c_void_p, c_char_p, c_int, c_void_p),
    "myriad_scatter": (c_int, c_void_p, c_char_p, c_int, c_void_p),
    "myriad_get_local": (c_int, c_void_p, POINTER(Local)),
    "myriad_fix_external": (c_int, c_void_p, c_char_p, External, c_void_p),
    "myriad_fix_external_forces": (c_int, c_void_p, c_char_p, c_void_p),
    "myriad_fix_external_energy": (c_int, c_void_p, c_char_p, c_double, c_void_p),
}


def path_of_library() -> str:
    """The file to load."""
    named = os.environ.get("MYRIAD_LIBRARY")
    if named:
        return named
    for place in (HERE / NAME, HERE.parents[1] / "build" / NAME):
        if place.exists():
            return str(place)
    return NAME


def load() -> ctypes.CDLL:
    # Threads that wait spin briefly: see the program's main. OpenMP reads this when it is loaded.
    if not any(name in os.environ for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")):
        os.environ["GOMP_SPINCOUNT"] = "1000"
        os.environ["KMP_BLOCKTIME"] = "1"
    path = path_of_library()
    try:
        found = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"cannot load {path}: {error}; `make` builds it, and MYRIAD_LIBRARY may name it") from error
    for name, (result, *arguments) in FUNCTIONS.items():
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found


library = load()
