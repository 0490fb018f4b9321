"""A report as two files: Markdown beside its plots, and one HTML file with every plot in it, which can be sent.

A report has a verdict, a table of facts (what was measured on which machine), and parts: headings, paragraphs, plots
and tables, in the order in which they are read. The study of scaling and the ladder write their reports by this.
"""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass
from pathlib import Path
from typing import List, Sequence, Tuple, Union

WRONG = "WRONG"  # in the last column of a table it marks the row

CSS = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; font-size: .84rem; font-variant-numeric: tabular-nums; }
table { display: block; overflow-x: auto; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th { border-bottom: 2px solid #999; font-weight: 600; }
img { max-width: 100%; height: auto; }
code { font-size: .85em; overflow-wrap: anywhere; }
.good { border-left: 5px solid #009E73; padding: .4rem 1rem; background: #eef8f4; }
.bad { border-left: 5px solid #D55E00; padding: .4rem 1rem; background: #fdf0e8; }
tr.wrong td { background: #fdf0e8; color: #b03000; font-weight: 600; }
"""


@dataclass
class Heading:
    text: str
    level: int = 2


@dataclass
class Paragraph:
    text: str


@dataclass
class Plot:
    """NAME.svg lies in the report's folder."""

    name: str
    caption: str
    level: int = 2  # of its heading


@dataclass
class Table:
    title: str
    header: List[str]
    body: List[List[str]]
    left: int = 0  # columns of words, which are aligned on the left
    level: int = 2


Part = Union[Heading, Paragraph, Plot, Table]


@dataclass
class Document:
    title: str
    said: Sequence[str]  # the verdict; its first line says whether all is right
    good: bool
    facts: Sequence[Tuple[str, str]]
    parts: Sequence[Part]
    data: str  # the file with all figures


def escape(text: str) -> str:
    return text.replace("|", "\\|")


def markdown_lines(part: Part) -> List[str]:
    if isinstance(part, Heading):
        return [f"{'#' * part.level} {part.text}", ""]
    if isinstance(part, Paragraph):
        return [part.text, ""]
    if isinstance(part, Plot):
        return [f"{'#' * part.level} {part.caption}", "", f"![{part.caption}]({part.name}.svg)", ""]
    marks = "|" + "---|" * part.left + "---:|" * (len(part.header) - part.left)
    return [f"{'#' * part.level} {part.title}", "", "| " + " | ".join(part.header) + " |", marks,
            *("| " + " | ".join(map(escape, row)) + " |" for row in part.body), ""]


def as_markdown(document: Document) -> str:
    lines = [f"# {document.title}", ""]
    for line in document.said:
        lines += [line, ""]
    lines += ["| | |", "|---|---|", *(f"| {name} | {escape(value)} |" for name, value in document.facts), ""]
    for part in document.parts:
        lines += markdown_lines(part)
    return "\n".join([*lines, f"All figures: [{document.data}]({document.data}).", ""])


def cell(tag: str, value: str, words: bool) -> str:
    style = ' style="text-align:left"' if words else ""
    return f"<{tag}{style}>{html.escape(value)}</{tag}>"


def html_of(folder: Path, part: Part) -> str:
    text = html.escape
    if isinstance(part, Heading):
        return f"<h{part.level}>{text(part.text)}</h{part.level}>"
    if isinstance(part, Paragraph):
        return f"<p>{text(part.text)}</p>"
    heading = f"h{part.level}"
    if isinstance(part, Plot):
        data = base64.b64encode((folder / f"{part.name}.svg").read_bytes()).decode("ascii")
        return (f'<{heading}>{text(part.caption)}</{heading}>'
                f'<img alt="{text(part.caption)}" src="data:image/svg+xml;base64,{data}">')
    head = "".join(cell("th", value, k < part.left) for k, value in enumerate(part.header))
    rows = [f"<{heading}>{text(part.title)}</{heading}><table><tr>{head}</tr>"]
    for row in part.body:
        mark = ' class="wrong"' if row[-1] == WRONG else ""
        rows.append(f"<tr{mark}>{''.join(cell('td', value, k < part.left) for k, value in enumerate(row))}</tr>")
    return "\n".join([*rows, "</table>"])


def as_html(folder: Path, document: Document) -> str:
    text, title = html.escape, html.escape(document.title)
    parts = [f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
             f'<meta name="viewport" content="width=device-width"><style>{CSS}</style></head><body>',
             f"<h1>{title}</h1>", f'<div class="{"good" if document.good else "bad"}">']
    parts += [f"<p>{text(line)}</p>" for line in document.said]
    parts.append("</div><h2>Setting</h2><table>")
    parts += [f'<tr><th>{text(name)}</th><td style="text-align:left;white-space:normal">{text(value)}</td></tr>'
              for name, value in document.facts]
    parts.append("</table>")
    parts += [html_of(folder, part) for part in document.parts]
    return "\n".join([*parts, "</body></html>", ""])


def write(folder: Path, document: Document) -> None:
    """Writes report.md and report.html into the folder, where the plots are already."""
    (folder / "report.md").write_text(as_markdown(document), encoding="utf-8")
    (folder / "report.html").write_text(as_html(folder, document), encoding="utf-8")
