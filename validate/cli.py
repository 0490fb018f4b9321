"""Runs the command line: what it prints, and how it ends after an error.

harness.py runs decks that are meant to work.  Here every end is of interest, and any
end but the four statuses of the manual is a failure: a signal, a sanitizer's report
or more than one line on standard error never passes.
"""

from __future__ import annotations

import contextlib
import fcntl
import resource
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Iterator, Mapping, Optional, Union

from harness import environment, program

RUNTIME, USAGE, PHYSICS = 1, 2, 3

# Two particles of two types in a periodic box, ready to run.
BOX = """\
units lj
region b block 0 6 0 6 0 6 units box
create_box 2 b
create_atoms 1 single 1 1 1
create_atoms 2 single 3 3 3
mass * 1
pair_style lj/cut 2.5
pair_coeff * * 1 1
fix 1 all nve
"""


@dataclass
class Done:
    """How a program ended."""

    status: int
    out: str
    err: str


def call(folder: Path, *arguments: Union[str, Path], input: bytes = b"", limit: float = 60.0,
         stdout: Optional[IO[bytes]] = None, file_size: Optional[int] = None,
         variables: Optional[Mapping[str, str]] = None) -> Done:
    """Runs myriad with these arguments in `folder`.

    file_size: writing a file beyond that many bytes fails, as on a full disk.
    """

    # Only where it is asked for: with a function to call, Python copies its own pages for every child.
    def limit_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it, and a child would inherit that.
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

    done = subprocess.run([str(program()), *map(str, arguments)], cwd=folder, input=input,
                          stdout=stdout or subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit,
                          env={**environment(), **(variables or {})}, restore_signals=False,
                          preexec_fn=limit_files if file_size is not None else None, check=False)
    result = Done(done.returncode, (done.stdout or b"").decode(errors="replace"),
                  done.stderr.decode(errors="replace"))
    assert result.status in (0, RUNTIME, USAGE, PHYSICS), f"ended with {result.status}:\n{result.err}"
    for report in ("Sanitizer", "runtime error", "LeakSanitizer"):
        assert report not in result.err, result.err
    return result


def run_deck(folder: Path, text: Union[str, bytes], *arguments: str, **keywords) -> Done:
    """Runs a deck, given as its text, from the file in.deck; the screen is what `out` holds."""
    data = text.encode() if isinstance(text, str) else text
    (folder / "in.deck").write_bytes(data)
    if "-log" not in arguments:
        arguments += ("-log", "none")
    if "--threads" not in arguments:
        arguments += ("--threads", "1")
    return call(folder, "-in", "in.deck", *arguments, **keywords)


OF_ANOTHER_RUN = b"of another run\n"


@contextlib.contextmanager
def written_by_another_run(path: Path) -> Iterator[IO[bytes]]:
    """A file that another run is writing, until the file is closed."""
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(OF_ANOTHER_RUN)
        file.flush()
        yield file


def refused(done: Done, status: int, *words: str, line: Optional[int] = None) -> str:
    """Checks that a run ended with this status and a message of one line, and checks the words of the message.

    words: the message must have them.  line: the line of in.deck that the message must name.
    Returns the message after `myriad: error: `.
    """
    assert done.status == status, f"status {done.status}, not {status}: {done.err}{done.out[-500:]}"
    assert done.err.count("\n") == 1 and done.err.endswith("\n"), done.err
    assert done.err.startswith("myriad: error: "), done.err
    message = done.err[len("myriad: error: "):-1]
    if line is not None:
        assert message.startswith(f"in.deck:{line}: "), message
    for word in words:
        assert word in message, f"`{word}` is not in: {message}"
    return message


def works(done: Done) -> Done:
    """Checks that a run ended well and without a message of an error."""
    assert done.status == 0, done.err
    assert done.err == "", done.err
    return done
