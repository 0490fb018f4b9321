"""What the end-to-end tests share: the engines, the skipping of tests for a GPU or for ranks where there are none, and the
cores that large runs may use."""

from __future__ import annotations

import os

import pytest

import harness

ON_GPU = [pytest.param(name, marks=pytest.mark.gpu) for name in ("gpu", "gpu-symmetric")]


def pytest_report_header() -> str:
    return (f"myriad: {harness.program()}\ngpu: {harness.gpu_missing() or harness.gpu_name()}\n"
            f"mpi: {harness.mpi_missing() or 'found'}")


def pytest_collection_modifyitems(items) -> None:
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
