"""What the user asks for: each option is declared once, for pytest, for the staleproof command, for the environment and for
staleproof.yaml, and parsed into a typed setting.

Cheap to import: every pytest run in an environment that has staleproof imports it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

from staleproof import settings_values as value_of
from staleproof.core.operator.group_kind import GroupKind
from staleproof.core.times import OPENS_WATCH_SECONDS, SHRINK_SECONDS
from staleproof.draw.profile import PROFILES, STANDARD
from staleproof.drive.cluster.options import ProviderName
from staleproof.errors import UsageError

ARTEFACTS = Path(".staleproof")
Keep = Literal["findings", "all"]
_PROVIDERS = get_args(ProviderName)
_YES_OR_NO = ("", "yes", "no", "true", "false", "1", "0")
PREFIX = "STALEPROOF_"
_UNPREFIXED = ("controller_", "conformance_", "implementation_")


@dataclass(frozen=True, slots=True)
class Given:
    """The texts that an option was given. `called` is what the user knows it by; `origin` is `command line`, `environment`, or the
    file."""

    texts: tuple[str, ...]
    called: str
    origin: str = "command line"


@dataclass(frozen=True, slots=True)
class Option:
    """How a setting is given.

    Attributes:
        parse: makes a value of a text, or raises ValueError with what it expected.
        many: it may be given several times; its value is a tuple.
        choices: the texts that are allowed; empty allows all.
        name: the setting's.
        default: what stands for an option that is not given, as people write it; empty when there is nothing to show.
        switch: the flag takes no value and says yes; the variable says yes or no.
        private: its texts may hold passwords, so no message shows them.
    """

    help: str
    parse: Callable[[str], Any] = str
    many: bool = False
    choices: tuple[str, ...] = ()
    name: str = ""
    default: str = ""
    switch: bool = False
    private: bool = False

    @property
    def flag(self) -> str:
        """What pytest calls it."""
        return f"--{'' if self.name.startswith(_UNPREFIXED) else 'staleproof-'}{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        return f"{PREFIX}{self.name.upper()}"

    @property
    def key(self) -> str:
        """What it is called in staleproof.yaml."""
        return self.name.replace("_", "-")

    @property
    def is_path(self) -> bool:
        return self.parse in (value_of.path, value_of.path_or_none)

    @property
    def kind(self) -> str:
        """What it is in JSON, or each of its values if there are many."""
        return value_of.KINDS.get(self.parse, "string")

    def value(self, text: str, called: str) -> object:
        """The value of a text; UsageError when it is not what was expected."""
        try:
            if not _is_text(text):
                raise ValueError("text in UTF-8")
            if self.choices and text not in self.choices:
                raise ValueError(f"one of {', '.join(filter(None, self.choices))}")
            return self.parse(text)
        except ValueError as err:
            raise UsageError(f"{called}: expected {err}, found {self.shown(text)}") from err

    def shown(self, value: object) -> str:
        """A value that was given, as a message shows it."""
        return "something else (not shown here, as it may be secret)" if self.private else repr(value)


def _is_text(text: str) -> bool:
    """Whether it can be written down: bytes that are no UTF-8 are halves of characters to Python."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The value of every option."""

    controller_cmd: Annotated[
        tuple[str, ...],
        Option(
            "the controller as a command, split as a shell would; {kubeconfig} is replaced, KUBECONFIG is set", value_of.command
        ),
    ] = ()
    controller_image: Annotated[str, Option("the controller as an image; its container has what a pod has, and a kubeconfig")] = ""
    controller_network: Annotated[
        str,
        Option(
            "the network of the image's container: bridge, host, or the name of one of the engine's; empty: one in which it has "
            "ports of its own, if that leads to this machine (docs/images.md)"
        ),
    ] = ""
    controller_args: Annotated[
        tuple[str, ...], Option("added to the command, or replacing the image's arguments; split as a shell would", value_of.words)
    ] = ()
    controller_env: Annotated[
        tuple[tuple[str, str], ...],
        Option("NAME=VALUE for the controller, {kubeconfig} is replaced; may be repeated", value_of.pair, many=True, private=True),
    ] = ()
    controller_also: Annotated[
        tuple[Any, ...],
        Option(
            "a further program that runs beside the controller and is judged together with it, by its own view, as an object: "
            "command, a list; arguments, another; env, an object; name (empty: its executable's); may be repeated",
            value_of.further,
            many=True,
            private=True,
        ),
    ] = ()
    controller_manifests: Annotated[
        tuple[Path, ...],
        Option(
            "what installs the controller in a cluster: rendered manifests, a file or a folder, or a kustomization; its arguments, "
            "variables, rights and webhooks are read there; may be repeated",
            value_of.path,
            many=True,
        ),
    ] = ()
    controller_deployment: Annotated[
        str,
        Option(
            "which Deployment, StatefulSet or DaemonSet of the manifests is the controller: NAME, or NAME/CONTAINER; empty: there "
            "is only one"
        ),
    ] = ""
    controller_start_seconds: Annotated[
        float, Option("how long the controller may take to open its first watch", value_of.seconds)
    ] = OPENS_WATCH_SECONDS
    controller_metrics: Annotated[
        str,
        Option(
            "URL of the controller's metrics, e.g. http://127.0.0.1:{metrics_port}/metrics; {metrics_port} is a free port, here "
            "and in its command, arguments and variables",
            value_of.metrics_url,
        ),
    ] = ""
    controller_source: Annotated[
        str,
        Option(
            "where in the controller's repository code scanning shows findings (SARIF): PATH or PATH:LINE, relative to its root; "
            "empty: at their plans",
            value_of.source,
        ),
    ] = ""
    crds: Annotated[
        tuple[Path, ...],
        Option("CustomResourceDefinitions to apply first: a file or a folder; may be repeated", value_of.path, many=True),
    ] = ()
    samples: Annotated[
        tuple[Path, ...],
        Option("primaries and what they need: a file or a folder of manifests; may be repeated", value_of.path, many=True),
    ] = ()
    primary: Annotated[
        tuple[GroupKind, ...],
        Option(
            "Kind.group of the samples that are primaries, the others being what they need; may be repeated; empty: those of a "
            "CustomResourceDefinition that is given, or else what the controller is seen to react to",
            GroupKind.read,
            many=True,
        ),
    ] = ()
    before: Annotated[
        tuple[Path, ...],
        Option(
            "what the primaries need and no sample has: a file or a folder of manifests, applied in each trial before the first "
            "step, or once if it is cluster-scoped; may be repeated, and is applied in this order",
            value_of.path,
            many=True,
        ),
    ] = ()
    external: Annotated[
        tuple[Any, ...],
        Option(
            "a system outside Kubernetes that the controller keeps something in, as an object: name; kind (postgresql, http, s3, "
            "command, own); env, the controller's variable for its URL; repairs (never, or {within: 30s}); polls (never, or "
            "{every: 5s}); url, command, read, create, change, delete, stop, start, adapter as the kind needs; may be repeated",
            value_of.external,
            many=True,
            private=True,
        ),
    ] = ()
    kube_provider: Annotated[ProviderName, Option(f"control plane from: {', '.join(_PROVIDERS)}", choices=_PROVIDERS)] = "auto"
    kubeconfig: Annotated[
        Path | None,
        Option("a cluster of your own, for the provider existing; empty: a control plane of staleproof's", value_of.path_or_none),
    ] = None
    allow_remote_cluster: Annotated[
        bool,
        Option(
            "yes: the cluster of --staleproof-kubeconfig may be on another machine",
            value_of.yes,
            choices=_YES_OR_NO,
        ),
    ] = False
    kube_image: Annotated[str, Option("image of the provider container; empty means one made from the cached control plane")] = ""
    companions: Annotated[
        tuple[str, ...],
        Option(
            "real controllers beside the one under test: auto: those that a real cluster has for what the controller creates; "
            "none; or with commas: kube-controller-manager's by name, e.g. garbage-collector; scheduler; kwok (three Nodes, Pods "
            "that run, Jobs that finish); provisioner (volumes for claims)",
            value_of.companions,
        ),
    ] = ("auto",)
    profile: Annotated[str, Option(f"how thorough to be: {', '.join(PROFILES)}", choices=tuple(PROFILES))] = STANDARD.name
    minutes: Annotated[
        float | None,
        Option(
            "end the run after so many minutes, its start and the report included: the plans that show most come first, the report "
            "says which were left out, and what there was no time to confirm is inconclusive; empty: run all",
            value_of.minutes,
        ),
    ] = None
    max_examples: Annotated[
        int | None,
        Option(
            "plans drawn by Hypothesis for each sample; empty: as many as the profile says "
            f"({', '.join(f'{each.name} {each.examples}' for each in PROFILES.values())})",
            value_of.count_or_none,
        ),
    ] = None
    patience: Annotated[
        float | None,
        Option(
            "before the controller is called stuck, what is missing is waited for so many seconds, once for a cause and no longer "
            "than it takes: what heals meanwhile is a cost, and no finding; empty: as long as the profile says "
            f"({', '.join(f'{each.name} {each.patience:.0f}' for each in PROFILES.values())})",
            value_of.seconds_if_any,
        ),
    ] = None
    mutations: Annotated[
        Path | None,
        Option(
            "a YAML file that says what of the samples is changed: only and forbid (lists of paths), extend (paths and values); "
            "empty: whatever their schemas allow",
            value_of.path_or_none,
        ),
    ] = None
    shrink_seconds: Annotated[
        float,
        Option(
            "how long a drawn plan with a finding may be made smaller, on the live controller; 0: not at all",
            value_of.seconds_or_none,
        ),
    ] = SHRINK_SECONDS
    only: Annotated[
        tuple[str, ...],
        Option(
            "run this plan and none that is not named so: its id, as a dry run shows it, that of its finding, or its name; may be "
            "repeated",
            many=True,
        ),
    ] = ()
    dry_run: Annotated[
        bool,
        Option(
            "run no trial: print the plans that would be run, a line each, from what an earlier run observed of the controller",
            value_of.yes,
            choices=_YES_OR_NO,
            switch=True,
        ),
    ] = False
    inconclusive: Annotated[
        Literal["", "ok", "fail"],
        Option(
            "when nothing failed but something is inconclusive, or too little was tried: ok exits 0, fail exits 1; empty: exit 10",
            choices=("", "ok", "fail"),
        ),
    ] = ""
    baseline: Annotated[
        Path | None,
        Option("a file of known findings, which are reported and fail no run; empty: none is known", value_of.path_or_none),
    ] = None
    update_baseline: Annotated[
        bool,
        Option("write what was found to the file of --staleproof-baseline", value_of.yes, choices=_YES_OR_NO, switch=True),
    ] = False
    namespace: Annotated[
        str,
        Option(
            "the namespace that the primaries have to be in, because the controller looks into no other; trials have it in "
            "turn, with names of their own; empty: the one that the controller watches, if it is one, or else one for each trial"
        ),
    ] = ""
    release_leases: Annotated[
        bool,
        Option(
            "yes: before the controller is started again, leases that its dead life held are released; no: they run out",
            value_of.yes,
            choices=("yes", "no"),
        ),
    ] = True
    replay: Annotated[
        str, Option("run only this again: the id of a finding, a crash file, a plan.json, an exported trial, or a folder of them")
    ] = ""
    config: Annotated[
        Path | None,
        Option(
            "a file of these options (docs/configuration.md); empty: staleproof.yaml in the working directory, or else in pytest's "
            "rootdir, if there is one",
            value_of.path_or_none,
        ),
    ] = None
    dir: Annotated[Path, Option("artefact folder", value_of.path)] = ARTEFACTS
    keep: Annotated[
        Keep,
        Option(
            "all: every history is kept; findings: those of trials that pass are removed once they are judged, and their plans and "
            "verdicts stay",
            choices=get_args(Keep),
        ),
    ] = "all"
    report: Annotated[
        tuple[str, ...],
        Option(
            "formats of the report besides report.json and conformance.yaml, with commas: junit, summary, sarif, badge, "
            "badge-json, trace, results (docs/reports.md)",
            value_of.formats,
        ),
    ] = ()
    conformance_report: Annotated[
        Path | None, Option("write conformance.yaml to this path too; empty: only into the run folder", value_of.path_or_none)
    ] = None
    implementation_organization: Annotated[str, Option("who makes the controller, for the conformance report")] = ""
    implementation_project: Annotated[str, Option("its name there")] = ""
    implementation_url: Annotated[str, Option("where it is found")] = ""
    implementation_version: Annotated[str, Option("a tag or release, never a branch")] = ""
    implementation_contact: Annotated[tuple[str, ...], Option("a contact for questions; may be repeated", many=True)] = ()


def _shown(default: object) -> str:
    if default is True:
        return "yes"
    if isinstance(default, tuple):
        return ",".join(default)
    return f"{default:g}" if isinstance(default, float) else str(default or "")


def _options() -> Iterator[Option]:
    hints = get_type_hints(Settings, include_extras=True)
    for each in fields(Settings):
        (option,) = hints[each.name].__metadata__
        yield replace(option, name=each.name, default=_shown(each.default))


OPTIONS = tuple(_options())
_PROGRAMS = {"controller_cmd": ("controller_image", "controller_network"), "controller_image": ("controller_cmd",)}
"""A user who names the controller with one of these says nothing with what is left of the others: they do not count."""


def over(stronger: Mapping[str, Given], weaker: Mapping[str, Given]) -> dict[str, Given]:
    """What counts, in the order of the options."""
    void = {other for name in stronger for other in _PROGRAMS.get(name, ())}
    found = {**{name: given for name, given in weaker.items() if name not in void}, **stronger}
    return {option.name: found[option.name] for option in OPTIONS if option.name in found}


def in_words(given: Mapping[str, Given], called: Callable[[Option], str]) -> list[str]:
    """What was given, as a command line says it. `called`: what an option is called there."""
    words: list[str] = []
    for option in (each for each in OPTIONS if each.name in given):
        texts = given[option.name].texts
        if option.switch:
            words += [called(option)] if value_of.yes(texts[-1]) else []
        else:
            words += [f"{called(option)}={text}" for text in texts]
    return words


def parse(given: Mapping[str, Given]) -> Settings:
    """The settings that follow from what was given, by name, and from the defaults. UsageError when a text is not what its option
    expects, or two options contradict each other."""
    values: dict[str, Any] = {}
    for option in OPTIONS:
        if option.name in given:
            found = given[option.name]
            parsed = tuple(option.value(text, found.called) for text in found.texts)
            values[option.name] = parsed if option.many else parsed[0]
    settings = Settings(**values)
    if settings.controller_cmd and settings.controller_image:
        raise UsageError("--controller-cmd and --controller-image were both given; name one controller")
    if settings.controller_cmd and settings.controller_network:
        raise UsageError("--controller-network is about --controller-image: a command runs on this machine; leave it out")
    return settings
