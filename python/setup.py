"""Copies the libraries that `make` has built into the package, which is then one of this machine.

The folder of the libraries is MYRIAD_BUILD, by default build/ of the source tree.  Without them the package needs
MYRIAD_LIBRARY, or a library that the system's loader finds, such as the one of `make install`.
"""

import os
import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

LIBRARIES = ("libmyriad.so", "libmyriad-gpu.so", "libmyriad-hdf5.so")


def built():
    """The libraries that there are."""
    folder = Path(os.environ.get("MYRIAD_BUILD") or Path(__file__).resolve().parents[1] / "build")
    return [folder / name for name in LIBRARIES if (folder / name).exists()]


class WithLibraries(build_py):
    def run(self):
        super().run()
        for path in built():
            shutil.copy2(path, Path(self.build_lib) / "myriad" / path.name)


class OfThisMachine(Distribution):
    def has_ext_modules(self):
        return bool(built())


setup(cmdclass={"build_py": WithLibraries}, distclass=OfThisMachine)
