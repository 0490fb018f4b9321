"""What the end-to-end tests share: the program must be there, and large runs may use all cores."""

from __future__ import annotations

import os

import pytest

import harness


def pytest_report_header() -> str:
    return f"myriad: {harness.program()}"


@pytest.fixture(scope="session")
def cores() -> int:
    """Threads for runs that are larger than a test of exactness."""
    return min(4, len(os.sched_getaffinity(0)))


@pytest.fixture(scope="session")
def isas():
    """The instruction sets of this build and processor."""
    return harness.instruction_sets()
