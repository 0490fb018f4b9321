"""The manual against the program: what it lists, what it links to, and the commands it tells to type."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterator, List, Tuple

import pytest

from cli import BOX, USAGE, call, run_deck

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# Those of docs/ladder are written by `make ladder`.
ROOMS = (DOCS, DOCS / "parallel", DOCS / "reference")
PAGES = [ROOT / "README.md", *(page for room in ROOMS for page in sorted(room.glob("*.md")))]
NAMES = [page.name for page in PAGES]

pytestmark = pytest.mark.smoke


def said(*arguments: str) -> str:
    done = call(ROOT, *arguments)
    assert done.status == 0, done.err
    return done.out


def accepted(folder: Path, line: str) -> str:
    """What the program says it accepts instead of the word `nonsense` in a line of a deck."""
    done = run_deck(folder, BOX + line + "\n")
    assert done.status == USAGE and "nonsense" in done.err, done.err
    return done.err.split("accepted are", 1)[1].lstrip(": ").strip()


def section(title: str) -> List[str]:
    """First words of the lines below a title of `myriad info`."""
    block = re.search(rf"^{title}:\n((?:  .*\n)+)", said("info"), re.M)
    assert block, title
    return [line.split()[0] for line in block.group(1).splitlines()]


def in_code(page: str) -> str:
    """Everything in backticks on a page, blocks and spans, as one text."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return " ".join(re.findall(r"```.*?```|`[^`\n]*`", text, re.S))


def missing(words: List[str], page: str) -> List[str]:
    text = in_code(page)
    assert words
    return [word for word in words if not re.search(rf"(?<![\w/]){re.escape(word)}(?![\w/])", text)]


def without_row(names: List[str], page: str) -> List[str]:
    """Those that no table of a page begins a row with."""
    text = (DOCS / page).read_text(encoding="utf-8")
    assert names
    return [name for name in names if not re.search(rf"^\| `{re.escape(name)}`", text, re.M)]


def test_commands_are_what_the_program_prints():
    assert (DOCS / "reference" / "commands.md").read_text(encoding="utf-8") == said("help", "--markdown"), (
        "write it anew: build/myriad help --markdown > docs/reference/commands.md")


def test_every_command_is_in_the_reference():
    listed = said("help").split("explains one):\n")[1]
    names = [line.split()[0] for line in listed.splitlines()]
    assert len(names) > 30
    text = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    assert [name for name in names if f"\n## {name}\n" not in text] == []


def test_engines():
    assert missing(section("Engines"), "decks.md") == []
    pages = (ROOT / "README.md").read_text(encoding="utf-8"), (DOCS / "engines.md").read_text(encoding="utf-8")
    for name in section("Engines"):
        assert f"| `{name}`" in pages[0] and f"\n## {name}\n" in pages[1], name


def test_pair_styles():
    assert without_row(section("Pair styles"), "pair-styles.md") == []


def test_fix_styles(tmp_path):
    styles = [usage.split()[0] for usage in accepted(tmp_path, "fix 2 all nonsense").split("; ")]
    looks = without_row(styles, "reference/physics.md")
    assert without_row(looks, "reference/output.md") == [] and len(looks) < len(styles) / 2


def test_dump_styles(tmp_path):
    styles = accepted(tmp_path, "dump 1 all nonsense 1 file").split(", ")
    assert without_row(styles, "reference/output.md") == []


def test_thermo_keywords(tmp_path):
    keywords = accepted(tmp_path, "thermo_style custom nonsense").split()
    assert missing(keywords, "reference/output.md") == []


def test_dump_columns(tmp_path):
    assert missing(accepted(tmp_path, "dump 1 all custom 1 file nonsense").split(), "reference/output.md") == []


def anchors(page: Path) -> List[str]:
    """The names that a page's headings get."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(there), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_files_that_are_named_exist(page):
    """Paths of this repository, wherever they stand in backticks."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"\nFile `.+?`:\n\n```.*?```", "", text, flags=re.S)  # files that the page makes
    rooms = "common|src|openmp|gpu|mpi|validate|inputs|docs|job-scripts"
    for path in re.findall(rf"(?<![\w/.])((?:{rooms})/[\w./*-]*)", text):
        path = path.rstrip(".")
        # Placeholders, as pair_NAME.h, and the examples of new styles.
        if re.search(r"[A-Z]{4}|_inverse12\.h|fix_friction\.h|fix_kinetic\.h|fix_shear\.h|compute_ke_axis\.h", path):
            continue
        base = page.parent if re.search(rf"\]\({re.escape(path)}", text) else ROOT
        assert list(base.glob(path.rstrip("/"))), f"{page.name} names {path}"


def test_every_room_of_the_sources_is_on_the_page_of_architecture():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    sources = [path for room in ("common", "src", "openmp", "gpu", "mpi") for path in ROOT.glob(f"{room}/**/*.[ch]*")]
    rooms = sorted({str(path.parent.relative_to(ROOT)) for path in sources if "ladder" not in path.parts})
    assert len(rooms) > 50
    unnamed = [room for room in rooms if f"`{room}`" not in page]
    assert not unnamed, f"docs/architecture.md does not say what these rooms are for: {unnamed}"


def typed(page: Path) -> Iterator[Tuple[str, List[str]]]:
    """Commands to type: the lines of shell blocks and code spans that begin with make or a program of ours."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.S)
    spans = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", re.sub(r"```.*?```", "", text, flags=re.S))
    for line in [line for block in blocks for line in block.splitlines()] + spans:
        words = line.split("#")[0].split()
        if words and words[0] in ("make", "myriad", "build/myriad", "validate/check.py", ".ci/run"):
            yield line, words


def targets() -> List[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return re.findall(r"^([a-z][\w-]*):", makefile, re.M) + re.findall(r"^([a-z][\w-]*) [a-z -]*:.*## ", makefile, re.M)


OPTIONS = ("-in", "-var", "-pk", "-log", "-screen", "-echo", "--engine", "--gpu-naive", "--threads", "--particles",
           "--ranks", "--step", "-o", "--resume", "--walltime")


def check_make(words: List[str]) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in words[1:]:
        name, given, value = word.partition("=")
        if given:
            assert re.search(rf"^##.*\b{name}=", makefile, re.M), f"make has no option {name}="
            assert name != "DECK" or not value or (ROOT / value).is_file(), f"there is no {value}"
        elif re.fullmatch(r"[a-z][\w-]*", word):
            assert word in targets(), f"make has no target {word}"


def check_myriad(words: List[str]) -> None:
    if words[1] == "help":
        if len(words) > 2 and not words[2].isupper():
            said("help", words[2])
        return
    for at, word in enumerate(words):
        if word == "-in" and words[at + 1] not in ("DECK", "-"):
            assert (ROOT / words[at + 1]).is_file(), f"there is no {words[at + 1]}"
        elif word == "--engine":
            assert set(words[at + 1].split("|")) <= set(section("Engines"))
        elif word.startswith("-") and not word[1:].replace(".", "").isdigit():
            assert word in OPTIONS, f"there is no option {word}"


def test_gpu_options():
    """The keywords of `package gpu`, each with its values, as the command's help lists them."""
    rows = re.findall(r"^  (\w+) (\S+) {2,}\S", said("help", "package"), re.M)
    assert len(rows) > 10
    text = (DOCS / "engines.md").read_text(encoding="utf-8")
    assert [name for name, _ in rows if f"\n| `{name} " not in text] == []
    for name, values in rows:
        listed = re.search(rf"^\| `{name} (.+?)`", text, re.M).group(1).replace("\\|", "|")
        assert sorted(listed.split("|")) == sorted(values.split("|")), name


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_what_to_type_can_be_typed(page):
    for line, words in typed(page):
        try:
            if words[0] == "make":
                check_make(words)
            elif words[0].endswith("myriad") and len(words) > 1:
                check_myriad(words)
            elif words[0] in ("validate/check.py", ".ci/run"):
                assert (ROOT / words[0]).is_file()
        except (AssertionError, IndexError) as wrong:
            pytest.fail(f"{page.name}: `{line}`: {wrong}")


WIDTH = 120  # columns
# Data that other programs wrote, and pages that programs write, whose usages of commands or rows are one line each.
ANY_WIDTH = re.compile(r"validate/reference/|docs/(reference/commands|compatibility)\.md$|docs/ladder/|docs/pictures/")
# A line that cannot be broken: an address alone, or a directive of a batch system.
ONE_WORD = re.compile(r"\W*https?://\S+$|#(SBATCH|PBS|BSUB) ")


def tracked_texts() -> Iterator[Tuple[str, List[str]]]:
    """Path and lines of every text that the repository keeps."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git repository")
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and not path.is_symlink() and not ANY_WIDTH.match(name):
            data = path.read_bytes()
            if b"\0" not in data:
                yield name, data.decode("utf-8").split("\n")


def test_no_line_is_wider_than_the_page():
    wide = [f"{name}:{number}: {len(line)} columns" for name, lines in tracked_texts()
            for number, line in enumerate(lines, 1) if len(line) > WIDTH and not ONE_WORD.match(line)]
    assert not wide, "\n".join(wide)


def test_include_guards_are_named_after_their_files():
    wrong = []
    for name, lines in tracked_texts():
        guard = re.search(r"^#ifndef (MD_\w+)\n#define \1\n", "\n".join(lines), re.M)
        if guard and re.search(r"\.(h|cuh|inc)$", name):
            wanted = "MD_" + re.sub(r"[/.]", "_", name).upper()
            wrong += [f"{name}: {guard[1]}, not {wanted}"] if guard[1] != wanted else []
    assert not wrong, "\n".join(wrong)


C_SOURCE = re.compile(r"\.(c|h|cu|cuh|inc|cpp|def)$")
OTHER_SOURCE = re.compile(r"\.(py|sh)$|^Makefile$|^\.ci/|^inputs/|^job-scripts/|^validate/decks/")
# In C the comments, after strings, which may look like one; elsewhere what follows #, and the texts of Python.
COMMENTS = {C_SOURCE: re.compile(r'"(?:[^"\\\n]|\\.)*"|(/\*.*?\*/|//[^\n]*)', re.S),
            OTHER_SOURCE: re.compile(r'(#[^\n]*|""".*?""")', re.S)}
NAMED = re.compile(r"(?<![\w/.$`{<*-])[\w*-]+(?:/[\w*-]+)*\.(?:c|h|cu|cuh|inc|def|cpp|py|sh)\b(?![\w(/])")


def named_in_comments() -> Iterator[Tuple[str, int, str]]:
    """File, line and name of a source that a comment names. A * in a name, or NAME, stands for any text."""
    for file, lines in tracked_texts():
        for kind, comment in COMMENTS.items():
            text = "\n".join(lines) if kind.search(file) else ""
            for said_there in comment.finditer(text):
                for name in NAMED.finditer(said_there[1] or ""):
                    line = text.count("\n", 0, said_there.start(1) + name.start()) + 1
                    yield file, line, re.sub(r"[A-Z]{4,}", "*", name[0])


def test_files_that_comments_name_exist():
    """Files of the same folder by their names, all others by their paths from the root. Scripts also name what they
    write, and files by names alone."""
    wrong, count = [], 0
    for file, line, name in named_in_comments():
        count += 1
        near = str(Path(file).parent / name)
        known = name == "hdf5.h" or any(list(ROOT.glob(path)) for path in (name, near))
        if not known and (C_SOURCE.search(file) or "/" in name and not name.startswith("OUT/")):
            wrong.append(f"{file}:{line}: {name}")
    assert count > 1000
    assert not wrong, "\n".join(wrong)


def test_the_page_of_tests_names_every_file_of_tests():
    page = (DOCS / "testing.md").read_text(encoding="utf-8")
    files = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("validate/**/test_*.py"))]
    assert len(files) > 50
    unnamed = [name for name in files if f"`{name}`" not in page]
    assert not unnamed, f"docs/testing.md does not say what these test: {unnamed}"


def test_readme_says_what_to_type():
    lines = [line for line, _ in typed(ROOT / "README.md")]
    assert any(line.startswith("make run") for line in lines) and any(line.startswith("make test") for line in lines)
    assert len(lines) > 10


def test_every_deck_opens_with_what_it_is_for():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    ours = [deck for deck in (ROOT / "inputs").glob("**/in.*") if deck.name != "in.lj"]
    assert len(ours) >= 6
    for deck in ours:
        text = deck.read_text(encoding="utf-8")
        assert text.startswith("# ") and "\n# Time: " in text, deck.name
        assert deck.name in readme or deck.name.endswith("-bench"), deck.name


EXAMPLE_CHECK = """
#include "common/pair/formulas.h"
#include "common/pair/pair.h"
#define MD_PAIR_HOST
#include "pair_example.h"
#undef MD_PAIR_HOST
#define real double
#define MD_T(name) name
#include "pair_example.h"
int main(void)
{
  const double parameter[MD_PAIR_PARAMETERS] = {1.3, 0.9, 2.5}, r = 1.1, h = 1e-5;
  double k[MD_PAIR_K] = {0};
  inverse12_style.prepare(parameter, false, 1.0, k);
  const double above = md_inverse12_energy((r + h) * (r + h), k), below = md_inverse12_energy((r - h) * (r - h), k);
  const double slope = (above - below) / (2.0 * h);
  return fabs(md_inverse12_force(r * r, k) * r + slope) < 1e-8 && slope < -0.1 ? 0 : 1;
}
"""


def test_the_example_of_a_pair_style_works(tmp_path):
    """It compiles as a style and its force is the gradient of its energy."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    example = re.search(r"```c\n(/\* Soft spheres.*?)```", (DOCS / "extending.md").read_text(encoding="utf-8"), re.S)
    assert example
    (tmp_path / "pair_example.h").write_text(example.group(1), encoding="utf-8")
    (tmp_path / "example.c").write_text(EXAMPLE_CHECK, encoding="utf-8")
    subprocess.run([compiler, "-std=c17", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Wno-unused-function",
                    "-ffp-contract=off", "-I", str(ROOT), "-o", "example", "example.c", "-lm"],
                   cwd=tmp_path, check=True)
    assert subprocess.run([str(tmp_path / "example")], check=False).returncode == 0
