#!/usr/bin/env python3
"""Makes the units that cppcheck reads, for `make lint`: lint_units.py FOLDER FILE...

A unit is a file of #include lines of several C files. cppcheck takes most of its time for the headers that nearly every
C file includes. In a unit it reads them once.

The files of a unit must mean what they mean alone. So no file may use a word that another file of its unit defines for
itself: a static function or variable, a type, an enumerator or a macro. No two files may define the same function or
structure. Each file goes into the first unit where this holds. Some files are units of their own: files that include
another C file, or read a header by macros of their own, and fuzz targets, which define commands by a macro.
"""

from __future__ import annotations

import functools
import re
import shutil
import sys
from pathlib import Path
from typing import List, NamedTuple, Sequence, Set, Tuple

NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.M)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
INCLUDED = re.compile(r'^[ \t]*#[ \t]*include "([^"]*)"', re.M)
ALONE = re.compile(r'#include "[^"]*\.c"|^[ \t]*#[ \t]*define(?s:.*)^[ \t]*#[ \t]*include "[^"]*\.h"', re.M)
FUNCTION = "{}\n"  # in place of a function's body


class Names(NamedTuple):
    """Of a file."""

    own: Set[str]  # what it defines for itself
    defined: Set[str]  # its functions and structures, which other files may declare
    words: Set[str]  # all of its words
    included: Set[str]  # what its headers define

    def agree(self, other: Names) -> bool:
        """Do both files mean the same by each word?"""
        return self.leaves(other) and other.leaves(self) and self.defined.isdisjoint(other.defined)

    def leaves(self, other: Names) -> bool:
        """Does the other file never meet a definition of this one?"""
        return self.own.isdisjoint(other.words) and (self.own | self.defined).isdisjoint(other.included)


def declarations(text: str) -> List[str]:
    """The declarations of a file outside of functions, with the members of structures and with initial values."""
    found, depth, begin, inner = [], 0, 0, 0
    for at in re.finditer(r"[{};]", text):
        depth += (at[0] == "{") - (at[0] == "}")
        if at[0] == "{" and depth == 1:
            inner = at.start()
        elif at[0] == ";" and depth == 0:
            found.append(text[begin:at.start()])
            begin = at.end()
        elif at[0] == "}" and depth == 0 and text[begin:inner].rstrip().endswith(")"):
            found.append(text[begin:inner] + FUNCTION)
            begin = at.end()
    return found


def definitions(text: str) -> Tuple[Set[str], Set[str]]:
    """What a text without comments defines: Names.own and Names.defined."""
    own, defined = set(MACRO.findall(text)), set()
    for said in declarations(DIRECTIVE.sub("", text)):
        for enumerators in re.findall(r"\benum\b[^{;]*\{(.*?)\}", said, re.S):
            own.update(re.findall(r"(?:^|,)\s*(\w+)", enumerators))
        defined.update(re.findall(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", said))
        outside = said
        while re.search(r"\{[^{}]*\}", outside):
            outside = re.sub(r"\{[^{}]*\}", " ", outside)
        pointers = re.findall(r"\(\s*\*\s*(\w+)", outside)
        named = pointers or re.findall(r"(\w+)\s*(?=[(\[=,;]|$)", re.sub(r"\(.*", "(", outside, flags=re.S))
        if re.search(r"\b(?:static|typedef)\b", outside):
            own.update(named)
        elif said.endswith(FUNCTION):
            defined.update(named)
    return own, defined


@functools.lru_cache(maxsize=None)
def header(path: str) -> Tuple[Set[str], List[str]]:
    """What a header defines, and the headers that it includes."""
    if not Path(path).exists():
        return set(), []
    text = Path(path).read_text(encoding="utf-8")
    return set().union(*definitions(NO_CODE.sub(" ", text))), INCLUDED.findall(text)


def names_of(text: str) -> Names:
    own, defined = definitions(NO_CODE.sub(" ", text))
    names = Names(own, defined, set(re.findall(r"[A-Za-z_]\w*", NO_CODE.sub(" ", text))), set())
    left, seen = INCLUDED.findall(text), set()
    while left:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            names.included.update(header(path)[0])
            left += header(path)[1]
    return names


def units_of(files: Sequence[str]) -> List[List[str]]:
    """The files of each unit."""
    alone, shared = [], []
    for file in files:
        text = Path(file).read_text(encoding="utf-8")
        if ALONE.search(text) or "fuzz" in Path(file).parts:
            alone.append([file])
            continue
        names = names_of(text)
        unit = next((unit for unit in shared if all(names.agree(other) for _, other in unit)), None)
        if unit is None:
            unit = []
            shared.append(unit)
        unit.append((file, names))
    return alone + [[file for file, _ in unit] for unit in shared]


def main() -> None:
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for k, files in enumerate(units_of(sys.argv[2:])):
        (folder / f"{k}.c").write_text("".join(f'#include "{file}"\n' for file in files), encoding="utf-8")


if __name__ == "__main__":
    main()
