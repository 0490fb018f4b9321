"""What make compiles: each part of the program by itself, the GPU engine after the program.

The compilers are a script that writes down what it was asked to compile, and makes an empty file of it.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path
from typing import List, Set

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import instruction_sets, program  # noqa: E402 pylint: disable=wrong-import-position

ROOT = Path(__file__).resolve().parents[2]

COMPILER = """\
#!/bin/sh
case $1 in
--list-gpu-arch) printf 'compute_80\\ncompute_90\\n'; exit ;;
esac
source=
while [ $# -gt 0 ]; do
  case $1 in
  -o) [ "$2" = /dev/null ] || : >"$2"; shift ;;
  *.c | *.cu) source=$1 ;;
  esac
  last=$1
  shift
done
[ -z "$source" ] || echo "$source" >>FOLDER/compiled
"""


def files(*patterns: str) -> Set[str]:
    return {str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern)}


TRANSPORTS = files("mpi/transport/*.c")
RANKS = files("mpi/*.c") - TRANSPORTS | {"src/engines/open_comm.c"}
PROGRAM = files("common/**/*.c", "src/**/*.c", "openmp/**/*.c") - files("common/ladder/*.c", "openmp/ladder/*.c",
                                                                        "src/hdf5/hdf5_file.c")
WITHOUT, HDF5 = ["HDF5=no"], ["HDF5_FOUND=serial -lhdf5"]


class Build:
    """A build folder of its own, and compilers that are none."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.compiler = folder / "compiler"
        self.compiler.write_text(COMPILER.replace("FOLDER", str(folder)))
        self.compiler.chmod(0o755)
        # A make that runs these tests hands its own options on, also as variables.
        given = {word.split("=")[0] for word in os.environ.get("MAKEFLAGS", "").split() if "=" in word}
        ours = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "HDF5_FOUND", *given}
        self.surroundings = {name: value for name, value in os.environ.items() if name not in ours}

    def make(self, target: str, *options: str) -> List[str]:
        """The sources that it compiles, in this order."""
        (self.folder / "compiled").write_text("")
        done = subprocess.run(["make", target, f"BUILD={self.folder}", f"CC={self.compiler}", "NCCL=no",
                               "CUDA_ARCHS=90", *options],
                              cwd=ROOT, env=self.surroundings, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return (self.folder / "compiled").read_text().split()

    @property
    def program(self) -> str:
        return str(self.folder / "myriad")


@pytest.fixture
def build(tmp_path) -> Build:
    return Build(tmp_path)


def test_a_part_found_later_compiles_its_own_files(build):
    no_mpi, mpi = ["MPI=no", "GPU=no"], [f"MPICC={build.compiler}", "GPU=no"]
    assert set(build.make(build.program, *WITHOUT, *no_mpi)) == PROGRAM
    assert build.make(build.program, *WITHOUT, *no_mpi) == []
    linked = Path(build.program).stat().st_mtime_ns
    # HDF5 is in a library of its own, with which the program is not linked.
    library = build.folder / "libmyriad-hdf5.so"
    assert not library.exists()
    assert build.make(build.program, *HDF5, *no_mpi) == ["src/hdf5/hdf5_file.c"]
    assert library.exists() and Path(build.program).stat().st_mtime_ns == linked
    assert set(build.make(build.program, *HDF5, *mpi)) == RANKS
    assert build.make(build.program, *HDF5, *mpi) == []
    # HDF5 over MPI takes the compiler of MPI.
    parallel = ["HDF5_FOUND=parallel -lhdf5"]
    assert build.make(build.program, *parallel, *mpi) == ["src/hdf5/hdf5_file.c"]
    assert set(build.make(build.program, *WITHOUT, *mpi, "CFLAGS=-O1")) == PROGRAM | RANKS
    assert not library.exists()


def test_unit_tests_use_every_function_and_wait_for_none(build):
    options = [*WITHOUT, "MPI=no", "GPU=no"]
    tested = PROGRAM - {"src/main.c"} | files("common/ladder/*.c")
    test = build.folder / "unit" / "test_error"
    assert set(build.make(str(test), *options)) == tested | {"validate/unit/test_error.c"}
    first = test.stat().st_mtime_ns
    assert build.make(str(build.folder / "unit" / "test_pair"), *options) == ["validate/unit/test_pair.c"]
    # A change compiles its own file, and links the library, but no test.
    os.utime(build.folder / "obj/common/base/error.o", (0, 0))
    assert build.make(str(test), *options) == ["common/base/error.c"]
    assert test.stat().st_mtime_ns == first


def test_the_gpu_engine_waits_and_is_not_waited_for(build):
    cuda = files("gpu/**/*.cu") - files("gpu/ladder/**/*.cu")
    gpu = [f"NVCC={build.compiler}", "CUDA_HOME=/nowhere"]
    assert set(build.make(build.program, *WITHOUT, *gpu, "MPI=no")) == PROGRAM
    assert set(build.make("gpu", *WITHOUT, *gpu, "MPI=no")) == cuda | {"gpu/library.c"}
    assert build.make("all", *WITHOUT, *gpu, "MPI=no") == []
    assert set(build.make("all", *WITHOUT, *gpu, f"MPICC={build.compiler}")) == RANKS | TRANSPORTS | {"gpu/library.c"}
    for path in [*build.folder.rglob("*.o"), Path(build.program)]:
        path.unlink()
    order = build.make("all", *WITHOUT, *gpu, "MPI=no")
    assert set(order) == PROGRAM | cuda | {"gpu/library.c"}
    first = min(order.index(source) for source in cuda)
    assert not PROGRAM & set(order[first:])


X86 = platform.machine() in ("x86_64", "AMD64")


@pytest.mark.skipif(not X86, reason="one set of vector kernels")
def test_the_first_program_has_the_kernels_of_its_processor(build):
    options, kernels = [*WITHOUT, "MPI=no", "GPU=no"], {"openmp/force/kernels.c", "openmp/all_pairs/kernels.c"}
    first = build.make(build.program, *options, "ISAS=native")
    assert set(first) == PROGRAM
    sets = first.count("openmp/force/kernels.c")
    assert sets == 1
    # The others come with make, and stay.
    rest = build.make(build.program, *options)
    assert set(rest) == kernels and rest.count("openmp/force/kernels.c") == 3 - sets
    linked = Path(build.program).stat().st_mtime_ns
    assert build.make(build.program, *options, "ISAS=native") == []
    assert Path(build.program).stat().st_mtime_ns == linked
    for path in build.folder.glob("obj/openmp/force/kernels.*.o"):
        os.utime(path, (0, 0))
    assert build.make(build.program, *options, "ISAS=native") == ["openmp/force/kernels.c"] * 3


DECK = "region b block 0 1 0 1 0 1\ncreate_box 1 b\nmass 1 1\nrun 0\n"


def program_with(folder, *isas):
    """The objects of the program that is tested, linked as it was, with the vector kernels of these sets alone."""
    built, partial = program().resolve().parent, str(folder / "myriad")
    link = (built / "flags" / "link").read_text().strip()
    sources = PROGRAM | (RANKS if "-DMD_WITH_MPI" in (built / "flags" / "mpi").read_text() else set())
    kernels = {source for source in sources if source.endswith("/kernels.c")}
    names = [source.removesuffix(".c") for source in sources - kernels]
    names += [f"{source.removesuffix('.c')}.{isa}" for source in kernels for isa in isas]
    libraries = [word for word in link.split() if word.startswith("-l")]
    words = shlex.join(["-Wl,--dynamic-list=src/exports.list", "-o", partial,
                        *(str(built / "obj" / f"{name}.o") for name in names), *libraries])
    subprocess.run(f"{link} {words}", shell=True, cwd=ROOT, timeout=120, check=True)
    return partial


@pytest.mark.skipif(not X86, reason="one set of vector kernels")
def test_a_program_without_the_best_kernels_says_so(tmp_path):
    best = instruction_sets()[-1]
    if best == "generic":
        pytest.skip("the generic kernels are the best ones of this processor")
    partial = program_with(tmp_path, "generic")
    said = f"This processor has {best}, for which this build has no kernels: make adds them\n"
    for engine in ([], ["--engine", "naive"]):
        run = subprocess.run([partial, "-in", "-", "-log", "none", *engine], input=DECK, text=True,
                             capture_output=True, timeout=60, check=True)
        assert (said in run.stdout) == (engine == []) and (engine or "openmp, generic instructions" in run.stdout)
    info = subprocess.run([partial, "info"], text=True, capture_output=True, timeout=60, check=True).stdout
    assert f"generic vector instructions\n{said}" in info
    refused = subprocess.run([partial, "-in", "-", "-log", "none"], input=DECK, text=True, capture_output=True,
                             env={**os.environ, "MYRIAD_ISA": best}, timeout=60, check=False)
    assert refused.returncode == 2 and "there are generic\n" in refused.stderr


@pytest.mark.skipif(not X86, reason="one set of vector kernels")
def test_a_program_whose_kernels_are_of_another_processor_says_so(tmp_path):
    """Linked with kernels that this processor cannot execute, or, where it can execute all, with none."""
    foreign = {"generic", "avx2", "avx512"} - set(instruction_sets())
    partial = program_with(tmp_path, *foreign)
    there = " ".join(isa for isa in ("generic", "avx2", "avx512") if isa in foreign) or "none"
    refused = subprocess.run([partial, "-in", "-", "-log", "none"], input=DECK, text=True, capture_output=True,
                             timeout=60, check=False)
    assert refused.returncode == 2 and refused.stderr.endswith(
        f"this build has no kernels that this processor can execute, only those for {there}: make adds the others, "
        "and --engine naive needs none\n")
    subprocess.run([partial, "-in", "-", "-log", "none", "--engine", "naive"], input=DECK, text=True,
                   capture_output=True, timeout=60, check=True)
    info = subprocess.run([partial, "info"], text=True, capture_output=True, timeout=60, check=True).stdout
    assert " no vector instructions\n" in info
    plan = subprocess.run([partial, "plan", "-in", "-", "--particles", "10"], input=DECK, text=True,
                          capture_output=True, timeout=60, check=False)
    assert plan.returncode == 2 and "make adds the others" in plan.stderr
