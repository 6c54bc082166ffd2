"""Draws a recording as an SVG that plays: what stood on the terminal, moment by moment, and at last all of it.

Nothing is made up: a moment is what was written until then, each line as a terminal shows it that goes back to its beginning at a
carriage return. Moments that differ in the clock alone are one; none is shown for longer than it lasted.
"""

import io
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

from .recording import Recording

MOST_MOMENTS = 10
_LONGEST_SECONDS, _SHORTEST_SECONDS, _LAST_SECONDS = 2.0, 0.4, 30.0
_CLOCK = re.compile(r"^[0-9]+:[0-9]{2}")
_FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
    <style>
    .{unique_id}-matrix {{ font-family: "Fira Code", "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: {char_height}px;
        line-height: {line_height}px; font-variant-east-asian: full-width; }}
    .{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: arial, sans-serif; }}
    {styles}
    </style>
    <defs>
    <clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
    </defs>
    {chrome}
    <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">
    {matrix}
    </g>
    </g>
</svg>
"""
"""As rich has it, without fonts from a network, and without a clip for each line: none is longer than the terminal is wide."""
_CLIPPED = re.compile(r' clip-path="url\(#[a-z0-9]+-line-[0-9]+\)"')
_EMPTY = re.compile(r"<text [^>]*>\s*</text>")


def lines_at(recording: Recording, seconds: float) -> list[str]:
    """What stands on the terminal by then, with its escapes, long lines broken where the terminal ends."""
    text = "".join(written for at, written in recording.written if at <= seconds)
    return [part for line in text.replace("\r\n", "\n").split("\n") for part in _shown(line, recording.columns)]


def moments(recording: Recording) -> list[float]:
    """When something else than the clock had changed; of too many so many, evenly chosen, and always the last."""
    found, before = list[float](), ""
    for at, _ in recording.written:
        last = AnsiDecoder().decode_line((lines_at(recording, at) or [""])[-1]).plain
        line = _CLOCK.sub("", last).strip()
        if line and line != before:
            found.append(at)
        before = line or before
    end = recording.written[-1][0]
    step = max(1, -(-len(found) // (MOST_MOMENTS - 1)))
    return [*(each for each in found[::step] if each < end), end]


def svg(recording: Recording, title: str) -> str:
    """One file that plays once; where nothing plays, it shows the end."""
    times = moments(recording)
    shown = [lines_at(recording, each) for each in times]
    rows = max(map(len, shown))
    drawn = [_drawn(lines, rows, recording.columns, title, f"m{number}") for number, lines in enumerate(shown)]
    seconds = [min(max(after - before, _SHORTEST_SECONDS), _LONGEST_SECONDS) for before, after in pairwise(times)]
    style = "\n".join(_played(seconds))
    parts = "\n".join(f'<g class="f{number}">{each}</g>' for number, each in enumerate(drawn))
    box = re.search(r'viewBox="([^"]+)"', drawn[-1])
    assert box is not None
    made = f'<svg viewBox="{box[1]}" xmlns="http://www.w3.org/2000/svg">\n<style>\n{style}\n</style>\n{parts}\n</svg>\n'
    return "\n".join(line.strip() for line in made.splitlines() if line.strip()) + "\n"


def _shown(line: str, columns: int) -> Iterator[str]:
    """A line, as it stands after all that was written over it, in as many lines as it takes."""
    last = line.rstrip("\r").rsplit("\r", 1)[-1]
    text = AnsiDecoder().decode_line(last)
    if text.cell_len <= columns:
        yield last
        return
    cuts = range(columns, len(text.plain), columns)
    for part in text.divide(cuts):
        out = io.StringIO()
        Console(file=out, force_terminal=True, width=columns + 1, color_system="standard").print(part, end="", soft_wrap=True)
        yield out.getvalue()


def _drawn(lines: Sequence[str], rows: int, columns: int, title: str, name: str) -> str:
    """One moment, in a terminal of so many rows."""
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    for line in [*lines, *[""] * (rows - len(lines))]:
        text = AnsiDecoder().decode_line(line)
        console.print(text if text.plain else Text(" "), no_wrap=True, overflow="crop", highlight=False)
    made = console.export_svg(title=title, theme=SVG_EXPORT_THEME, code_format=_FORMAT, unique_id=name)
    return _EMPTY.sub("", _CLIPPED.sub("", made))


def _played(seconds: Sequence[float]) -> Iterator[str]:
    """Each moment is seen for so long, one after the other; the last one stays, and is the only one where nothing moves."""
    total, began = sum(seconds) + _LAST_SECONDS, 0.0
    yield ", ".join(f".f{number}" for number in range(len(seconds))) + " { visibility: hidden }" if seconds else ""
    yield "@media (prefers-reduced-motion: no-preference) {"
    for number, lasts in enumerate([*seconds, _LAST_SECONDS]):
        first, last = 100 * began / total, 100 * (began + lasts) / total
        is_last = number == len(seconds)
        after = "" if is_last else f"{last:.2f}% {{ visibility: hidden }} "
        end = "visible" if is_last else "hidden"
        yield (
            f"@keyframes k{number} {{ 0% {{ visibility: {'visible' if number == 0 and not is_last else 'hidden'} }} "
            f"{first:.2f}% {{ visibility: visible }} {after}100% {{ visibility: {end} }} }}"
        )
        yield f".f{number} {{ animation: k{number} {total:.1f}s step-end 1 forwards }}"
        began += lasts
    yield "}"
