"""A plan: everything decided before a trial begins. One value, saved as plan.json, enough to run the trial again anywhere.

Steps are what the user does to the cluster; faults are what happens to the controller meanwhile. The same steps without the faults
are the reference. Nothing in a plan is left to chance.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Annotated, Literal, TypeVar

import msgspec

from staleproof.core.declared import AnyDeclared, declared_problems
from staleproof.core.fault import AnyFault, Misfit
from staleproof.core.fault.legality import Contract
from staleproof.core.fault.model import Seconds, Value
from staleproof.core.fault.suggest import mistakes
from staleproof.core.plan.manifest import NEEDED, Manifest, digest_in, is_object, masked_manifest, target_of
from staleproof.core.plan.masking import Placeholders, masked_env
from staleproof.core.plan.step import Rest, Restore, Step, is_workload, masked_step, problems_of
from staleproof.core.times import (
    DEADLINE_SECONDS,
    IDLE_SECONDS,
    QUIET_SECONDS,
    SETTLING_SECONDS,
    SHORT_REST_SECONDS,
    STEP_LIMIT_SECONDS,
)

M = TypeVar("M", bound=msgspec.Struct)
MAIN = "controller"
"""What entries, and people, call the program that the subject is named after."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_TAKEN = frozenset({"proxy", "relay", "apiserver", "etcd", "unknown"})
"""Names of other logs, and of clients that are not known."""
ApiVersion = Literal["staleproof.dev/v1alpha1"]
API_VERSION: ApiVersion = "staleproof.dev/v1alpha1"


class Settle(Value, frozen=True):
    """How long the runner waits.

    Attributes:
        idle_seconds: a step is over when the controller has done nothing for this long.
        quiet_seconds: the trial has settled when nothing was written for this long.
        limit_seconds: a step never takes longer than this.
        deadline_seconds: the controller has this long to converge after the release; the reference may ask for more.
        resync: once settled, end the watches of the primaries with 410, so that everything is reconciled again. client-go waits
            longer each time (0.8 s doubled up to 30 s, until two quiet minutes have passed), so it is not done in every trial.
        begins_seconds: a new life of the controller that has written nothing yet is not taken for idle before this.
        moves: fields that move by themselves even when there is nothing to do, as `widgets.staleproof.dev status.beats`: the
            runner does not wait for them to stand still, and they are not compared.
    """

    idle_seconds: Seconds = IDLE_SECONDS
    quiet_seconds: Seconds = QUIET_SECONDS
    limit_seconds: Seconds = STEP_LIMIT_SECONDS
    deadline_seconds: Seconds = DEADLINE_SECONDS
    resync: bool = False
    begins_seconds: float = 0.0
    moves: tuple[str, ...] = ()

    @property
    def settling_seconds(self) -> float:
        """How long nothing changes, and nothing is shown to the controller, before a step is over that has brought what it brought
        in the references."""
        return min(self.idle_seconds / 4, SETTLING_SECONDS)


class WebhookServer(Value, frozen=True):
    """Where the controller serves its webhooks when it runs in its container: behind these Services (`namespace/name`), on this
    port, with the certificate in this folder."""

    services: tuple[str, ...]
    port: int = 9443
    cert_dir: str = "/tmp/k8s-webhook-server/serving-certs"


class FurtherProgram(Value, frozen=True, kw_only=True):
    """A program that belongs to the subject beside the controller, as a poller that writes statuses: it has a kubeconfig, a token,
    a view, lives and a log of its own.

    Attributes:
        name: what plans and reports call it; empty: the name of its executable.
        command, arguments, env: as of the controller (`Subject`); `{kubeconfig}` stands for its own.
    """

    name: str = ""
    command: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, examples=[["./bin/poller"]])]
    arguments: tuple[str, ...] = ()
    env: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def called(self) -> str:
        return self.name or PurePath(self.command[0]).name


class Subject(Value, frozen=True):
    """The controller under test: a command line or an image. `{kubeconfig}` in an argument is replaced by the path of a file.

    `network` is that of the image's container, as its engine calls it; empty: one with ports of its own, if it leads here.
    A variable in `env` whose value is `$` and its name is taken from the environment; written plans hold no other values.

    Attributes:
        command: with an image, it takes the place of its entrypoint.
        declared: variables that its manifests give it, written as they are there; those in `env` win.
        service_account: `namespace/name` of the ServiceAccount that it is to the API server, with the rights that it has; empty: it
            may do everything.
        webhooks: what it serves to the API server; None: nothing.
        also: the further programs that run beside it and are judged together with it, each by its own view.
    """

    command: tuple[str, ...] = ()
    image: str = ""
    arguments: tuple[str, ...] = ()
    env: dict[str, str] = msgspec.field(default_factory=dict)
    network: str = ""
    declared: dict[str, str] = msgspec.field(default_factory=dict)
    service_account: str = ""
    webhooks: WebhookServer | None = None
    also: tuple[FurtherProgram, ...] = ()

    @property
    def programs(self) -> tuple[str, ...]:
        """The names of the further programs."""
        return tuple(each.called for each in self.also)

    def further(self, program: str) -> "Subject":
        """The further program of this name as a subject of its own; it has the rights that the controller has."""
        given = next(each for each in self.also if each.called == program)
        return Subject(given.command, arguments=given.arguments, env=given.env, service_account=self.service_account)

    @property
    def namespace(self) -> str:
        """Where it is at home: its ServiceAccount's; empty when it is not known."""
        return self.service_account.partition("/")[0]


class Plan(Value, frozen=True, kw_only=True):
    """Workload and faults, with all that is needed to run them.

    Attributes:
        scenario: the scenario that it belongs to, e.g. `own-writes`.
        title: one line for people.
        aims: slugs of the requirements it is meant to exercise; every checker judges the trial all the same.
        manifests: applied before anything else, e.g. CustomResourceDefinitions; in a run folder, digests of them (`stored`).
        before: what the workload needs, in order: applied in each trial's namespace before step 1, or, if it is cluster-scoped,
            once (`core.operator.prerequisite`); stored like manifests.
        steps: what the user does, in order; step 1 is the first.
        faults: what happens to the controller meanwhile; empty is a reference.
        contract: `legal` (hostile faults are refused) or `hostile` (findings are told apart and never scored).
        controller: the one it was drawn for; empty when the command line names it.
        companions: real controllers that run beside it, by name.
        external: systems outside Kubernetes that the controller keeps something in.
        kept_names: cluster-scoped primaries, as `widgets.staleproof.dev/sample`, that have the same name in every trial, because
            the controller knows them by it; the others get one of their own.
        own_hosts: host names of which a cluster may have one only; in each trial they get its mark.
        fresh: the controller is started anew before the first step, so that its client has forgotten earlier failures (client-go
            waits longer after each 410, up to a minute).
    """

    api_version: ApiVersion = API_VERSION
    kind: Literal["Plan"] = "Plan"
    scenario: str
    title: str = ""
    aims: tuple[str, ...] = ()
    manifests: tuple[Manifest, ...] = ()
    before: tuple[Manifest, ...] = ()
    steps: tuple[Step, ...]
    faults: tuple[AnyFault, ...] = ()
    contract: Contract = "legal"
    settle: Settle = Settle()
    controller: Subject | None = None
    companions: tuple[str, ...] = ()
    external: tuple[AnyDeclared, ...] = ()
    kept_names: tuple[str, ...] = ()
    own_hosts: tuple[str, ...] = ()
    fresh: bool = False

    @property
    def reference(self) -> "Plan":
        """The same workload without faults. Not `fresh`; without resyncs, as no client lists again when nothing is wrong; and with
        brief rests, because there is no hold that they must outlast."""
        steps = tuple(
            Rest(seconds=min(step.seconds, SHORT_REST_SECONDS)) if isinstance(step, Rest) else step
            for step in self.steps
            if is_workload(step)
        )
        settle = msgspec.structs.replace(self.settle, resync=False)
        title = f"reference of: {self.title or self.scenario}"
        return msgspec.structs.replace(self, faults=(), contract="legal", steps=steps, settle=settle, title=title, fresh=False)


class PlanError(ValueError):
    """A plan that cannot be read or makes no sense; the message says where."""


class PlanShapeError(PlanError):
    """A field is missing, unknown or of the wrong type: it was mistyped, or another version wrote it."""


def masked(plan: Plan) -> Plan:
    """The plan as it is written, by itself or in a history: it can be run again, and holds no secret that `masking` knows of."""
    placeholders = Placeholders()
    # Steps first: a trial and its references have the same steps, and must get the same numbers whatever their manifests are.
    steps = tuple(masked_step(step, placeholders) for step in plan.steps)
    before = tuple(masked_manifest(manifest, placeholders) for manifest in plan.before)
    manifests = tuple(masked_manifest(manifest, placeholders) for manifest in plan.manifests)
    subject = masked_subject(plan.controller) if plan.controller is not None else None
    return msgspec.structs.replace(plan, manifests=manifests, before=before, steps=steps, controller=subject)


def is_plain(plan: Plan) -> bool:
    """Whether it is written as it is, because there is no secret in it."""
    return masked(plan) == plan


def masked_subject(subject: Subject) -> Subject:
    """The controller as it is written."""
    also = tuple(msgspec.structs.replace(each, env=masked_env(each.env)) for each in subject.also)
    return msgspec.structs.replace(subject, env=masked_env(subject.env), also=also)


def encode(plan: Plan) -> bytes:
    """plan.json, masked, and indented for people."""
    data = msgspec.json.encode(msgspec.to_builtins(masked(plan)) | {"apiVersion": plan.api_version, "kind": plan.kind})
    return msgspec.json.format(data, indent=2) + b"\n"


def decode(data: bytes) -> Plan:
    """The plan in plan.json.

    Raises:
        PlanShapeError: a field is missing, unknown or of the wrong type.
        PlanError: it is not JSON, or the plan contradicts itself.
    """
    raw = read_json(data)
    if not isinstance(raw, dict) or raw.get("kind") != "Plan":
        found = f"kind {raw.get('kind')!r}" if isinstance(raw, dict) else type(raw).__name__
        raise PlanError(f'expected an object with "kind": "Plan", found {found}')
    if raw.get("apiVersion") != API_VERSION:
        raise PlanShapeError(
            f'expected "apiVersion": "{API_VERSION}", found {raw.get("apiVersion")!r}; was it written by another version?'
        )
    return converted(raw, Plan, contradictions)


def read_json(data: bytes) -> object:
    """What is written there. Raises PlanError when it is not JSON."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise PlanError(f"not JSON: {err}") from err


def converted(raw: object, model: type[M], problems: Callable[[M], list[str]]) -> M:
    """A decoded body as the model. Raises PlanError with all that is wrong: a PlanShapeError for fields, else what `problems`
    finds."""
    try:
        body = msgspec.convert(raw, model)
    except msgspec.ValidationError as err:
        raise PlanShapeError("; ".join(mistakes(raw, model)) or str(err)) from err
    if found := problems(body):
        raise PlanError("; ".join(found))
    return body


def contradictions(plan: Plan) -> list[str]:
    """What makes no sense in a plan, each in words; empty when it can be run."""
    problems = mistakes(msgspec.to_builtins(msgspec.structs.replace(plan, faults=())), Plan)
    problems += [] if plan.steps else ["steps: a plan needs at least one step"]
    for number, manifest in enumerate(plan.before):
        if not digest_in(manifest) and not is_object(manifest):
            problems.append(f"before[{number}] needs {NEEDED}")
    is_masked, given = any(map(digest_in, plan.before)), [target_of(each) for each in plan.before if is_object(each)]
    for number, step in enumerate(plan.steps, 1):
        problems += [f"step {number}: {problem}" for problem in problems_of(step)]
        if isinstance(step, Restore) and not is_masked and step.target not in given:
            called = f"{step.target.kind}/{step.target.name}"
            problems.append(f"step {number}: {called} is to be put back, and `before` has none")
    problems += [f"external: {problem}" for problem in declared_problems(plan.external)]
    if plan.controller is not None:
        problems += [f"controller: {problem}" for problem in program_problems(plan.controller)]
        problems += _unknown_programs(plan.faults, plan.controller.programs)
    return problems + fault_problems(plan.faults, plan.contract, steps=len(plan.steps))


class _Also(msgspec.Struct):
    also: tuple[FurtherProgram, ...]


def read_program(raw: object) -> FurtherProgram:
    """A further program, as it is in `staleproof.yaml`. ValueError, which says why, when it is something else."""
    try:
        return msgspec.convert(raw, FurtherProgram)
    except msgspec.ValidationError as err:
        raise ValueError("; ".join(mistakes({"also": [raw]}, _Also)) or str(err)) from err


def program_problems(subject: Subject) -> list[str]:
    """What is wrong with the further programs of a subject, each in words."""
    names = subject.programs
    found = [
        f"also: {name!r} is there twice; each program needs a name of its own"
        for name in sorted(set(names))
        if names.count(name) > 1
    ]
    found += [
        f"also: {name!r} is what the controller itself is called; give the program another name" for name in names if name == MAIN
    ]
    found += [
        f"also: {name!r} cannot be a name; it takes letters, digits, '-', '_' and '.', and begins with a letter or a digit"
        for name in names
        if not _NAME.fullmatch(name)
    ]
    found += [
        f"also: {name!r} cannot be a name: it would be that of another log of the run; give the program another one"
        for name in names
        if name in _TAKEN
    ]
    if names and subject.image:
        found.append(
            "also: a controller that is an image cannot have further programs yet; give its command (controller-cmd) instead"
        )
    return found


def _unknown_programs(faults: Iterable[AnyFault], names: Sequence[str]) -> Iterator[str]:
    for number, fault in enumerate(faults, 1):
        if fault.program and fault.program not in names:
            there = f"the subject has {', '.join(names)}" if names else "the subject has no further programs (also)"
            yield f"fault {number} ({fault.tag}): there is no program {fault.program!r}; {there}"


def fault_problems(faults: Iterable[AnyFault], contract: Contract, *, steps: int | None = None) -> list[str]:
    """What is wrong with these faults, each in words. `steps` is how many the plan has; None when there is no plan."""
    faults = tuple(faults)
    problems = mistakes({"faults": msgspec.to_builtins(faults)})
    for number, fault in enumerate(faults, 1):
        problems += [f"fault {number} ({fault.tag}): {problem}" for problem in _unfit(fault, contract, steps)]
    return problems


def _unfit(fault: AnyFault, contract: Contract, steps: int | None) -> Iterator[Misfit | str]:
    first = fault.window.from_step
    if steps is not None and first > steps:
        yield f"fromStep is {first}, the plan has steps 1 to {steps}"
    for misfit in fault.misfits():
        if not misfit.row:
            yield misfit
        elif misfit.is_hostile and contract == "legal":
            yield f'{misfit}; if that is wanted, say "contract": "hostile"'
