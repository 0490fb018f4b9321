"""The command line: options, help, where output goes, and exit statuses."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Dict

import pytest

from cli import BOX, RUNTIME, USAGE, Done, call, refused, run_deck, works
from harness import environment, mpi_missing, program

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.smoke

HELLO = 'print "hello $(1+1)"\n'


@pytest.fixture
def hello(tmp_path) -> Path:
    (tmp_path / "in.hello").write_text(HELLO)
    return tmp_path


# ---------------------------------------------------------------- talking about itself


def commands() -> dict:
    """Usage and help of every command, from the table that the program is made of."""
    table = (ROOT / "src/deck/commands.def").read_text()
    entry = r'MD_COMMAND\((\w+), (-?\d+), (-?\d+),\s*((?:"[^"]*"\s*)+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)'
    text = lambda strings: "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', strings)).replace("\\n", "\n").replace('\\"', '"')
    found = {m[1]: (text(m[4]), text(m[5])) for m in re.finditer(entry, table)}
    assert len(found) == table.count("MD_COMMAND(") - 1  # one stands in the comment
    return found


def test_version(tmp_path):
    assert re.fullmatch(r"Myriad \d+\.\d+\S*\n", works(call(tmp_path, "--version")).out)


def test_help_lists_options_and_commands(tmp_path):
    text = works(call(tmp_path, "help")).out
    for option in ("-in", "-var", "--engine", "--gpu-naive", "-package, -pk", "--threads", "-log", "-screen", "-echo",
                   "--version", "myriad plan -in DECK", "--particles"):
        assert option in text
    for usage, _ in commands().values():
        assert f"\n  {usage}\n" in text
    for option in ("--help", "-h", "-help"):
        assert works(call(tmp_path, option)).out == text


@pytest.mark.parametrize("list_of", ["fix", "compute"])
def test_help_names_every_style(list_of, tmp_path):
    out = works(call(tmp_path, "help", list_of)).out
    styles = re.findall(rf'MD_{list_of.upper()}_STYLE\(\w+, "(.+?)"\)',
                        "".join(p.read_text() for p in (ROOT / "common" / list_of).glob(f"{list_of}_*.h")))
    assert len(styles) >= 5
    for style in styles:
        assert re.search(rf"^  {style}\b", out, re.M), style


@pytest.mark.parametrize("name", sorted(commands()))
def test_help_of_a_command(name, tmp_path):
    usage, explanation = commands()[name]
    out = works(call(tmp_path, "help", name)).out
    # Styles of fixes and computes follow, from their own lists.
    text = f"{usage}\n\n{explanation}\n"
    assert out.startswith(text) if name in ("fix", "compute") else out == text
    assert usage.split()[0] == name
    assert max(map(len, explanation.splitlines())) <= 110


def test_help_of_something_else(tmp_path):
    refused(call(tmp_path, "help", "velocty"), USAGE, "velocty", "did you mean velocity", "myriad help")
    refused(call(tmp_path, "help", "zzzzzzzz"), USAGE, "zzzzzzzz", "myriad help")
    refused(call(tmp_path, "help", "run", "fix"), USAGE, "fix", "no style")
    refused(call(tmp_path, "help", "fix", "nvt", "more"), USAGE, "more")


@pytest.mark.parametrize("words, beginning", [
    (["fix", "nvt"], "  nvt temp TSTART"), (["nvt"], "  nvt temp TSTART"), (["ave/time"], "  ave/time N"),
    (["compute", "rdf"], "  rdf NBIN"), (["rdf"], "  rdf NBIN"), (["lj/cut"], "  pair_style lj/cut")])
def test_help_of_a_style(words, beginning, tmp_path):
    out = works(call(tmp_path, "help", *words)).out
    assert out.startswith(f"\n{beginning}")
    assert len(out.splitlines()) < 12


def test_info(tmp_path):
    text = works(call(tmp_path, "info")).out
    for word in ("naive", "openmp", "lj/cut", "repulsive", "soft", "threads", "instructions", "2147483584",
                 "1024 types", "Bytes per particle: 42 in 2D, 58 in 3D"):
        assert word in text
    refused(call(tmp_path, "info", "more"), USAGE, "more")


def engines(folder: Path) -> Dict[str, bool]:
    """Every engine that there is, and whether this build has it."""
    listed = works(call(folder, "info")).out.split("\nEngines:\n")[1].split("\n\n")[0]
    return {line.split()[0]: " not here: " not in line for line in listed.splitlines()}


def test_info_lists_the_engines(tmp_path):
    found = engines(tmp_path)
    assert set(found) == {"openmp", "naive", "gpu"} and found["openmp"] and found["naive"]
    text = works(call(tmp_path, "info")).out
    assert "\nDefault engine: openmp\n" in text
    if not found["gpu"]:
        assert re.search(r"^  gpu +not here: .*`make( gpu)?` builds", text, re.M)
        assert "GPU code" not in text


def test_ranks_without_mpi(hello):
    """What a build without MPI says where a launcher has started several of it."""
    if not mpi_missing():
        pytest.skip("this build has MPI")
    assert "no MPI" in works(call(hello, "info")).out
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"):
        words = ["-in", "in.hello", "-log", "none"]
        refused(call(hello, *words, variables={name: "4"}), RUNTIME, "started as 4 ranks", "no MPI", "mpicc")
        assert "hello 2" in works(call(hello, *words, variables={name: "1"})).out


# ---------------------------------------------------------------- wrong command lines


def test_a_message_is_written_in_one_piece(tmp_path):
    """Each write to this kind of socket is a packet: mpirun must not come between the halves of a message."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        done = subprocess.run([program(), "-in", "in.nothere", "-log", "none"], cwd=tmp_path, env=environment(),
                              stderr=theirs, check=False)
        assert done.returncode == RUNTIME
        assert ours.recv(4096).decode() == "myriad: error: cannot read the deck in.nothere: No such file or directory\n"


@pytest.mark.parametrize("arguments, words", [
    ([], ["no deck", "-in FILE"]),
    (["in.hello"], ["in.hello", "unknown option", "-in FILE", "--help"]),
    (["--fast", "-in", "in.hello"], ["--fast", "unknown option"]),
    (["-in"], ["-in", "needs a value"]),
    (["-in", "in.hello", "-log"], ["-log", "needs a value"]),
    (["-in", "in.hello", "--threads"], ["--threads", "needs a value"]),
    (["-in", "in.hello", "--threads", "0"], ["--threads", "from 1 to 2147483647", "0"]),
    (["-in", "in.hello", "--threads", "-1"], ["--threads", "from 1 to 2147483647", "-1"]),
    (["-in", "in.hello", "--threads", "3000000000"], ["--threads", "from 1 to 2147483647", "3000000000"]),
    (["-in", "in.hello", "--threads", "x"], ["--threads", "whole number", "x"]),
    (["-in", "in.hello", "--threads", "1.5"], ["--threads", "whole number", "1.5"]),
    (["-in", "in.hello", "--engine", "warp"], ["warp", "accepted are", "openmp", "naive"]),
    (["-in", "in.hello", "--gpu-naive"], ["--gpu-naive", "--engine naive", "not openmp"]),
    (["-in", "in.hello", "--particles", "5"], ["--particles", "myriad plan"]),
    (["-in", "in.hello", "-pk"], ["-pk", "package command", "gpu KEYWORD VALUE"]),
    (["-in", "in.hello", "-pk", "-log", "none"], ["-pk", "package command"]),
    (["-in", "in.hello", "-pk", "cuda", "1"], ["-pk: ", "cuda", "gpu, intel, kokkos and omp"]),
    (["-in", "in.hello", "-package", "gpu", "sort", "bubble"],
     ["-pk: ", "sort", "auto, step, count or radix", "bubble"]),
    (["-in", "in.hello", "--package", "gpu", "speed", "9"], ["-pk: ", "speed", "accepted are precision force"]),
    (["-in", "in.hello", "-pk", "gpu", "1", "block"], ["-pk: ", "block", "needs a value"]),
    (["-in", "in.hello", "-echo", "loud"], ["loud", "none, screen, log or both"]),
    (["-in", "in.hello", "-var"], ["-var", "name", "value"]),
    (["-in", "in.hello", "-var", "n"], ["-var", "name", "value"]),
    (["-in", "in.hello", "-var", "n", "-log", "none"], ["-var", "name", "value"]),
    (["-in", "in.hello", "-var", "a-b", "1"], ["a-b", "letters"]),
    (["-in", "in.hello", "-var", "n", "1", "-var", "n", "2"], ["n", "twice"]),
])
def test_usage_error(arguments, words, hello):
    refused(call(hello, *arguments), USAGE, *words)


def test_a_wrong_command_line_leaves_the_log_alone(hello):
    (hello / "log.myriad").write_text("an hour's work")
    for arguments in (["-echo", "loud"], ["--threads", "0"], ["--fast"], ["-var", "n"], ["--engine", "warp"],
                      ["--gpu-naive"], ["--particles", "5"], ["-pk"]):
        refused(call(hello, "-in", "in.hello", *arguments), USAGE)
    assert (hello / "log.myriad").read_text() == "an hour's work"


# ---------------------------------------------------------------- where output goes


def test_screen_and_default_log(hello):
    out = works(call(hello, "-in", "in.hello")).out
    log = (hello / "log.myriad").read_text()
    assert re.fullmatch(r"Myriad \S+\nhello 2\nlog: log\.myriad\nTotal wall time: 0:00:\d\d\n", out)
    assert re.fullmatch(r'Myriad \S+\nprint "hello \$\(1\+1\)"\nhello 2\nlog: log\.myriad\n'
                        r'Total wall time: 0:00:\d\d\n', log)


def test_log(hello):
    out = works(call(hello, "-in", "in.hello", "-log", "other")).out
    assert "hello 2" in out and "hello 2" in (hello / "other").read_text()
    works(call(hello, "-in", "in.hello", "-l", "none"))
    assert {path.name for path in hello.iterdir()} == {"in.hello", "other"}


def test_screen(hello):
    assert works(call(hello, "-in", "in.hello", "-screen", "none")).out == ""
    assert works(call(hello, "-in", "in.hello", "-sc", "seen")).out == ""
    assert "hello 2\n" in (hello / "seen").read_text()
    assert "hello 2\n" in (hello / "log.myriad").read_text()


@pytest.mark.parametrize("where, screen, log", [("none", False, False), ("screen", True, False),
                                                ("log", False, True), ("both", True, True)])
def test_echo(where, screen, log, hello):
    line = 'print "hello $(1+1)"\n'
    for arguments, deck in ((["-echo", where], HELLO), (["-e", where], HELLO), ([], f"echo {where}\n{HELLO}")):
        (hello / "in.hello").write_text(deck)
        out = works(call(hello, "-in", "in.hello", *arguments)).out
        assert (line in out) == screen
        assert (line in (hello / "log.myriad").read_text()) == log


def test_echo_repeats_a_line_whose_variables_were_replaced(tmp_path):
    out = works(run_deck(tmp_path, "variable n index 7\nthermo $n\n", "-echo", "screen")).out
    assert "\nthermo $n\nthermo 7\n" in out


def test_log_command(tmp_path):
    works(run_deck(tmp_path, "print one\nlog b\nprint two\nlog a append\nprint three\nlog none\nprint four\n",
                   "-log", "a"))
    said = lambda name: re.findall(r"^(one|two|three|four)$", (tmp_path / name).read_text(), re.M)
    assert said("a") == ["one", "three"] and said("b") == ["two"]


def test_a_log_that_comes_again_keeps_its_text(tmp_path):
    """Under any name of the file. That of another run is replaced."""
    (tmp_path / "b").write_text("five\n")
    works(run_deck(tmp_path, "print one\nlog b\nprint two\nlog ./a\nprint three\nlog b\nprint four\n", "-log", "a"))
    said = lambda name: re.findall(r"^(one|two|three|four|five)$", (tmp_path / name).read_text(), re.M)
    assert said("a") == ["one", "three"] and said("b") == ["two", "four"]


# ---------------------------------------------------------------- decks and variables


def test_deck_from_standard_input(tmp_path):
    out = works(call(tmp_path, "-in", "-", "-log", "none", input=HELLO.encode())).out
    assert "\nhello 2\n" in out
    done = call(tmp_path, "-in", "-", "-log", "none", input=b"units lj\nwrong\n")
    refused(done, USAGE, "standard input:2: ", "wrong")


def test_var(tmp_path):
    deck = 'variable n index 5\nvariable list index a b\nprint "<$n ${list}>"\n'
    said = lambda *arguments: re.search("<(.*)>", works(run_deck(tmp_path, deck, *arguments)).out)[1]
    assert said() == "5 a"
    assert said("-var", "n", "6") == "6 a"
    assert said("-v", "n", "-6") == "-6 a"
    assert said("-var", "n", "-.5e-3", "-var", "list", "c", "d", "e") == "-.5e-3 c"
    assert said("-var", "list", "two words") == "5 two words"
    assert "WARNING" not in works(run_deck(tmp_path, deck, "-var", "n", "6")).out


def test_misspelt_var_is_told(tmp_path):
    out = works(run_deck(tmp_path, "variable steps index 5\nprint ${steps}\n", "-var", "step", "6")).out
    assert "WARNING: -var step was given, but the deck has no variable of that name" in out


def test_many_vars(tmp_path):
    some = [word for k in range(256) for word in ("-var", f"a{k}", str(k))]
    assert "255" in works(run_deck(tmp_path, "print ${a255}\n", *some)).out
    refused(run_deck(tmp_path, "", *some, "-var", "b", "1"), USAGE, "256")


def test_engines_and_threads(tmp_path):
    # Enough particles for three threads: a thread without work of its own is not started.
    gas = "region b block 0 6 0 6 0 6 units box\ncreate_box 1 b\nmass 1 1\ncreate_atoms 1 random 300 1 NULL\n"
    (tmp_path / "in.box").write_text(gas + "run 1\n")
    for arguments, said in ((["--engine", "naive"], "on 1 procs"), (["--threads", "1"], "on 1 procs"),
                            (["--threads", "3"], "on 3 procs"),
                            (["--engine", "openmp", "--threads", "2"], "on 2 procs")):
        out = works(call(tmp_path, "-in", "in.box", "-log", "none", *arguments)).out
        assert said in out
    out = works(call(tmp_path, "-in", "in.box", "-log", "none", variables={"OMP_NUM_THREADS": "2"})).out
    assert "on 2 procs" in out


ON_THE_GPU = (["--engine", "gpu"], ["--engine", "naive", "--gpu-naive"], ["--gpu-naive", "--engine", "naive"])


def test_no_library_of_the_gpu_engine(hello):
    """Neither beside the program nor where it is installed, nor where the environment says."""
    copy = hello / "bin" / "myriad"
    copy.parent.mkdir()
    shutil.copy(program(), copy)
    for arguments in ON_THE_GPU:
        for surroundings, place in (({}, f"{copy.parent}/libmyriad-gpu.so"),
                                    ({"MYRIAD_GPU_LIBRARY": "none.so"}, "./none.so")):
            done = subprocess.run([copy, "-in", "in.hello", *arguments], cwd=hello, capture_output=True, text=True,
                                  check=False, env={**environment(), "MYRIAD_GPU_LIBRARY": "", **surroundings})
            assert done.returncode == USAGE
            assert f"the engine gpu is not here: there is no {place}: `make gpu` builds it" in done.stderr
    assert not (hello / "log.myriad").exists()


def foreign_library(folder: Path, source: str) -> Path:
    """A library of these lines of C."""
    library = folder / "foreign.so"
    done = subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", library, "-"], input=source, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return library


OTHER_SOURCES = "was built from other sources than this program: `make` builds both"


@pytest.mark.parametrize("source, said", [
    ("const char *md_gpu[4] = {\"0123456789abcdef\"};\n", OTHER_SOURCES),
    ("int something_else;\n", OTHER_SOURCES),
    ("void nowhere(void); void f(void) { nowhere(); }\n", "cannot be loaded: ")])
def test_a_foreign_library_of_the_gpu_engine(source, said, hello):
    library = foreign_library(hello, source)
    for arguments in ON_THE_GPU:
        refused(call(hello, "-in", "in.hello", *arguments, variables={"MYRIAD_GPU_LIBRARY": str(library)}), RUNTIME,
                "the engine gpu is not here: the GPU engine's library", str(library), said)
    assert said in works(call(hello, "info", variables={"MYRIAD_GPU_LIBRARY": str(library)})).out
    assert "hello 2" in works(call(hello, "-in", "in.hello", "-log", "none",
                                   variables={"MYRIAD_GPU_LIBRARY": str(library)})).out


def test_where_the_library_of_the_gpu_engine_may_be(tmp_path):
    library = program().parent / "libmyriad-gpu.so"
    if not engines(tmp_path)["gpu"] or not library.exists():
        pytest.skip("this build has no library of the engine gpu")
    there = tmp_path / "bin" / "myriad"
    there.parent.mkdir()
    shutil.copy(program(), there)
    for place in ("bin", "lib/myriad", "elsewhere"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        copy = shutil.copy(library, tmp_path / place)
        named = {"MYRIAD_GPU_LIBRARY": copy} if place == "elsewhere" else {}
        done = subprocess.run([there, "info"], env={**environment(), **named}, capture_output=True, text=True,
                              check=False)
        assert "\n  gpu      cells or lists on a GPU" in done.stdout and "\nGPU code for architectures: " in done.stdout
        Path(copy).unlink()


NEEDS_HDF5 = ("restart 1 a.rst", "dump 1 all h5md 1 a.h5", "read_restart a.rst", "write_restart a.rst")
has_hdf5 = pytest.mark.skipif(not (program().parent / "libmyriad-hdf5.so").exists(), reason="this build has no HDF5")


def in_the_box(folder: Path, line: str) -> Path:
    (folder / "in.line").write_text(line + "\n" if line.startswith("read") else BOX + line + "\n")
    return folder / "in.line"


@has_hdf5
def test_hdf5_comes_when_it_is_asked_for(tmp_path):
    """A start without it loads a fifth of the libraries."""
    done = subprocess.run(["ldd", program()], capture_output=True, text=True, check=True)
    assert "hdf5" not in done.stdout and "libpng" in done.stdout
    assert re.search(r"^Restarts and H5MD: HDF5 1\.\d", works(call(tmp_path, "info")).out, re.M)
    works(call(tmp_path, "-in", in_the_box(tmp_path, NEEDS_HDF5[1] + "\nrun 1"), "-log", "none"))
    assert (tmp_path / "a.h5").read_bytes()[1:4] == b"HDF"


def test_no_library_of_hdf5(tmp_path):
    copy = tmp_path / "bin" / "myriad"
    copy.parent.mkdir()
    shutil.copy(program(), copy)
    for line in NEEDS_HDF5:
        for named, place in (("", f"{copy.parent}/libmyriad-hdf5.so"), ("none.so", "./none.so")):
            done = subprocess.run([copy, "-in", in_the_box(tmp_path, line), "-log", "none"], cwd=tmp_path, check=False,
                                  capture_output=True, text=True, env={**environment(), "MYRIAD_HDF5_LIBRARY": named})
            assert done.returncode == USAGE
            assert f"needs HDF5: there is no {place}: `make` builds it, where HDF5 is found" in done.stderr
    works(call(tmp_path, "-in", in_the_box(tmp_path, "run 1"), "-log", "none",
               variables={"MYRIAD_HDF5_LIBRARY": "none.so"}))
    assert "not here: they need HDF5; there is no ./none.so: " in works(
        call(tmp_path, "info", variables={"MYRIAD_HDF5_LIBRARY": "none.so"})).out


@pytest.mark.parametrize("source, said", [
    ("const char *md_hdf5[4] = {\"0123456789abcdef\"};\n", OTHER_SOURCES),
    ("const char *md_hdf5[4];\n", OTHER_SOURCES),
    ("int something_else;\n", OTHER_SOURCES),
    ("void nowhere(void); void f(void) { nowhere(); }\n", "cannot be loaded: ")])
def test_a_foreign_library_of_hdf5(source, said, tmp_path):
    library = foreign_library(tmp_path, source)
    for line in NEEDS_HDF5:
        refused(call(tmp_path, "-in", in_the_box(tmp_path, line), "-log", "none",
                     variables={"MYRIAD_HDF5_LIBRARY": str(library)}), RUNTIME,
                "needs HDF5: the library of HDF5 files", str(library), said)


@has_hdf5
def test_where_the_library_of_hdf5_may_be(tmp_path):
    there = tmp_path / "bin" / "myriad"
    there.parent.mkdir()
    shutil.copy(program(), there)
    for place in ("bin", "lib/myriad", "elsewhere"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        copy = shutil.copy(program().parent / "libmyriad-hdf5.so", tmp_path / place)
        named = {"MYRIAD_HDF5_LIBRARY": copy} if place == "elsewhere" else {}
        done = subprocess.run([there, "info"], env={**environment(), **named}, capture_output=True, text=True,
                              check=False)
        assert "\nRestarts and H5MD: HDF5 1." in done.stdout
        Path(copy).unlink()


def test_package_on_the_command_line(tmp_path):
    """Its words are those of the command, and only concern another engine."""
    note = "Note: package gpu: only concerns --engine gpu"
    deck = "package gpu block 128\n" + BOX + "run 1\n"
    without = works(run_deck(tmp_path, deck)).out
    assert without.count(note) == 1
    out = works(run_deck(tmp_path, deck, "-pk", "gpu", "2", "neighbors", "list", "skin", ".5", "-pk", "omp", "4",
                         "-package", "gpu", "precision", "mixed")).out
    assert out.count(note) == 1 and out.count("Note: package gpu N: ") == 1 and out.count("Note: package: ") == 1
    assert out.index(note) < out.index("Engine openmp")
    rows = lambda text: re.findall(r"^ +\d.*$", text, re.M)
    assert rows(out) == rows(without) != []


def test_many_packages(tmp_path):
    some = ["-pk", "omp", "1"] * 16
    works(run_deck(tmp_path, HELLO, *some))
    refused(run_deck(tmp_path, HELLO, *some, "-pk", "omp", "1"), USAGE, "16", "-pk")


# ---------------------------------------------------------------- plans


def plans(folder: Path, *arguments: str) -> Done:
    """A plan of the box by the first engine that has one."""
    deck = "log plan.log\n" + BOX + "dump d all atom 1 d.dump\nrun 10\nprint behind\nnonsense\n"
    (folder / "in.deck").write_text(deck)
    for name, built in engines(folder).items():
        if not built:
            continue
        done = call(folder, "plan", "-in", "in.deck", "--engine", name, *arguments)
        if "has no plan" not in done.err:
            return works(done)
    pytest.skip("no engine of this build has a plan")


def test_plan(tmp_path):
    out = plans(tmp_path).out
    rows = re.findall(r"^(\S.*?) +\| +([\d.]+) \| +([\d.]+) (\w+)$", out, re.M)
    assert len(rows) > 1 and rows[-1][0] == "all"
    total = sum(float(row[1]) for row in rows[:-1])
    assert total == pytest.approx(float(rows[-1][1]), rel=1e-3, abs=0.01 * len(rows))
    assert " for 2 particles in 3 dimensions, cutoff 2.5\n" in out and "\nNeighbours: " in out
    assert "\nMemory available: " in out
    assert "behind" not in out and "Loop time" not in out and "Total wall time" not in out
    assert {path.name for path in tmp_path.iterdir()} == {"in.deck"}


def test_a_plan_counts_the_places_of_displacements(tmp_path):
    (tmp_path / "in.deck").write_text(BOX + "compute m all msd\ncompute v all vacf\nrun 10\n")
    out = works(call(tmp_path, "plan", "-in", "in.deck", "--engine", "openmp")).out
    rows = [float(line.split("|")[1]) for line in out.splitlines() if line.count("|") == 2 and "bytes" not in line]
    # Two records of 80 bytes, and 64 bytes of the look of one after the other.
    assert 2 * 80 + 64 in rows and rows[-1] == pytest.approx(sum(rows[:-1]), abs=0.1)


def test_plan_for_many_particles(tmp_path):
    one, many = plans(tmp_path, "--particles", "1000000").out, plans(tmp_path, "--particles", "100000000000").out
    assert " for 1000000 particles" in one and " for 100000000000 particles" in many
    fits = re.search(r"^Largest number of particles that fits: (\d+)", many, re.M)
    if fits and int(fits[1]) > 0:
        ranks = re.search(r"at least (\d+) ranks", many)
        assert ranks and int(ranks[1]) == -(-100000000000 // int(fits[1]))


LIQUID = ("region b block 0 30 0 30 0 60 units box\ncreate_box 1 b\nmass 1 1\nlattice sc 1.0\ncreate_atoms 1 box\n"
          "pair_style lj/cut 2.5\npair_coeff * * 1 1\nneighbor 0.5 bin\nfix 1 all nve\nrun 1\n")


def test_plan_for_ranks(tmp_path):
    """A box of 30 x 30 x 60 on 4 ranks is cut twice along z: 30 x 30 x 15 each, 3 sigma of ghosts on each side."""
    (tmp_path / "in.liquid").write_text(LIQUID)
    out = works(call(tmp_path, "plan", "-in", "in.liquid", "--engine", "openmp", "--ranks", "4")).out
    assert "\nRanks: 1 x 1 x 4, domains of 30 x 30 x 15, 13500 particles each\n" in out
    halo = re.search(r"^Halo: 3 wide, ([\d.]+) ghosts a rank, of which ([\d.]+) come from other ranks$", out, re.M)
    assert float(halo[1]) == pytest.approx(36 * 36 * 21 - 13500, rel=1e-4)
    assert float(halo[2]) == pytest.approx(36 * 36 * 6, rel=1e-4)
    assert re.search(rf"^Messages: 2 a rank and step, {36 * 36 * 6 * 24 / 1024:.1f} KiB in all$", out, re.M)
    many = works(call(tmp_path, "plan", "-in", "in.liquid", "--engine", "openmp", "--ranks", "64", "--particles",
                      "64000000000")).out
    assert "1000000000 particles each" in many and "\nMessages: 6 a rank and step" in many
    refused(call(tmp_path, "plan", "-in", "in.liquid", "--engine", "openmp", "--ranks", "10007"), USAGE,
            "10007 ranks", "thinner than the halo of 3", "at most 1539 ranks fit")
    refused(call(tmp_path, "plan", "-in", "in.liquid", "--engine", "openmp", "--ranks", "23"), USAGE,
            "23 ranks", "22 and 24 ranks fit")


def test_plan_says_what_a_run_takes(tmp_path):
    """The openmp engine's plan against the end of a log. A crystal's shells make its lists longer than a liquid's."""
    (tmp_path / "in.liquid").write_text(LIQUID)
    plan = works(call(tmp_path, "plan", "-in", "in.liquid", "--engine", "openmp")).out
    run = works(call(tmp_path, "-in", "in.liquid", "--engine", "openmp", "-log", "none")).out
    planned = float(re.search(r"^all +\| +([\d.]+)", plan, re.M)[1])
    assert planned == pytest.approx(float(re.search(r"^Memory: ([\d.]+) bytes per particle", run, re.M)[1]), rel=0.15)


@pytest.mark.parametrize("types, package, packed", [
    (1, [], True), (4, [], True), (5, [], False), (1, ["skin", "0.5"], True), (1, ["skin", "2"], False),
    (1, ["neighbours", "cells"], False), (1, ["precision", "mixed"], False)])
def test_plan_of_packed_positions(types, package, packed, tmp_path):
    """Positions of 16 bytes need lists, double precision, at most four types, and a skin below about half the cutoff.
    """
    if not engines(tmp_path)["gpu"]:
        pytest.skip("the engine gpu is not here")
    (tmp_path / "in.deck").write_text(
        f"units lj\nlattice fcc 0.8442\nregion b block 0 8 0 8 0 8\ncreate_box {types} b\ncreate_atoms 1 box\n"
        "mass * 1\npair_style lj/cut 2.5\npair_coeff * * 1 1\nneighbor 0.3 bin\nfix move all nve\nrun 10\n")
    out = works(call(tmp_path, "plan", "-in", "in.deck", "--engine", "gpu", "-pk", "gpu", "block", "64", *package)).out
    assert ("packed positions" in out) == packed and ("pages and paths" in out) == packed


def test_plan_of_an_engine_without_one(hello):
    done = call(hello, "plan", "-in", "in.hello", "--engine", "naive")
    refused(done, USAGE, "engine naive has no plan", "engines of this build that have one")
    assert "hello 2" not in done.out and {path.name for path in hello.iterdir()} == {"in.hello"}


@pytest.mark.parametrize("arguments, words", [
    ([], ["no deck", "myriad plan -in FILE"]),
    (["-in", "in.hello", "--particles"], ["--particles", "needs a value"]),
    (["-in", "in.hello", "--particles", "0"], ["--particles", "at least 1", "0"]),
    (["-in", "in.hello", "--particles", "1e6"], ["--particles", "whole number", "1e6"]),
    (["-in", "in.hello", "--ranks", "0"], ["--ranks", "from 1", "0"]),
    (["-in", "in.hello", "-log", "plan.log"], ["plan writes no log", "-log plan.log"]),
    (["in.hello"], ["in.hello", "unknown option"]),
])
def test_plan_usage(arguments, words, hello):
    refused(call(hello, "plan", *arguments), USAGE, *words)
    assert {path.name for path in hello.iterdir()} == {"in.hello"}


def test_unknown_instruction_set(tmp_path):
    done = run_deck(tmp_path, BOX + "run 1\n", variables={"MYRIAD_ISA": "mmx"})
    refused(done, USAGE, "MYRIAD_ISA=mmx", "there are", "generic")


def test_statuses(tmp_path):
    works(run_deck(tmp_path, HELLO))
    refused(run_deck(tmp_path, "read_data nowhere\n"), RUNTIME)
    refused(run_deck(tmp_path, "wrong\n"), USAGE)
    refused(run_deck(tmp_path, BOX + "create_atoms 2 single 3 3 3\nrun 1\n"), 3)


def test_a_pipe_that_closes(tmp_path):
    """The reader of a long listing goes away: no message that scrolls, no hang."""
    lines = HELLO * 20000
    (tmp_path / "in.long").write_text(lines)
    done = subprocess.run(f"{program()} -in in.long -log none | head -n 2", shell=True, cwd=tmp_path, timeout=20,
                          capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[1] == "hello 2" and done.stderr.count("\n") <= 1


@pytest.mark.parametrize("arguments, variables, name", [(["--threads", "10000"], {}, "--threads"),
                                                        ([], {"OMP_NUM_THREADS": "10000"}, "OMP_NUM_THREADS")])
def test_more_threads_than_a_machine_has_use_for(arguments, variables, name, tmp_path):
    (tmp_path / "in.deck").write_text(BOX + "run 1\n")
    done = call(tmp_path, "-in", "in.deck", "-log", "none", *arguments, variables=variables)
    works(done)
    threads = int(re.search(rf"Note: (\d+) threads instead of the 10000 of {name}", done.out)[1])
    assert 64 <= threads < 10000


def test_streams_that_are_closed(tmp_path):
    """No file of the run gets their numbers, with which it would get what is printed."""
    (tmp_path / "in.deck").write_text(BOX + "run 1\n")
    for closed in (">&-", ">&- 2>&-", "<&- >&- 2>&-"):
        done = subprocess.run(["sh", "-c", f'exec "$0" -in in.deck -log log {closed}', str(program())], cwd=tmp_path,
                              env=environment(), timeout=60, check=False)
        assert done.returncode == 0
        log = (tmp_path / "log").read_text()
        assert log.count("Total wall time") == 1 and log.startswith("Myriad")


@pytest.mark.parametrize("line", ["dump 1 all atom 1 pipe", "log pipe", "dump 1 all density 1 pipe.png 8",
                                  "read_data pipe"])
def test_a_pipe_without_its_other_end(line, tmp_path):
    for name in ("pipe", "pipe.png"):
        os.mkfifo(tmp_path / name)
    deck = f"{line}\n" if "read" in line else f"{BOX}{line}\nrun 0\n"
    refused(run_deck(tmp_path, deck, limit=30), RUNTIME, "no program at its other end")


@pytest.mark.parametrize("option", ["-in", "-log", "-screen"])
def test_an_option_that_names_a_pipe_without_its_other_end(option, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "in.deck").write_text(BOX)
    refused(call(tmp_path, "-in", "in.deck", option, "pipe", limit=30), RUNTIME, "no program at its other end")


def test_pipes_whose_other_end_comes_later(tmp_path):
    for name in ("deck", "out"):
        os.mkfifo(tmp_path / name)
    lines = BOX + "write_data out\n"
    ends = subprocess.Popen(["sh", "-c", 'sleep 0.5; printf %s "$0" > deck; cat out > copy', lines], cwd=tmp_path)
    works(call(tmp_path, "-in", "deck", "-log", "none", limit=30))
    assert ends.wait(timeout=30) == 0
    assert "2 atoms" in (tmp_path / "copy").read_text()


STEERING = "a\x1b[31mb\x07c\x7fd\u009b2Je"


@pytest.mark.parametrize("deck", ['print "${t}"\n', "pair_style ${t} 2.5\n", "log ${t}/x\n", "${t}\n",
                                  'echo both\nprint "$t"\n',
                                  "log ${t}\n"])
def test_what_steers_a_terminal_is_shown_and_not_done(deck, tmp_path):
    (tmp_path / "in.deck").write_text(deck)
    done = call(tmp_path, "-in", "in.deck", "-log", "log", "-var", "t", STEERING)
    for said in (done.out, done.err, (tmp_path / "log").read_bytes().decode()):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", said), said
    assert "a?[31mb?c?d?2Je" in done.out + done.err


def test_letters_of_other_alphabets_and_lines_that_end_otherwise(tmp_path):
    (tmp_path / "in.deck").write_bytes('print "2 \u03c3, \u00a9 \U0001d70b"\r\n'.encode())
    done = call(tmp_path, "-in", "in.deck", "-log", "log")
    works(done)
    assert "2 \u03c3, \u00a9 \U0001d70b\n" in done.out and "?" not in (tmp_path / "log").read_text()


def test_a_message_stands_after_what_was_printed_before_it(tmp_path):
    (tmp_path / "in.deck").write_text('print "hello"\npair_style lj/cut -2.5\n')
    with open(tmp_path / "out", "wb") as both:
        subprocess.run([str(program()), "-in", "in.deck", "-log", "none"], cwd=tmp_path, env=environment(), stdout=both,
                       stderr=both, check=False)
    lines = (tmp_path / "out").read_text().splitlines()
    assert lines[-2] == "hello" and lines[-1].startswith("myriad: error: in.deck:2: rc of pair style")
