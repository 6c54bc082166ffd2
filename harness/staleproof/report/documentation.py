"""Tables and lists of the documentation, printed from code: `ci/docs` writes them between their markers, and tests compare."""

import inspect
import re
from collections.abc import Callable, Mapping

from staleproof.checks.catalog import REQUIREMENTS
from staleproof.checks.doubt import DOUBTS
from staleproof.checks.requirement import Requirement
from staleproof.core import times
from staleproof.core.fault.effects import EFFECTS
from staleproof.core.fault.legality import ROWS
from staleproof.core.fault.suggest import FAULTS
from staleproof.report.formats import FORMATS

_OF_TIMES = re.compile(r'^# (?P<group>.+)\n|^(?P<name>[A-Z_]+) = .+\n"""(?P<meaning>[^"]+)"""', re.MULTILINE)


def catalogue() -> str:
    """The requirements as a Markdown table, each with a link to its section on the same page."""
    rows = ["| requirement | level | sentence |", "|---|---|---|"]
    rows += [f"| [`{each.slug}`](#{each.slug}) | {each.level} | {each.must} |" for each in REQUIREMENTS]
    return "\n".join(rows)


def requirements() -> str:
    """Every requirement as a section of a Markdown page, with its slug as the heading and therefore as the anchor."""
    return "\n".join(_section(each) for each in REQUIREMENTS)


def judgement() -> str:
    """How each requirement is judged, as a Markdown table."""
    rows = ["| requirement | judged by | what is wrong | reason of not knowing, effect | beside fault-free runs |"]
    rows.append("|---|---|---|---|---|")
    return "\n".join([*rows, *map(_judged, REQUIREMENTS)])


def doubts() -> str:
    """Every other explanation that is asked for, as a Markdown table, in that order."""
    rows = ["| unless | asked about | leaves the requirement |", "|---|---|---|"]
    rows += [f"| {doubt.name} | {', '.join(sorted(doubt.of))} | {doubt.leaves.word} |" for doubt in DOUBTS]
    return "\n".join(rows)


def _judged(requirement: Requirement) -> str:
    is_any = requirement.effects == EFFECTS
    effects = ["any effect"] if is_any else sorted(f"`{effect}`" for effect in requirement.effects)
    why = ", ".join([*requirement.reasons, *effects]) or "none is needed"
    beside = "yes" if requirement.needs_references else "no"
    return f"| `{requirement.slug}` | {requirement.kind} | {requirement.wrong} | {why} | {beside} |"


def _section(requirement: Requirement) -> str:
    faults = ", ".join(f"`{name}`" for name in requirement.faults) or "none is needed"
    return "\n".join(
        [
            f"### {requirement.slug}",
            "",
            f"**{requirement.must}**",
            "",
            f"- level: {requirement.level}",
            f"- source: {requirement.source}",
            f"- faults that bring a violation out: {faults}",
            f"- remedy: {requirement.remedy}",
            "",
        ]
    )


def faults() -> str:
    """Every fault as a Markdown table: what it does, and what allows or forbids it."""
    rows = ["| fault | what happens | contract | legality row |", "|---|---|---|---|"]
    for name, kind in FAULTS.items():
        sentence, *_ = inspect.cleandoc(kind.__doc__ or "").split("\n\n")
        rows.append(f"| `{name}` | {_in_one_line(sentence)} | {kind.contract} | {kind.row} |")
    return "\n".join(rows)


def formats() -> str:
    """The formats in which a run is reported, as a Markdown table."""
    rows = ["| name | file | what it is |", "|---|---|---|"]
    rows += [f"| `{name}` | `{each.file}` | {each.about} |" for name, each in FORMATS.items()]
    return "\n".join(rows)


def legality() -> str:
    """The table of what a correct API server could show, as Markdown."""
    rows = ["| row | disturbance | contract | does kube-apiserver do it? | because | source |", "|---|---|---|---|---|---|"]
    rows += [
        f"| {row.number} | {row.disturbance} | {row.contract} | {row.done} | {row.why} | {row.source} |" for row in ROWS.values()
    ]
    return "\n".join(rows)


def time_constants() -> str:
    """All of them as Markdown tables, one for each group."""
    lines: list[str] = []
    for group, name, meaning in _OF_TIMES.findall(inspect.getsource(times)):
        if group:
            lines += ["", f"## {group}", "", "| constant | value | meaning |", "|---|---|---|"]
        else:
            lines.append(f"| `{name}` | {_value(name)} | {_in_one_line(meaning)} |")
    return "\n".join(lines)


def _value(name: str) -> str:
    value = getattr(times, name)
    if name.endswith("_FACTOR"):
        return f"{value:g} times"
    values = value if isinstance(value, tuple) else (value,)
    return f"{', '.join(f'{each:g}' for each in values)} s"


def _in_one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


_PRINTED = {
    "catalogue": catalogue,
    "judgement": judgement,
    "doubts": doubts,
    "requirements": requirements,
    "faults": faults,
    "formats": formats,
    "legality": legality,
    "times": time_constants,
}


def updated(text: str, printed: Mapping[str, Callable[[], str]] = _PRINTED) -> str:
    """The document with each table or list between its markers."""
    for name, table in printed.items():
        text = re.sub(
            rf"(<!-- {name}: begin[^\n]*-->\n).*?(<!-- {name}: end -->)",
            lambda match, table=table: f"{match[1]}{table()}\n{match[2]}",  # type: ignore[misc]  # bound in this round
            text,
            flags=re.DOTALL,
        )
    return text
