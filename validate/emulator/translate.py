#!/usr/bin/env python3
"""Translate a file of gpu/ into C++ that runs its kernels on the CPU (emulator.h): `make emulated`.

translate.py FROM TO.  Only what a C++ compiler cannot read is rewritten, line by line where it was:

    k_name<ARGS><<<CONFIG>>>(WORDS);    a call of emulator::launch, with the kernel's name and place
    extern __shared__ T name[];         a reference to the block's dynamic shared memory
    asm("rcp.approx.ftz.f32 ...");      the correctly rounded reciprocal: a seed as good as any
    asm("rsqrt.approx.ftz.f32 ...");    likewise the reciprocal of the root
    asm volatile("prefetch.global...")  a byte read, so that it must lie in an array
    asm volatile("cp.async.bulk...")    a read of the range's first and last byte
    asm volatile("mma.sync...")         a product of matrices (emulator.h), of the function's arguments d, a, b

The launches that try all seeds of the hardware (CHECKS) are left out, as there is no such hardware here.
Exit status: 1 if something of CUDA is left, or a pattern was not found where it must be.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Optional, Sequence

LAUNCH = re.compile(r"\b(k_\w+(?:<[^<>;]*>)?)(\s*)<<<")
SHARED = re.compile(r"\bextern __shared__ (\w+) (\w+)\[\];")
RECIPROCAL = re.compile(r'\basm\("rcp\.approx\.ftz\.f32 %0, %1;" : "=f"\((\w+)\) : "f"\((\w+)\)\);')
INVERSE_ROOT = re.compile(r'\basm\("rsqrt\.approx\.ftz\.f32 %0, %1;" : "=f"\((\w+)\) : "f"\((\w+)\)\);')
PREFETCH = re.compile(r'\basm volatile\("prefetch\.global\.L2 \[%0\];" ::"l"\((\w+)\)\);')
BULK = re.compile(r'\basm volatile\("cp\.async\.bulk\.prefetch\.L2\.global \[%0\], %1;" ::"l"\((\w+)\), '
                  r'"r"\((\w+)\)\);')
PRODUCT = re.compile(r'\basm volatile\("mma\.sync\.aligned\.m16n8k8\..*?\)\);', re.DOTALL)
LEFT = re.compile(r"<<<|\bextern __shared__|\basm\b")

CHECKS = ("k_check_reciprocals", "k_check_roots")
# How often a pattern must be found in a file.
EXPECTED = {"force_cells_2d.cu": (SHARED, 1), "formulas.cuh": (RECIPROCAL, 1), "prefetch.cuh": (PREFETCH, 1),
            "tensor_cores.cuh": (PRODUCT, 1),
            "reciprocal.cu": (re.compile("(?:" + "|".join(CHECKS) + ")<<<"), 2)}


class Untranslated(Exception):
    """What is wrong, and where."""


def closing(text: str, at: int) -> int:
    """The place of the parenthesis that closes the one at `at`."""
    depth = 0
    for k in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[k], 0)
        if depth == 0:
            return k
    raise Untranslated("a launch that does not end")


def translated(text: str, name: str) -> str:
    if Path(name).name in EXPECTED:
        pattern, count = EXPECTED[Path(name).name]
        found = len(pattern.findall(text))
        if found != count:
            raise Untranslated(f"{name}: {found} times {pattern.pattern!r}, not {count}")
    text = SHARED.sub(r"static \1 *&\2 = (\1 *&)emulator::shared;", text)
    text = RECIPROCAL.sub(r"\1 = 1.0f / \2;", text)
    text = INVERSE_ROOT.sub(r"\1 = 1.0f / sqrtf(\2);", text)
    text = PRODUCT.sub("emulator::multiply(d, a, b);", text)
    text = PREFETCH.sub(r"(void)*(const volatile char *)\1;", text)
    text = BULK.sub(r"(void)(*(const volatile char *)\1, *((const volatile char *)\1 + \2 - 1));", text)
    done, at = [], 0
    for launch in LAUNCH.finditer(text):
        end = text.find(">>>(", launch.end())
        if end < 0:
            raise Untranslated(f"{name}: a launch without >>>(")
        close = closing(text, end + 3)
        kernel, gap, config, words = launch[1], launch[2], text[launch.end():end], text[end + 4:close]
        line = text.count("\n", 0, launch.start()) + 1
        if kernel not in CHECKS:
            call = f'emulator::launch("{kernel}", "{name}:{line}", {gap}{{{config}}}, [&] {{ {kernel}({words}); }})'
        else:
            call = "(void)0"
        done += [text[at:launch.start()], call]
        at = close + 1
    text = "".join([*done, text[at:]])
    left = LEFT.search(text)
    if left:
        raise Untranslated(f"{name}:{text.count(chr(10), 0, left.start()) + 1}: {left[0]} is left")
    return f'#line 1 "{name}"\n{text}'


def main(arguments: Optional[Sequence[str]] = None) -> int:
    source, target = map(Path, sys.argv[1:] if arguments is None else arguments)
    try:
        text = translated(source.read_text(), str(source))
    except Untranslated as error:
        print(f"translate.py: {error}", file=sys.stderr)
        return 1
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
