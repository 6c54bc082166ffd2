"""A finding as text for the controller's issue tracker: what happened, and how to see it with kubectl, curl and `staleproof proxy`.

The script does the plan step by step; the proxy gets the faults beforehand, and opens them by the numbers of steps. What only the
reader can do (to the controller's process; to a Secret, whose contents no plan has), the script asks for, and waits.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import yaml

from staleproof.checks.catalog import BY_SLUG
from staleproof.checks.story.narrative import Story
from staleproof.core.fault import (
    AnyFault,
    ExternalFault,
    Kill,
    LateNotification,
    LoseCallAnswer,
    LoseNotification,
    Pause,
    RejectCall,
    RepeatNotification,
    Restart,
    SlowCall,
)
from staleproof.core.history.history import History
from staleproof.core.plan.manifest import Manifest, Target, target_of
from staleproof.core.plan.masking import SECRET
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import (
    Apply,
    AwaitRepair,
    Delete,
    Drift,
    Edit,
    Heartbeat,
    Lull,
    Patch,
    PatchStatus,
    Recreate,
    Remove,
    Rest,
    Restore,
    Resync,
    Step,
    Touch,
    TurnSystem,
    describe,
    parts,
)
from staleproof.report.inert import in_one_line
from staleproof.report.markdown import block, code, literal

_CONTROLLER = "the controller"
_NAMESPACE = "by-hand"
_MOST_OF_TITLE = 300
_TOUCHED = 'touched="$(date +%s%N)"'
_CONTROL = "127.0.0.1:8099"
_FUNCTIONS = f"""\
control() {{ curl -fsS -H "Authorization: Bearer $(cat control.token)" -X "$1" -d "$3" http://{_CONTROL}/v1/"$2"; echo; }}
step() {{ # the API server's revision now lets a later fault show this moment
  revision=$(kubectl get --raw '/api/v1/namespaces?limit=1' | grep -o '"resourceVersion":"[0-9]*"' | head -n 1 | tr -dc 0-9)
  control POST step "{{\\"step\\": $1, \\"revision\\": $revision}}"
}}
rest() {{ sleep "${{REST:-5}}"; }} # until the controller has nothing left to do"""


def by_hand(history: History, stories: Sequence[Story], doubts: Sequence[str] = ()) -> str:
    """Markdown. `stories`: those of the trial's findings, the worst first; without any it only says how to do the plan. `doubts`:
    what its run says against that they are findings."""
    plan, story_lines = history.header.plan, [line for story in stories for line in _story(story)]
    headline = stories[0].headline.replace(history.header.namespace, _NAMESPACE) if stories else ""
    title = headline or plan.title or plan.scenario
    where = ", ".join(
        f"{name} {history.header.environment[name]}" for name in ("kubernetes", "staleproof") if name in history.header.environment
    )
    return "\n".join(
        [
            f"# {literal(title, _MOST_OF_TITLE)}",
            "",
            *_doubted(doubts),
            *story_lines,
            "## How to see it",
            "",
            *_preparation(plan, where),
            *_script(plan),
            *_outlook(headline),
        ]
    )


def _doubted(doubts: Sequence[str]) -> Iterator[str]:
    """For the user who is about to send it."""
    if doubts:
        yield f"**Not confirmed: {literal('; '.join(doubts))}.** Run the trial again (`staleproof replay`) before you send this."
        yield ""


def _story(story: Story) -> Iterator[str]:
    requirement = BY_SLUG[story.requirement]
    yield f"{requirement.must} ({story.requirement}; {requirement.source})"
    yield ""
    if story.summary:
        yield f"**{literal(story.summary)}**"
        yield ""
    yield block("\n".join(f"{at:8.3f} s  {line}" for at, line in story.lines))
    yield ""
    yield f"Remedy: {story.remedy}"
    yield ""


def _preparation(plan: Plan, where: str) -> Iterator[str]:
    """What is there before the first step."""
    yield f"Seen with {literal(where)}, in a cluster for tests: `staleproof control-plane start` starts one." if where else ""
    yield ""
    yield "1. Apply the controller's CustomResourceDefinitions, and whatever it is installed with."
    needed = [code(_named(each)) for each in plan.before if not _is_known(each)]
    yield f"2. `kubectl create namespace {_NAMESPACE}`" + (
        f", and put there what the sample needs: {', '.join(needed)}." if needed else "."
    )
    yield "3. Put a proxy before the API server:"
    yield ""
    yield (
        f'       staleproof proxy --kubeconfig "$HOME/.kube/config" --control {_CONTROL} --token-file control.token '
        "--client-kubeconfig through-proxy.yaml &"
    )
    yield ""
    commands = _programs(plan)
    behind = _behind(plan)
    command = shlex.join(commands.pop(behind, ())) or _image(plan)
    shown = f" ({code(command)})" if command else ""
    started = f"Start {behind or _CONTROLLER} with `through-proxy.yaml` as its kubeconfig{shown}"
    yield f"4. {started}, and no other instance of it."
    for program, words in commands.items():
        yield f"   Start {program or _CONTROLLER} with a kubeconfig of the cluster itself ({code(shlex.join(words))})."
    yield "5. Run this (bash):"
    yield ""


def _programs(plan: Plan) -> dict[str, Sequence[str]]:
    """The commands of the subject's programs, by name; the controller's has none."""
    subject = plan.controller
    if subject is None:
        return {}
    return {"": subject.command, **{each.called: (*each.command, *each.arguments) for each in subject.also}}


def _image(plan: Plan) -> str:
    """That of the controller's container, with its arguments; empty if it is a command."""
    subject = plan.controller
    return " ".join(filter(None, (subject.image, shlex.join(subject.arguments)))) if subject is not None and subject.image else ""


def _behind(plan: Plan) -> str:
    """Which of the subject's programs is started behind the proxy, which does not tell programs apart: the one to which the first
    of the proxy's faults happens."""
    return next((fault.program for fault in plan.faults if not fault.needs_runner and not fault.shared), "")


def _is_known(manifest: Manifest) -> bool:
    """Whether it is all there: of a Secret the contents are not, and of what is not stored beside the plan there is a digest."""
    return "kind" in manifest and manifest["kind"] != SECRET


def _named(manifest: Manifest) -> str:
    return f"{manifest['kind']}/{manifest['metadata']['name']}" if "kind" in manifest else "what the plan has a digest of"


def _script(plan: Plan) -> Iterator[str]:
    yield block("\n".join(_lines(plan)), "bash")
    yield ""


def _lines(plan: Plan) -> Iterator[str]:
    """Of the script."""
    mine = [fault for fault in plan.faults if not fault.needs_runner and fault.happens_to(_behind(plan))]
    proxied = [msgspec.structs.replace(fault, program="") for fault in mine]
    body = msgspec.json.encode({"faults": proxied, "namespace": _NAMESPACE, "contract": plan.contract}).decode()
    yield "set -eu"
    yield _FUNCTIONS
    yield ""
    for each in filter(_is_known, plan.before):
        yield from _apply(each)
    yield f"control PUT plan {shlex.quote(body)}"
    for number, step in enumerate(plan.steps, 1):
        yield ""
        yield f"step {number} # {in_one_line(describe(step))}"
        for fault in plan.faults:
            yield from map(_ask, _process(fault, number, len(plan.steps)))
        for part in parts(step):
            yield from _commands(part, {target_of(each): each for each in plan.before if _is_known(each)})
        yield "rest"
    yield ""
    yield "control POST release '{}' # whatever is still held leaves"
    yield "rest"


def _ask(what: str) -> str:
    """Has the reader do it, and waits."""
    return f"echo {shlex.quote(f'{what} Then press Enter.')}; read -r"


def _process(fault: AnyFault, number: int, last: int) -> Iterator[str]:
    """What the reader does to the controller's process before a step, in words."""
    begins, ends = fault.window.from_step, fault.window.until_step or last + 1
    program = fault.program or _CONTROLLER
    match fault:
        case Restart(stays_down=down) if number == begins:
            how = f"Ask {program} to stop" if fault.gently else f"Kill {program}"
            yield f"{how}{'.' if down else ', and start it again.'}"
        case Kill() if number == begins:
            what = f"its {fault.verb}{'' if fault.resource == '*' else f' of {fault.resource}'}"
            nth = "" if fault.nth == 1 else f" number {fault.nth}"
            again = "" if fault.stays_down else ", and start it again"
            yield f"Make ready to kill {program} in this step, right {fault.moment} {what}{nth}{again}."
        case ExternalFault() if number == begins:
            yield _outside(fault)
        case Pause() if number == begins:
            yield f"Stop {program}'s process (kill -STOP)."
    if number == ends and isinstance(fault, Restart | Kill) and fault.stays_down:
        yield f"Start {program} again."
    if number == ends and isinstance(fault, Pause):
        yield f"Let {program} go on (kill -CONT)."


def _outside(fault: ExternalFault) -> str:
    """What the reader does to a call to an external system, or to a notification of one."""
    times = "" if fault.times == 1 else ", and those after it" if fault.times is None else f", and {fault.times - 1} after it"
    notification = f"notification number {fault.nth} of {fault.about}{times}{',' * bool(times)}"
    match fault:
        case LoseNotification():
            return f"Have {notification} in this step lost."
        case LateNotification(by_seconds=seconds):
            return f"Have {notification} in this step delivered {seconds:g} s late."
        case RepeatNotification():
            return f"Have {notification} in this step delivered twice."
    call = f"call number {fault.nth} to {fault.about} that changes something"
    match fault:
        case RejectCall():
            return f"Have {call} in this step refused, and not executed."
        case SlowCall(by_seconds=seconds):
            return f"Have {call} in this step executed at once, and answered {seconds:g} s late."
        case LoseCallAnswer():
            return f"Have {call} in this step executed, and its connection end before the answer."
    program = fault.program or _CONTROLLER
    return f"Make ready to kill {program} in this step, when {call} is executed and not answered yet, and start it again."


def _commands(step: Step, given: Mapping[Target, Manifest]) -> Iterator[str]:
    """What does a part of a step. `given`: what the sample needs, as far as it is known."""
    match step:
        case Apply(object=manifest):
            yield from _apply(manifest)
        case Patch(target=target, patch=patch) | PatchStatus(target=target, patch=patch):
            how = " --subresource status" if isinstance(step, PatchStatus) else ""
            yield f"kubectl patch -n {_NAMESPACE} {_of(target)} --type merge{how} --patch {_json(patch)}"
        case Touch() | Lull():
            yield from (f"kubectl annotate -n {_NAMESPACE} --overwrite {_of(target)} {_TOUCHED}" for target in step.touches)
        case Delete(target=target):
            yield f"kubectl delete -n {_NAMESPACE} --wait=false {_of(target)}"
        case Remove() | Recreate() | Edit() | Heartbeat():
            yield from _to_child(step)
        case Restore(target=target) if target in given:
            yield from _apply(given[target])
        case _:
            yield from _besides(step)


def _besides(step: Step) -> Iterator[str]:
    match step:
        case Restore(target=target):
            yield _ask(f"Apply {target.kind}/{target.name} again, as it was.")
        case Resync(resource=resource):
            yield f"control POST sever {_json({'resource': resource})}"
        case Rest(seconds=seconds):
            yield f"sleep {seconds:g}"
        case Drift() | TurnSystem():
            yield _ask(f"See to it, past the controller, that {describe(step)}.")
        case AwaitRepair(seconds=seconds):
            yield _ask(f"Wait until what drifted is repaired, for at most {seconds:g} s.")


def _apply(manifest: Manifest) -> Iterator[str]:
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "namespace"}
    yield f"kubectl apply -n {_NAMESPACE} -f - <<'END'"
    yield yaml.safe_dump({**manifest, "metadata": metadata}, sort_keys=False).rstrip()
    yield "END"


def _to_child(step: Remove | Recreate | Edit | Heartbeat) -> Iterator[str]:
    """Children are counted from the oldest, or backwards from the youngest."""
    nth = f"sed -n {step.nth}p" if step.nth > 0 else f"tail -n {-step.nth} | head -n 1"
    yield f"child=$(kubectl get -n {_NAMESPACE} {step.resource} --sort-by=.metadata.creationTimestamp -o name | {nth})"
    match step:
        case Remove():
            yield f'kubectl delete -n {_NAMESPACE} --wait=false "$child"'
        case Recreate(foreign=foreign):
            whose = ", without its owner" if foreign else ""
            yield f'kubectl get -n {_NAMESPACE} "$child" -o yaml > child.yaml'
            yield f'kubectl delete -n {_NAMESPACE} "$child"'
            yield _ask(f"Create what is in child.yaml again, without uid and resourceVersion{whose}.")
        case Edit(patch=patch):
            yield f'kubectl patch -n {_NAMESPACE} "$child" --type merge --patch {_json(patch)}'
        case Heartbeat():
            yield f'kubectl annotate -n {_NAMESPACE} --overwrite "$child" {_TOUCHED}'


def _outlook(headline: str) -> Iterator[str]:
    """What to see, and how to see what the controller does without any fault."""
    if headline:
        yield f"Look for this; names that are generated will be others: {code(headline)}."
        yield ""
    yield (
        "To see what the controller does without any fault, leave out the line `control PUT plan`, and do nothing to the "
        "controller's process."
    )


def _of(target: Target) -> str:
    """The kind with its group, as kubectl takes it."""
    group, _, version = target.api_version.rpartition("/")
    return shlex.quote(f"{target.kind}.{version}.{group}/{target.name}" if group else f"{target.kind.lower()}/{target.name}")


def _json(value: object) -> str:
    return shlex.quote(msgspec.json.encode(value).decode())
