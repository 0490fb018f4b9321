"""The processor and the commit, which every published figure names."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from pathlib import Path


def processor() -> str:
    """The model of the processor."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        found = None
    return found.group(1) if found else platform.processor() or platform.machine()


def commit() -> str:
    """The commit of this tree, `-dirty` if files differ from it; `unknown` where git or its records are missing."""
    git = shutil.which("git")
    if not git:
        return "unknown"
    done = subprocess.run([git, "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
