"""Crash files: one for each finding and controller, with the decoded plan, so that it can be run again for ever; and what replays
mean.

A file goes away once its plan passes. It is named by the plan's fingerprint and the controller's identity; the first part is enough
where only one controller has such a finding. Files of the first version of staleproof are named by the fingerprint alone; they are
read as they are, and replaced when the finding comes back.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from staleproof import __version__
from staleproof.assess.store.run_folder import PLAN, RunFolder, decoded, with_manifests, write_atomically
from staleproof.assess.trial.result import Result
from staleproof.checks.verdict import Outcome
from staleproof.core.history.history import is_history
from staleproof.core.operator.prerequisite import without_payload
from staleproof.core.plan.fingerprint import fingerprint, identity
from staleproof.core.plan.plan import API_VERSION, Plan, PlanError, PlanShapeError
from staleproof.core.plan.plan import decode as decode_plan
from staleproof.core.plan.plan import encode as encode_plan
from staleproof.errors import UsageError

_KIND, _CRASHES = "Crash", "crashes"
Replayed = Literal["still fails", "fixed", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Found:
    """A plan that a person named.

    `path`: the file that it is in. `requirements`: those that it violated when it was kept as a crash; empty: it was not.
    """

    plan: Plan
    path: Path
    requirements: tuple[str, ...] = ()


def crash_id(plan: Plan) -> str:
    """What `replay` takes for a finding with this plan, which says whose it is."""
    return f"{fingerprint(plan)}-{identity(plan.controller)}"


def keep_crash(root: Path, result: Result, *, replayed: Collection[Path] = ()) -> str:
    """Keep a finding's plan under `crashes` and return its id; remove it once it is fixed.

    Fixed means that every requirement that had failed passes, for the same controller; or for any when its file was `replayed`,
    because that is how a fixed build is tried.
    """
    folder, name = root / _CRASHES, crash_id(result.plan)
    earlier = folder / f"{fingerprint(result.plan)}.json"  # as the first version called it
    if not result.failures:
        theirs = [path for path in replayed if path.parent.resolve() == folder.resolve()]
        for path in (folder / f"{name}.json", earlier, *theirs):
            if _is_fixed(path, result, by_any=path in theirs):
                path.unlink(missing_ok=True)
        return ""
    crash = {
        "apiVersion": API_VERSION,
        "kind": _KIND,
        "staleproof": __version__,
        "controller": identity(result.plan.controller),
        "requirements": [verdict.requirement for verdict in result.failures],
        "shrunk": result.shrunk,
        "findings": [story.text() for story in result.stories],
        "environment": result.history.header.environment,
        "plan": json.loads(encode_plan(result.plan)),
    }
    write_atomically(folder / f"{name}.json", json.dumps(crash, indent=2).encode() + b"\n")
    if _controller_of(earlier) == crash["controller"]:
        earlier.unlink(missing_ok=True)
    return name


def outcome_of(found: Found, result: Result) -> Replayed:
    """What running it again shows: it is fixed when every requirement that it had violated passes under its faults, and nothing
    else fails. Where nothing was put to the test, or the controller may have waited for a payload that was not written
    down, nothing is known."""
    if result.failures:
        return "still fails"
    tried = (bool(result.fired) or not result.plan.faults) and not without_payload(result.plan.before)
    passed = _passed(result).issuperset(found.requirements) if found.requirements else _is_without_fault(result)
    return "fixed" if tried and passed else "inconclusive"


def why_unknown(found: Found, result: Result) -> list[str]:
    """Why an inconclusive replay does not show whether it is fixed: the payloads that are missing, the faults that did nothing,
    and what was not seen to pass."""
    wanted = found.requirements or result.plan.aims
    lacking = ", ".join(without_payload(result.plan.before))
    masked = [f"{lacking}: the payload is not written down, and the controller may need it"] if lacking else []
    silent = masked + [f"{fault.outcome}: {fault}" for fault in result.faults if fault.outcome != "fired"]
    doubts = [each for each in result.verdicts if each.outcome is Outcome.INCONCLUSIVE or each.requirement in wanted]
    return silent + [f"{each.requirement}: {each.why}" for each in doubts if each.outcome is not Outcome.PASS]


def _is_without_fault(result: Result) -> bool:
    """Whether nothing is open and something passed; what no API server does is not scored, so there nothing passes."""
    return result.passed and bool(_passed(result) or result.hostile)


def _passed(result: Result) -> set[str]:
    return {verdict.requirement for verdict in result.verdicts if verdict.outcome is Outcome.PASS}


def _is_fixed(path: Path, result: Result, *, by_any: bool) -> bool:
    try:
        crash = _read_crash(path, path.read_bytes())
    except (OSError, UsageError):
        return False  # there is no such file, or it is not ours to remove
    if fingerprint(crash.plan) != fingerprint(result.plan) or not _passed(result).issuperset(crash.requirements):
        return False
    return by_any or identity(crash.plan.controller) == identity(result.plan.controller)


def _controller_of(path: Path) -> str:
    """Whose crash it is; empty when it cannot be read."""
    try:
        return identity(_read_crash(path, path.read_bytes()).plan.controller)
    except (OSError, UsageError):
        return ""


# --- what a person means ---------------------------------------------------------------------------------------------------------


def find_plan(text: str, root: Path) -> Plan:
    """The one plan that a person means. UsageError when there is none, or more than one."""
    found = find(text, root)
    if len(found) > 1:
        raise UsageError(f"{text} holds {len(found)} plans; name one of them, e.g. {found[0].path}")
    return found[0].plan


def find(text: str, root: Path) -> list[Found]:
    """The plans that a person means: a plan.json, a trial's folder or its name in the latest run, a history, a crash file or the id
    of one, or a folder of such files. UsageError when there is no such file, or it holds no plan."""
    return [_read(path, text) for path in _files(text, root)]


def _read(path: Path, text: str) -> Found:
    try:
        data = path.read_bytes()
    except OSError as err:
        raise UsageError(f"cannot read the plan {text[:100]!r}: {err.strerror or err}") from err
    if is_history(data):
        return Found(with_manifests(decoded(path, data).header.plan, path), path)
    if path.parent.name == _CRASHES or _is_crash(data):
        return _read_crash(path, data)
    return Found(with_manifests(_decoded(path, data), path), path)


def _files(text: str, root: Path) -> list[Path]:
    """The files that it may mean first."""
    named, crashes = Path(text), root / _CRASHES
    try:
        trial = RunFolder(root / "latest").trial(text)
        candidates = [named / PLAN, named, crashes / f"{text}.json", *([trial / PLAN] if trial else [])]
        path = next((path for path in candidates if path.is_file()), None)
        several = sorted(named.glob("*.json")) if named.is_dir() else _by_fingerprint(crashes, text)
    except (OSError, ValueError) as err:
        raise UsageError(f"cannot read the plan {text[:100]!r}: {getattr(err, 'strerror', None) or err}") from err
    if path is None and not several:
        raise UsageError(
            f"no plan {text!r}: expected a plan.json, a trial's folder, its name in {root / 'latest'}, an exported trial, the id "
            f"of a file in {crashes}, or a folder of such files"
        )
    return [path] if path is not None else several


def _by_fingerprint(crashes: Path, text: str) -> list[Path]:
    """The crash of this plan, if only one controller has it."""
    found = sorted(crashes.glob(f"{text}-*.json")) if text.isalnum() else []
    if len(found) > 1:
        raise UsageError(f"{text} is a finding of several controllers; say which: {', '.join(path.stem for path in found)}")
    return found


def _is_crash(data: bytes) -> bool:
    try:
        raw = json.loads(data)
    except ValueError:
        return False
    return isinstance(raw, dict) and raw.get("kind") == _KIND


def _read_crash(path: Path, data: bytes) -> Found:
    try:
        crash: dict[str, Any] = json.loads(data)
        plan, requirements = json.dumps(crash["plan"]).encode(), tuple(map(str, crash.get("requirements", ())))
    except (ValueError, KeyError, TypeError, AttributeError) as err:
        raise UsageError(f"{path} is not a crash file of staleproof: {err}") from err
    written, by = crash.get("apiVersion", API_VERSION), f"staleproof {crash.get('staleproof', 'of another version')}"
    if written != API_VERSION:
        raise UsageError(f"{path} {_written(by, written)}")
    return Found(_decoded(path, plan, by), path, requirements)


def _decoded(path: Path, data: bytes, by: str = "an unnamed version of staleproof") -> Plan:
    """The plan that is written there, `by` this version. UsageError when this one cannot read it."""
    try:
        return decode_plan(data)
    except PlanShapeError as err:
        origin = _written(by, json.loads(data).get("apiVersion"))
        raise UsageError(f"{path}: {err}. If that was not put in by hand: it {origin}") from err
    except PlanError as err:
        raise UsageError(f"{path}: {err}") from err


def _written(by: str, form: object) -> str:
    """Which version wrote a file in which form, which this is, and what to do when this one cannot read it."""
    return (
        f"was written by {by}, as {form}, and this is staleproof {__version__}, which reads {API_VERSION}: run it with that "
        "version, or find it anew with this one"
    )
