"""A simulation: commands in, numbers and numpy arrays out.

Other threads of Python go on during a call, because ctypes releases the interpreter's lock.  Methods that make several
calls hold the lock of the simulation meanwhile, so that no other thread changes the number of particles between them.
Arrays that a method returns are the caller's own copies, except those of `local(copy=False)`, which lie in the
simulation's memory.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import signal
import sys
import threading
import traceback
import weakref
from os import PathLike, fspath
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .library import Box as _Box
from .library import External as _External
from .library import Local as _Local
from .library import byref, library

# LAMMPS's numbers for what extract_compute and extract_fix are asked for.
LMP_STYLE_GLOBAL, LMP_STYLE_ATOM = 0, 1
LMP_TYPE_SCALAR, LMP_TYPE_VECTOR, LMP_TYPE_ARRAY = 0, 1, 2

# Columns of the fields that are no formulas.
COLUMNS = {"x": 3, "v": 3, "f": 3, "type": 1, "mass": 1}

# The names of extract_global, and the formula that gives each.
GLOBALS = {"dt": "dt", "ntimestep": "step", "atime": "time", "natoms": "atoms", "boxxlo": "xlo", "boxxhi": "xhi",
           "boxylo": "ylo", "boxyhi": "yhi", "boxzlo": "zlo", "boxzhi": "zhi", "xy": "xy", "xz": "xz", "yz": "yz"}
WHOLE = ("ntimestep", "natoms")


class MyriadError(RuntimeError):
    """A call failed: its message is that of the program, and `status` the status that the program would end with."""

    def __init__(self, message: str, status: int = 1):
        super().__init__(message)
        self.status = status


class UsageError(MyriadError):
    """A command or an argument was refused.  The simulation is as it was."""


class PhysicsError(MyriadError):
    """A lost particle, an overlap, or a number that is not finite.  The command clear begins again."""


class StoppedError(MyriadError, KeyboardInterrupt):
    """A run was interrupted, as by Ctrl-C.  It ended at a whole step, and may go on."""


REFUSED = 2
ERRORS = {REFUSED: UsageError, 3: PhysicsError, 85: StoppedError}


def _check(status: int) -> None:
    if status != 0:
        message = library.myriad_error().decode(errors="replace")
        raise ERRORS.get(status, MyriadError)(message, status)


def _text(word: str) -> bytes:
    """A text for the library, where it ends at the first NUL."""
    if not isinstance(word, str):
        raise TypeError(f"a text is needed, not {type(word).__name__}")
    if "\0" in word:
        raise ValueError(f"there is a NUL in {word!r}")
    return word.encode()


def _whole(number: Any, what: str) -> int:
    """A whole number; one that is not is an error, and is not cut."""
    if isinstance(number, (str, bytes)) or number != int(number):
        raise ValueError(f"{what} must be a whole number, not {number!r}")
    return int(number)


def _reals(values: Any, what: str) -> np.ndarray:
    """Real numbers as an array of C.  What numpy would change or leave out on the way is an error."""
    array = np.asanyarray(values)
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise ValueError(f"{what} has values that are masked")
    if array.size > 0 and array.dtype.kind not in "buif":
        raise TypeError(f"{what} must be real numbers, not of dtype {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.float64)


def _virial(values: Any) -> np.ndarray:
    parts = _reals(values, "a virial")
    if parts.shape != (6,):
        raise ValueError(f"a virial has 6 numbers, not {parts.shape}")
    return parts


def _alone(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method during which no other thread uses the simulation."""

    @functools.wraps(method)
    def locked(self: "Myriad", *words: Any, **more: Any) -> Any:
        with self._lock:  # pylint: disable=protected-access
            return method(self, *words, **more)

    return locked


def version() -> str:
    """The version of the library."""
    return library.myriad_version().decode()


class Box(NamedTuple):
    """The box: `lo` and `hi` along three axes, tilt factors, and which axes are periodic."""

    lo: Tuple[float, float, float]
    hi: Tuple[float, float, float]
    xy: float
    yz: float
    xz: float
    periodic: Tuple[bool, bool, bool]
    dimension: int


class Local(NamedTuple):
    """The particles of this rank in the order of memory."""

    id: np.ndarray
    type: np.ndarray
    x: Tuple[np.ndarray, ...]
    v: Tuple[np.ndarray, ...]


_open: "weakref.WeakSet[Myriad]" = weakref.WeakSet()
# Those whose last reference went while a function of another one ran, when the library refuses to end any.
_left: List[ctypes.c_void_p] = []


def _close_left() -> None:
    _left[:] = [handle for handle in _left if library.myriad_close(handle) == REFUSED]


@atexit.register
def _close_all() -> None:
    for one in list(_open):
        one.close()


def _note_exception(kind: Any, value: Any, trace: Any) -> None:
    """This process ends with an exception: its ranks must not wait for ever for the others."""
    _before(kind, value, trace)
    for one in list(_open):
        library.myriad_fail(one._handle)  # pylint: disable=protected-access


_before, sys.excepthook = sys.excepthook, _note_exception


def _forget_all() -> None:
    """In a process that fork has made: its simulations are those of the other one, which goes on with their files."""
    for one in list(_open):
        one._handle = ctypes.c_void_p()  # pylint: disable=protected-access
        one._lock = threading.RLock()  # pylint: disable=protected-access
    _open.clear()
    _left.clear()


os.register_at_fork(after_in_child=_forget_all)


class Myriad:
    """A simulation.

    words: options of the program's command line but for -in, --resume and --walltime, as one text each:
    Myriad("--threads", 4, "-log", "none").  Without options the log goes to the screen and to log.myriad.
    interrupt: Ctrl-C ends a run within about a second, with StoppedError; by default in the main thread only, and if
    the script has no way of its own with SIGINT.
    Under mpirun a simulation is that of all ranks, and each rank must make the same calls.
    """

    def __init__(self, *words: Any, interrupt: Optional[bool] = None):
        self._handle = ctypes.c_void_p()
        self._lock = threading.RLock()
        self._external: Dict[str, Any] = {}  # functions that the library may call, by the ID of their fix
        self._raised: Optional[BaseException] = None  # by one of them
        self._given: Dict[str, List[Any]] = {}  # energy and virial, of those in the form of LAMMPS
        texts = [_text(str(word)) for word in words]
        _check(library.myriad_open(len(texts), (ctypes.c_char_p * (len(texts) + 1))(*texts), byref(self._handle)))
        _open.add(self)
        self._interrupt = interrupt

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a simulation can be neither copied nor pickled")

    @_alone
    def close(self) -> None:
        """Ends the simulation, and completes its files.  Does nothing the second time."""
        if not self._handle:
            return
        status = library.myriad_close(self._handle)
        if status != REFUSED:
            self._handle = ctypes.c_void_p()
            _open.discard(self)
        _check(status)

    def __enter__(self) -> "Myriad":
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None or not self._handle or self.ranks == 1:
            self.close()
            return
        # The exception may be that of this rank alone, and is the one to see. The other ranks are ended if they go on.
        traceback.print_exception(kind, value, trace)
        sys.stderr.flush()
        library.myriad_fail(self._handle)
        try:
            self.close()
        except MyriadError:
            pass

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and library.myriad_close(self._handle) == REFUSED:
            _left.append(self._handle)

    def _check(self, status: int) -> None:
        raised, self._raised = self._raised, None
        if status != 0 and raised is not None:
            raise raised
        _check(status)

    # ---- commands

    @_alone
    def _execute(self, function: Callable[..., int], text: str) -> None:
        """Calls a function of the library that executes commands."""
        _close_left()
        words = _text(text)
        interrupt = self._interrupt
        if interrupt is None:
            interrupt = (threading.current_thread() is threading.main_thread()
                         and signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        library.myriad_interruptible(self._handle, interrupt)
        self._check(function(self._handle, words))

    def command(self, line: str) -> None:
        """Executes one command of a deck."""
        self._execute(library.myriad_command, line)

    def commands_string(self, text: str) -> None:
        """Executes the lines of a text as a deck: with &, jump and label."""
        self._execute(library.myriad_commands, text)

    def commands_list(self, lines: Sequence[str]) -> None:
        """Executes commands one after the other."""
        self.commands_string("\n".join(lines))

    def file(self, path: Union[str, "PathLike[str]"]) -> None:
        """Executes a deck."""
        self._execute(library.myriad_file, fspath(path))

    def run(self, steps: int) -> None:
        """The command run."""
        self.command(f"run {_whole(steps, 'a number of steps')}")

    # ---- numbers

    @_alone
    def number(self, formula: str) -> float:
        """A thermo keyword, c_ID[1], f_ID, v_NAME, or a formula of these: md.number("pe/atoms")."""
        value = ctypes.c_double()
        self._check(library.myriad_number(self._handle, _text(formula), byref(value)))
        return value.value

    @_alone
    def array(self, name: str) -> np.ndarray:
        """The vector [rows], or the array [rows, columns], of c_ID, f_ID or a variable v_NAME of style vector."""
        rows, columns = ctypes.c_int64(), ctypes.c_int64()
        size = (self._handle, _text(name), 0, byref(rows), byref(columns), None)
        self._check(library.myriad_array(*size))
        values = np.zeros((rows.value, columns.value))
        if values.size > 0:
            self._check(library.myriad_array(self._handle, _text(name), values.size, byref(rows), byref(columns),
                                             values.ctypes.data))
        return values[:, 0].copy() if columns.value == 1 else values

    def get_thermo(self, name: str) -> float:
        """The value of a thermo keyword at the step that was measured last."""
        return self.number(name)

    def last_thermo(self, *names: str) -> Dict[str, float]:
        """The values of several thermo keywords, by default those of thermo_style one."""
        return {name: self.number(name) for name in names or ("step", "temp", "epair", "etotal", "press")}

    @_alone
    def _whole(self, function: Callable[..., int]) -> int:
        """The whole number that a function of the library gives, which knows no errors."""
        if not self._handle:
            raise UsageError("there is no simulation: it is closed", 2)
        return int(function(self._handle))

    def get_natoms(self) -> int:
        """The number of particles of all ranks."""
        return self._whole(library.myriad_natoms)

    @property
    def step(self) -> int:
        """The present step."""
        return self._whole(library.myriad_step)

    @property
    def rank(self) -> int:
        """The number of this rank, from 0."""
        return self._whole(library.myriad_rank)

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return self._whole(library.myriad_ranks)

    @_alone
    def box(self) -> Box:
        """The box."""
        box = _Box()
        self._check(library.myriad_get_box(self._handle, byref(box)))
        return Box(tuple(box.lo), tuple(box.hi), box.xy, box.yz, box.xz, tuple(bool(p) for p in box.periodic),
                   box.dimension)

    def extract_box(self) -> List[Any]:
        """LAMMPS's list of the box: lo, hi, xy, yz, xz, periodicity, and 0, as a box here changes with fixes only."""
        box = self.box()
        return [list(box.lo), list(box.hi), box.xy, box.yz, box.xz, [int(p) for p in box.periodic], 0]

    def extract_global(self, name: str) -> Union[int, float, None, Tuple[float, ...]]:
        """dt, ntimestep, atime, natoms, boxlo, boxhi, boxxlo ... boxzhi, xy, xz, yz; None: another name."""
        if name in ("boxlo", "boxhi"):
            return self.box().lo if name == "boxlo" else self.box().hi
        if name not in GLOBALS:
            return None
        value = self.number(GLOBALS[name])
        return int(value) if name in WHOLE else value

    def _extract(self, name: str, style: int, kind: int) -> Any:
        if style == LMP_STYLE_ATOM:
            return self.gather(name)
        if style != LMP_STYLE_GLOBAL:
            raise ValueError("style is LMP_STYLE_GLOBAL or LMP_STYLE_ATOM")
        return self.number(name) if kind == LMP_TYPE_SCALAR else self.array(name)

    def extract_compute(self, id: str, style: int = LMP_STYLE_GLOBAL, kind: int = LMP_TYPE_SCALAR) -> Any:
        """A number, a vector or an array of a compute; with LMP_STYLE_ATOM a value for each particle, by id."""
        return self._extract(f"c_{id}", style, kind)

    def extract_fix(self, id: str, style: int = LMP_STYLE_GLOBAL, kind: int = LMP_TYPE_SCALAR, row: int = 0,
                    column: int = 0) -> Any:
        """The same of a fix.  As in LAMMPS, a vector or an array gives one number, of `row` and `column` from 0."""
        if style == LMP_STYLE_GLOBAL and kind != LMP_TYPE_SCALAR:
            index = f"[{row + 1}]" + (f"[{column + 1}]" if kind == LMP_TYPE_ARRAY else "")
            return self.number(f"f_{id}{index}")
        return self._extract(f"f_{id}", style, kind)

    def extract_variable(self, name: str, group: Optional[str] = None) -> Union[float, str, np.ndarray]:
        """The value of a variable: a number of style equal, a text of index and the like, values by id of style atom,
        an array of style vector.  group: particles outside of it have the value 0."""
        formula = f"v_{name}"
        if group is not None:
            return self.gather(f"gmask({group})*{formula}")
        errors = []
        for look in (self.number, self.array, self.gather, lambda _: self.text(name)):
            try:
                return look(formula)
            except UsageError as error:
                errors.append(error)
        # Of a variable of style atom the third says why it has no value, and the last only that it is no text.
        raise errors[2 if "has a value for each particle" in str(errors[-1]) else -1]

    @_alone
    def text(self, name: str) -> str:
        """What ${name} stands for in a deck."""
        value = ctypes.c_char_p()
        self._check(library.myriad_text(self._handle, _text(name), byref(value)))
        return (value.value or b"").decode()

    # ---- particles

    @_alone
    def ids(self) -> np.ndarray:
        """The ids of all particles, in increasing order: the order of all arrays here."""
        ids = np.zeros(self.get_natoms(), dtype=np.int64)
        if ids.size > 0:
            self._check(library.myriad_ids(self._handle, ids.ctypes.data))
        return ids

    @_alone
    def gather(self, field: str) -> np.ndarray:
        """A field of all particles, in the order of ids: x, v or f, [natoms, 3]; type, mass, or a formula of values of
        particles such as "vx", "c_ID[2]", "v_NAME" or "x*vy-y*vx", [natoms].  Types and ids are whole numbers."""
        if field == "id":
            return self.ids()
        columns = COLUMNS.get(field, 1)
        values = np.zeros((self.get_natoms(), columns))
        self._check(library.myriad_gather(self._handle, _text(field), columns, values.ctypes.data))
        if columns > 1:
            return values
        return values[:, 0].astype(np.int64) if field == "type" else values[:, 0].copy()

    @_alone
    def scatter(self, field: str, values: Any) -> None:
        """Sets x or v, [natoms, 3], type or mass, [natoms], of all particles, in the order of ids.

        A position beyond periodic faces is wrapped, and counted by image flags, msd and springs.
        """
        columns = COLUMNS.get(field, 1)
        array = _reals(values, f"{field}")
        shape = (self.get_natoms(), columns) if columns > 1 else (self.get_natoms(),)
        if array.shape != shape:
            raise ValueError(f"{field} must have the shape {shape}, not {array.shape}")
        self._check(library.myriad_scatter(self._handle, _text(field), columns, array.ctypes.data))

    @_alone
    def gather_atoms(self, name: str, dtype: int = 1, count: int = 1) -> np.ndarray:
        """LAMMPS's form of gather: a flat array, `count` numbers for each particle; dtype 0: whole numbers, 1: real."""
        if count != COLUMNS.get(name, 1):
            raise ValueError(f"{name} has {COLUMNS.get(name, 1)} numbers for each particle, not {count}")
        if dtype not in (0, 1):
            raise ValueError(f"dtype is 0 for whole numbers, or 1 for real ones, not {dtype!r}")
        values = self.gather(name).ravel()
        wanted = values.astype(np.float64 if dtype == 1 else np.int64)
        # Ids beyond 2^53 are no doubles, and most numbers are not whole.
        beyond = np.abs(values).max(initial=0) > 2**53 if dtype == 1 and values.dtype == np.int64 else False
        if beyond or (dtype == 0 and not np.array_equal(wanted, values)):
            raise ValueError(f"{name} has values that dtype {dtype} does not hold")
        return wanted

    @_alone
    def scatter_atoms(self, name: str, dtype: int, count: int, data: Any) -> None:
        """LAMMPS's form of scatter, of a flat array."""
        if count != COLUMNS.get(name, 1) or dtype not in (0, 1):
            raise ValueError(f"{name} has {COLUMNS.get(name, 1)} numbers for each particle, not {count}")
        array = _reals(data, name).ravel()
        if array.size != self.get_natoms() * count:
            raise ValueError(f"{name} of {self.get_natoms()} particles has {self.get_natoms() * count} numbers, "
                             f"not {array.size}")
        self.scatter(name, array.reshape(-1, count) if count > 1 else array)

    @_alone
    def local(self, copy: bool = True) -> Local:
        """The particles of this rank: id, type, and x and v by axis, in the order of memory.  copy: with False they are
        views of the simulation's memory, not to be written.  Any later call may end it, and reading the views then may
        end the process."""
        local = _Local()
        self._check(library.myriad_get_local(self._handle, byref(local)))

        def view(pointer: Any, dtype: type) -> np.ndarray:
            if local.n == 0:
                return np.zeros(0, dtype=dtype)
            array = np.ctypeslib.as_array(pointer, shape=(local.n,))
            if copy:
                return array.copy()
            array.flags.writeable = False
            return array

        def axes(pointers: Any) -> Tuple[np.ndarray, ...]:
            return tuple(view(pointer, np.float64) for pointer in pointers if pointer)

        return Local(view(local.id, np.int64), view(local.type, np.uint16), axes(local.x), axes(local.v))

    # ---- forces of this program

    @_alone
    def fix_external(self, id: str, function: Callable[..., Any]) -> None:
        """Gives a fix external of mode pf/callback its function.

        function(step, ids, x, f) fills f, [n, 3], which holds 0, with the forces on the n particles of this rank at x,
        [n, 3], which are inside the box.  It returns None, the energy of these particles, or (energy, virial), where
        virial is xx, yy, zz, xy, xz, yz of the sum of r_a f_b.  It may not call the simulation.  An exception in it
        ends the run, and comes out of it.
        """
        if not callable(function):
            raise TypeError(f"fix external needs a function, not {type(function).__name__}")

        def call(_: Any, step: int, n: int, id_at: Any, x_at: Any, f_at: Any, energy: Any, virial: Any) -> int:
            try:
                axes = [d for d in range(3) if x_at[d]] if n > 0 else []
                ids = np.ctypeslib.as_array(id_at, shape=(n,)).copy() if n > 0 else np.zeros(0, dtype=np.int64)
                x, f = np.zeros((n, 3)), np.zeros((n, 3))
                for d in axes:
                    x[:, d] = np.ctypeslib.as_array(x_at[d], shape=(n,))
                given = function(step, ids, x, f)
                for d in axes:
                    np.ctypeslib.as_array(f_at[d], shape=(n,))[:] = f[:, d]
                if given is not None:
                    energy[0], parts = given if isinstance(given, tuple) else (given, np.zeros(6))
                    np.ctypeslib.as_array(virial, shape=(6,))[:] = _virial(parts)
            except BaseException as error:  # pylint: disable=broad-except
                self._raised = error
                return 1
            return 0

        wrapped = _External(call)
        self._check(library.myriad_fix_external(self._handle, _text(id), wrapped, None))
        self._external[id] = wrapped

    @_alone
    def fix_external_forces(self, id: str, forces: Any) -> None:
        """Sets the forces, [natoms, 3] in the order of ids, of a fix external of mode pf/array."""
        array = _reals(forces, "forces")
        if array.shape != (self.get_natoms(), 3):
            raise ValueError(f"forces must have the shape ({self.get_natoms()}, 3), not {array.shape}")
        self._check(library.myriad_fix_external_forces(self._handle, _text(id), array.ctypes.data))

    @_alone
    def fix_external_energy(self, id: str, energy: float, virial: Sequence[float] = (0.0,) * 6) -> None:
        """Sets energy and virial, xx, yy, zz, xy, xz, yz, of a fix external of mode pf/array."""
        parts = _virial(virial)
        self._check(library.myriad_fix_external_energy(self._handle, _text(id), float(energy), parts.ctypes.data))

    def set_fix_external_callback(self, fix_id: str, callback: Callable[..., Any], caller: Any = None) -> None:
        """LAMMPS's form of fix_external: callback(caller, step, nlocal, tag, x, f), which may call
        fix_external_set_energy_global and fix_external_set_virial_global with the numbers of all ranks."""
        given = self._given[fix_id] = [0.0, (0.0,) * 6]

        def function(step: int, ids: np.ndarray, x: np.ndarray, f: np.ndarray) -> Tuple[float, Sequence[float]]:
            callback(caller, step, len(ids), ids, x, f)
            return (given[0], given[1]) if self.rank == 0 else (0.0, (0.0,) * 6)

        self.fix_external(fix_id, function)

    def fix_external_set_energy_global(self, fix_id: str, eng: float) -> None:
        """The energy of all particles, for a function of set_fix_external_callback."""
        self._given[fix_id][0] = eng

    def fix_external_set_virial_global(self, fix_id: str, virial: Sequence[float]) -> None:
        """The virial of all particles, for a function of set_fix_external_callback."""
        self._given[fix_id][1] = tuple(virial)


def lammps(name: str = "", cmdargs: Sequence[str] = (), ptr: None = None, comm: Any = None) -> Myriad:
    """Opens a simulation as LAMMPS's module does: lammps(cmdargs=["-log", "none"]).  comm: None, or mpi4py's
    COMM_WORLD."""
    if name or ptr is not None:
        raise ValueError("there is one library, and no simulation of another program can be taken over")
    if comm is not None:
        from mpi4py import MPI

        if MPI.Comm.Compare(comm, MPI.COMM_WORLD) not in (MPI.IDENT, MPI.CONGRUENT):
            raise ValueError("a simulation is that of all ranks: comm must be MPI.COMM_WORLD")
    return Myriad(*cmdargs)
