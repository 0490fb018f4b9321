"""Molecular dynamics by Myriad, from Python.

    from myriad import Myriad

    with Myriad("-log", "none") as md:
        md.file("in.melt")
        md.command("run 1000")
        print(md.get_thermo("etotal"), md.gather("x").mean(axis=0))

A simulation gives the same bits as the program with the same commands.  Names of methods are those of LAMMPS's Python
module where their meaning is the same.  docs/python.md is the manual.
"""

from .simulation import (LMP_STYLE_ATOM, LMP_STYLE_GLOBAL, LMP_TYPE_ARRAY, LMP_TYPE_SCALAR, LMP_TYPE_VECTOR, Myriad,
                         MyriadError, PhysicsError, StoppedError, UsageError, lammps, version)

__all__ = ["LMP_STYLE_ATOM", "LMP_STYLE_GLOBAL", "LMP_TYPE_ARRAY", "LMP_TYPE_SCALAR", "LMP_TYPE_VECTOR", "Myriad",
           "MyriadError", "PhysicsError", "StoppedError", "UsageError", "lammps", "version"]
__version__ = version()
