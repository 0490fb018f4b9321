"""Fixtures of the end-to-end tests: the engines, the cores that large runs may use, and the skipping of tests if there
is no GPU or no MPI."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

# Tests use functions of other rooms.
for room in ("exactness", "output", "physics", "physics/pairs", "program", "program/language", "speed"):
    sys.path.insert(0, str(Path(__file__).parent / room))

import harness  # noqa: E402

# For every program that tests start, as lmp is a program with one rank of MPI. Workers of pytest inherit the folder,
# and each takes its own.
os.environ[harness.SESSION_FOLDER] = harness.session_folder()
for name, value in harness.LONE_RANK_ENVIRONMENT.items():
    os.environ.setdefault(name, value)

ON_GPU = [pytest.param(name, marks=pytest.mark.gpu) for name in ("gpu", "gpu-symmetric")]


def pytest_report_header() -> str:
    return (f"myriad: {harness.program()}\ngpu: {harness.gpu_missing() or harness.gpu_name()}\n"
            f"mpi: {harness.mpi_missing() or 'found'}")


def pytest_collection_modifyitems(items) -> None:
    # The tests of scripts mostly wait. Of tests side by side, the first worker gets them, and leaves the others its
    # core.
    items.sort(key=lambda item: item.path.parent.name != "scripts")
    for item in items:
        for mark, missing in (("gpu", harness.gpu_missing), ("mpi", harness.mpi_missing)):
            if item.get_closest_marker(mark) and missing():
                item.add_marker(pytest.mark.skip(reason=missing()))


@pytest.fixture(params=["openmp", "naive", *ON_GPU])
def engine(request) -> str:
    """Every engine, the GPU's with both kinds of force."""
    return request.param


@pytest.fixture(params=["openmp", *ON_GPU])
def fast_engine(request) -> str:
    """Every engine but naive, for systems or times that are too long for it."""
    return request.param


@pytest.fixture(scope="session")
def cores() -> int:
    """Threads for runs that are larger than a test of exactness."""
    return min(4, len(os.sched_getaffinity(0)))


@pytest.fixture(scope="session")
def isas():
    """The instruction sets of this build and processor."""
    return harness.instruction_sets()


@pytest.fixture(autouse=True)
def ranks_on_one_core(request):
    """If tests run side by side, each worker keeps its ranks on one core."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if not worker or not request.node.get_closest_marker("mpi"):
        yield
        return
    cores = os.sched_getaffinity(0)
    harness.keep_to_core(int(worker[2:]))
    yield
    os.sched_setaffinity(0, cores)


@pytest.fixture(autouse=True)
def ranks_have_their_mark(request, monkeypatch):
    """Only tests with the mark `mpi` start ranks. Under sanitizers they are left out, because the memory that Open MPI
    keeps is reported as a leak; an unmarked test would fail there, and only there."""
    def refuse(*_words):
        raise AssertionError("this test starts ranks, so it needs @pytest.mark.mpi")

    if not request.node.get_closest_marker("mpi"):
        monkeypatch.setattr(harness, "mpirun", refuse)
