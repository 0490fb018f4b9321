#!/usr/bin/env python3
"""Which of LAMMPS's example decks does Myriad run, and does it print what lmp prints?  `make compatibility`

Decks are in.* files that use `units lj` and `atom_style atomic`, which are also the defaults.  Each is run by both
programs in a copy of its folder, with runs cut to a few steps.  Compared are the number of thermo tables and the first
row of the first one, in all columns that both have: within 1e-6, or the last digit that is printed.  Random numbers
differ between the two programs: after `velocity create`, columns that depend on velocities are left out (the
temperature only if a group or a flow has velocities of its own), and after random places or types all but the step,
temperature and box.  For a deck that Myriad refuses, `myriad check` gives the reasons, all of them.

Writes a page of Markdown.  It needs lmp and LAMMPS's examples (Debian: lammps, lammps-examples).
"""

from __future__ import annotations

import argparse
import concurrent.futures
import fnmatch
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

import harness

ROOT = Path(__file__).resolve().parents[1]
STEPS, ITERATIONS, SECONDS = 50, 50, 120.0
WIDTH = 200  # letters of a reason

# Decks that read what another deck writes: that one runs first, and both in a small box, with all their steps.
SMALL = ("-var", "x", "0.3", "-var", "y", "0.3", "-var", "z", "0.3")
AFTER = {"rerun/in.rerun": "in.first", "rerun/in.read_dump": "in.first", "rerun/in.rdf.rerun": "in.rdf.first"}

CLOCKS = {"CPU", "T/CPU", "S/CPU", "CPULeft", "Part", "TimeoutLeft", "WallTime"}
STILL = re.compile(r"Step|Elap|Time|Dt|Temp|Atoms|PotEng|E_|Volume|Density|L[xyz]|[XYZ](lo|hi)$")
PLACED = re.compile(r"Step|Elap|Time|Dt|Temp|Atoms|Volume|L[xyz]|[XYZ](lo|hi)$")
RANDOM_VELOCITIES = re.compile(r"^\s*velocity\s+\S+\s+create", re.M)
# Then a temperature is no longer what `velocity create` asked for.
MIXED = re.compile(r"^\s*velocity\s+(\S+\s+(ramp|set)|(?!all\b)\S+\s+create)\s", re.M)
RANDOM_PLACES = re.compile(r"^\s*(create_atoms\s.*\srandom|set\s.*type/(fraction|ratio|subset)|"
                           r"displace_atoms\s+\S+\s+random|variable\s.*(random|normal)\()", re.M)
MADE = re.compile(r"^\s*(units|atom_style|pair_style|run)\s", re.M)


@dataclass
class Outcome:
    """What became of a deck."""

    deck: str
    lmp: str = ""  # why lmp does not run it; "": it does
    reasons: List[str] = field(default_factory=list)  # why Myriad does not run it; []: it does
    differences: List[str] = field(default_factory=list)
    columns: int = 0  # that were compared

    @property
    def verdict(self) -> str:
        if self.lmp:
            return "lmp does not run it"
        if self.reasons:
            return "no"
        return "differs" if self.differences else "agrees" if self.columns else "runs"


def text_of(deck: Path) -> str:
    """A deck with the files that it includes, without comments."""
    text = re.sub(r"#.*", "", deck.read_text(errors="replace"))
    for name in re.findall(r"^\s*include\s+(\S+)", text, re.M):
        if (deck.parent / name).is_file() and deck.parent / name != deck:
            text += "\n" + text_of(deck.parent / name)
    return text


def is_of_class(text: str) -> bool:
    """Is it a deck of `units lj` and `atom_style atomic`?"""
    words = {name: re.findall(rf"^\s*{name}\s+(\S+)", text, re.M) for name in ("units", "atom_style")}
    return bool(MADE.search(text)) and set(words["units"]) <= {"lj"} and set(words["atom_style"]) <= {"atomic"}


def shortened(text: str) -> str:
    """The deck with runs of STEPS steps and minimisations of ITERATIONS iterations at most."""

    def run(found: re.Match) -> str:
        steps = found.group(2)
        return found.group(1) + (str(min(int(steps), STEPS)) if steps.isdigit() else str(STEPS))

    text = re.sub(r"^(\s*run\s+)(\S+)(?!.*\bupto\b)", run, text, flags=re.M)
    return re.sub(r"^(\s*minimize\s+\S+\s+\S+\s+)(\d+)",
                  lambda found: found.group(1) + str(min(int(found.group(2)), ITERATIONS)), text, flags=re.M)


def laid_out(deck: Path, root: Path, scratch: Path, whole: bool) -> Path:
    """A copy of the deck's folder, at the same depth as below root, with its decks shortened."""
    folder = scratch / deck.parent.relative_to(root)
    shutil.copytree(deck.parent, folder, ignore=shutil.ignore_patterns("log.*"))
    for file in folder.iterdir():
        if file.is_file() and file.name.startswith("in.") and not whole:
            file.write_text(shortened(file.read_text(errors="replace")))
    potentials = root.parent / "potentials"
    if potentials.is_dir():
        (scratch.parent / "potentials").symlink_to(potentials)
    return folder / deck.name


def execute(command: Sequence[str], folder: Path) -> Tuple[Optional[int], str, str]:
    """Exit status (None: it took too long), standard output and error."""
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
                              check=False, env=harness.environment())
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return None, "", ""


def near(ours: str, theirs: str) -> bool:
    """Are two printed numbers equal, within 1e-6 or a unit of their last digits?"""
    digit = 0.0
    for text in (ours, theirs):
        mantissa, _, exponent = text.lower().partition("e")
        after = len(mantissa.partition(".")[2])
        digit = max(digit, 10.0 ** (int(exponent or 0) - after) if "." in mantissa else 0.0)
    a, b = float(ours), float(theirs)
    return a == b or (a != a and b != b) or abs(a - b) <= max(1e-6 * max(abs(a), abs(b)), 1e-8, 1.001 * digit)


def compare(text: str, ours: List[harness.Table], theirs: List[harness.Table]) -> Tuple[int, List[str]]:
    """The number of columns that were compared, and what differs."""
    differences = []
    if len(ours) != len(theirs):
        differences.append(f"{len(ours)} tables instead of {len(theirs)}")
    wanted = PLACED if RANDOM_PLACES.search(text) else STILL if RANDOM_VELOCITIES.search(text) else re.compile("")
    mixed, columns = RANDOM_VELOCITIES.search(text) and MIXED.search(text), 0
    if ours and theirs and ours[0].rows and theirs[0].rows:
        mine, other = (dict(zip(table.titles, table.rows[0])) for table in (ours[0], theirs[0]))
        for name in mine:
            if name in other and name not in CLOCKS and wanted.match(name) and not (mixed and name == "Temp"):
                columns += 1
                if not near(mine[name], other[name]):
                    differences.append(f"{name} {mine[name]} instead of {other[name]}")
    return columns, differences


def reasons_of(myriad: str, deck: Path, message: str) -> List[str]:
    """All reasons why Myriad refuses the deck; `message`: the first, from the run."""
    _, out, _ = execute([myriad, "check", "-in", deck.name], deck.parent)
    found = [line.split(": ", 1)[1] for line in out.splitlines() if re.match(r"\S+:\d+: ", line)]
    return list(dict.fromkeys(short(reason) for reason in found or [message]))


def short(reason: str) -> str:
    """What is missing, without the clauses of the message that say what to do: they follow a mark."""
    reason = re.sub(r" \(`myriad help [^)]*\)", "", reason)
    advice = r"[;:,] *(and )?(accepted are|the accepted|known are|write|use|give|make|for a group)\b.*"
    return fitting(re.sub(advice, "", reason))


def fitting(message: str) -> str:
    """A message as the table shows it: on one line, at most WIDTH letters."""
    message = re.sub(r"\s+", " ", message).strip().rstrip(";:,")
    return message if len(message) <= WIDTH else message[:WIDTH - 3] + "..."


def judge(deck: Path, root: Path, lmp: str, myriad: str) -> Outcome:
    name = str(deck.relative_to(root))
    outcome, before, words = Outcome(name), AFTER.get(name), SMALL if name in AFTER else ()
    with tempfile.TemporaryDirectory(prefix="compatibility-") as scratch:
        tables = {}
        for who, start in (("lmp", [lmp, "-in"]), ("myriad", [myriad, "--threads", "1", "-in"])):
            copy = laid_out(deck, root, Path(scratch) / who / "examples", name in AFTER)
            if before:
                execute([lmp, "-in", before, *words], copy.parent)
            status, out, err = execute([*start, copy.name, *words], copy.parent)
            tables[who] = harness.read_tables(out)
            if status == 0:
                continue
            errors = re.findall(r"^(?:myriad: error|ERROR[^:]*): (?:\S+?:\d+: )*(.*)", err + out, re.M)
            message = errors[-1] if errors else "it takes too long" if status is None else f"it ends with {status}"
            if who == "lmp":
                outcome.lmp = fitting(re.sub(r" \(src/.*", "", message))
                return outcome
            outcome.reasons = reasons_of(myriad, copy, message) if status == 2 else [short(message)]
        if not outcome.reasons:
            outcome.columns, outcome.differences = compare(text_of(deck), tables["myriad"], tables["lmp"])
    return outcome


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def page(outcomes: Sequence[Outcome], version: str) -> str:
    """The page as Markdown."""
    run = [o for o in outcomes if not o.lmp]
    count: Dict[str, int] = {v: sum(o.verdict == v for o in run) for v in ("agrees", "runs", "differs", "no")}
    lines = [
        "# Compatibility", "",
        "LAMMPS's example decks with `units lj` and `atom_style atomic`, and what Myriad makes of them. This page is",
        "made by `make compatibility`, which runs each deck with both programs, a few steps long, and compares the",
        "first row of their tables to 1e-6. Random numbers are other ones here: columns that depend on random",
        "velocities or places are not compared. The reasons are those of `myriad check -in DECK`, which lists them for",
        "any deck.",
        "",
        f"{version}: of {len(run)} decks that lmp runs, Myriad runs {len(run) - count['no']}: {count['agrees']} agree, "
        f"{count['differs']} differ, {count['runs']} have nothing to compare.", "",
        "| deck | verdict | what is missing, or differs |", "|---|---|---|",
    ]
    for o in run:
        lines.append(f"| `{o.deck}` | {o.verdict} | {cell('; '.join(o.reasons or o.differences))} |")
    left = [o for o in outcomes if o.lmp]
    if left:
        lines += ["", f"lmp itself does not run {len(left)} more:", "", "| deck | message of lmp |", "|---|---|"]
        lines += [f"| `{o.deck}` | {cell(o.lmp)} |" for o in left]
    return "\n".join(lines) + "\n"


def version_of(lmp: str) -> str:
    _, out, _ = execute([lmp, "-h"], Path.cwd())
    found = re.search(r"Parallel Simulator - (.*)", out)
    return f"LAMMPS {found.group(1).strip()}" if found else "LAMMPS"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decks", metavar="DIR", default="/usr/share/lammps/examples", help="(%(default)s)")
    parser.add_argument("--myriad", metavar="PROGRAM", default=str(ROOT / "build" / "myriad"), help="(%(default)s)")
    parser.add_argument("--lmp", metavar="PROGRAM", default="lmp")
    parser.add_argument("--only", metavar="GLOB", default="*", help="decks whose path below DIR matches")
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="decks at a time")
    parser.add_argument("--output", metavar="FILE", help="the page (standard output)")
    options = parser.parse_args()
    root = Path(options.decks)
    lmp, myriad = shutil.which(options.lmp), shutil.which(options.myriad)
    for found, what in ((lmp, options.lmp), (myriad, options.myriad), (root.is_dir(), options.decks)):
        if not found:
            parser.error(f"there is no {what}")
    decks = [deck for deck in sorted(root.rglob("in.*")) if deck.is_file() and
             fnmatch.fnmatch(str(deck.relative_to(root)), options.only) and is_of_class(text_of(deck))]
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        outcomes = list(pool.map(lambda deck: judge(deck, root, lmp, str(Path(myriad).resolve())), decks))
    text = page(outcomes, version_of(lmp))
    if options.output:
        Path(options.output).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
