"""From the user's settings to what a run needs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from staleproof.assess.configuration import (
    documents_of,
    installation_of,
    manifests_of,
    mutations_of,
    options_for,
    samples_of,
    session_options,
    subject_for,
    subject_of,
)
from staleproof.assess.learn.samples import Samples
from staleproof.core.operator.companion import ALWAYS
from staleproof.core.operator.installation import Installation
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import FurtherProgram, Plan, Subject
from staleproof.core.plan.step import Apply
from staleproof.draw.mutations.allowed import Mutations
from staleproof.errors import UsageError
from staleproof.settings import Settings


@pytest.mark.parametrize(
    ("settings", "seconds"),
    [(Settings(), 180.0), (Settings(profile="thorough"), 600.0), (Settings(profile="thorough", patience=5.0), 5.0)],
)
def test_the_patience_is_the_profile_s_unless_it_is_given(settings: Settings, seconds: float) -> None:
    assert session_options(settings, Subject(command=("x",)), ()).patience == seconds


def test_what_may_be_changed_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mutations.yaml"
    file.write_text("forbid: [spec.size]")
    assert mutations_of(Settings(mutations=file)) == Mutations(forbid=("spec.size",))
    assert mutations_of(Settings()) == Mutations()


@pytest.mark.parametrize(
    ("content", "message"), [(None, "cannot read"), (b"\xff", "cannot read"), (b"onyl: []", "did you mean 'only'?")]
)
def test_a_file_that_is_no_such_is_named(content: bytes | None, message: str, tmp_path: Path) -> None:
    file = tmp_path / "mutations.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError) as err:
        mutations_of(Settings(mutations=file))
    assert str(file) in str(err.value)
    assert message in str(err.value)


DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: ns}
spec: {template: {spec: {containers: [{name: manager, args: [--fast], env: [{name: A, value: b}, {name: C, valueFrom: FROM}]}]}}}
---
"""


def deployed(folder: Path, *names: str, source: str = "{fieldRef: {fieldPath: metadata.name}}", **given: object) -> Settings:
    file = folder / "manifests.yaml"
    file.write_text("".join(DEPLOYMENT.replace("NAME", name).replace("FROM", source) for name in names))
    return Settings(controller_manifests=(file,), **given)  # type: ignore[arg-type]  # values of options


def test_the_controller_is_started_as_its_manifests_say(tmp_path: Path) -> None:
    settings = deployed(tmp_path, "a", "b", controller_deployment="b", controller_cmd=("./m",))
    subject = subject_of(settings, installation_of(settings))
    assert subject == Subject(command=("./m",), arguments=("--fast",), declared={"A": "b", "C": "b-0"})


def test_without_manifests_it_is_started_as_the_user_says() -> None:
    settings = Settings(controller_cmd=("./m",), controller_args=("-a",))
    assert installation_of(settings) is None
    assert subject_of(settings, None) == Subject(command=("./m",), arguments=("-a",))


def test_a_controller_that_a_plan_names_stays_as_it_is(tmp_path: Path) -> None:
    settings = deployed(tmp_path, "a", source="{fieldRef: {fieldPath: spec.nodeName}}")
    assert subject_of(settings, installation_of(settings)) == Subject()


def test_manifests_that_lack_something_are_the_users(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Name it with --controller-deployment=a"):
        installation_of(deployed(tmp_path, "a", "b"))
    settings = deployed(tmp_path, "a", source="{secretKeyRef: {name: s, key: k}}", controller_cmd=("./m",))
    with pytest.raises(UsageError, match=r"C \(key k of Secret/s\)"):
        subject_of(settings, installation_of(settings))


def test_a_definition_is_applied_as_it_is_installed() -> None:
    def crd(name: str, group: str) -> dict[str, object]:
        return {"kind": "CustomResourceDefinition", "metadata": {"name": name}, "spec": {"group": group}}

    given, other, installed = crd("d", "given"), crd("e", "given"), crd("d", "installed")
    assert manifests_of([given, other], Installation(container="", image="", manifests=(installed,))) == [other, installed]
    assert manifests_of([given], None) == [given]


def test_samples_of_a_kind_that_the_installation_defines_are_primaries(tmp_path: Path) -> None:
    (tmp_path / "samples.yaml").write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: p}}\n---\n{apiVersion: acme.dev/v1, kind: Widget, metadata: {name: w}}\n"
    )
    crd = {
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "d"},
        "spec": {"group": "acme.dev", "names": {"kind": "Widget"}},
    }
    role = {"kind": "ClusterRole", "metadata": {"name": "r"}}
    installation = Installation(container="", image="", manifests=(crd, role))
    found = documents_of(Settings(samples=(tmp_path / "samples.yaml",)), [], installation, str)
    assert [each["kind"] for each in found.primaries] == ["Widget"]
    assert [each["kind"] for each in found.before] == ["Pod"]
    assert found.definitions == (crd, role)


@pytest.mark.parametrize(
    ("given", "named", "chooses"),
    [
        (("auto",), (), True),
        (("auto", "disruption"), ("disruption",), True),
        (("job", "kwok"), ("job", "kwok"), False),
        ((), (), False),
    ],
)
def test_companions_are_named_or_chosen_or_both(given: tuple[str, ...], named: tuple[str, ...], chooses: bool) -> None:  # noqa: FBT001
    options = session_options(Settings(companions=given), Subject(command=("./manager",)), ())
    assert (options.companions, options.chooses_companions) == (named, chooses)


# --- plans that bring their own ------------------------------------------------------------------------------------------------


WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}


def crd(name: str) -> Manifest:
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name}}


def plan(*manifests: Manifest, controller: Subject | None = None) -> Plan:
    return Plan(scenario="mine", manifests=manifests, steps=(Apply(object=WIDGET),), controller=controller)


def test_a_plan_is_run_again_with_the_companions_that_it_had() -> None:
    run_before = structs.replace(plan(controller=Subject(command=("./m",))), companions=("job", "kwok"))
    assert options_for(Settings(), [run_before], Samples(primaries=())).companions == ("job", "kwok")
    assert not options_for(Settings(), [run_before], Samples(primaries=())).chooses_companions
    alone = structs.replace(run_before, companions=())
    assert options_for(Settings(), [alone], Samples(primaries=())).companions == ()


def test_a_plan_written_by_hand_has_those_of_every_cluster_besides() -> None:
    mine = Settings(controller_cmd=("./m",))
    assert options_for(mine, [plan()], Samples(primaries=())).companions == ALWAYS
    assert options_for(mine, [structs.replace(plan(), companions=("job",))], Samples(primaries=())).companions == (
        *ALWAYS[:1],
        "job",
        "namespace",
    )


def test_a_user_who_names_companions_or_has_a_cluster_gets_no_others(tmp_path: Path) -> None:
    named = Settings(controller_cmd=("./m",), companions=("kwok",))
    assert options_for(named, [plan()], Samples(primaries=())).companions == ("kwok",)
    assert options_for(replace(named, companions=()), [plan()], Samples(primaries=())).companions == ()
    guest = replace(named, companions=("auto",), kubeconfig=tmp_path / "kubeconfig")
    assert options_for(guest, [plan()], Samples(primaries=())).companions == ()


def test_with_samples_a_run_chooses_its_companions() -> None:
    options = options_for(Settings(controller_cmd=("./m",)), [], Samples(primaries=(WIDGET,)))
    assert (options.companions, options.chooses_companions) == ((), True)


DRAWN_FOR = Subject(command=("./m",), arguments=("-q",), env={"A": "b", "C": "f"})
MORE = {"controller_args": ("-v", "2 3"), "controller_env": (("A", "c"), ("B", "d=e"))}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"controller_cmd": ("./bin/manager", "a b")}, Subject(command=("./bin/manager", "a b"))),
        ({"controller_image": "example.com/m:v1"}, Subject(image="example.com/m:v1")),
        ({}, DRAWN_FOR),
        (MORE, structs.replace(DRAWN_FOR, arguments=("-v", "2 3"), env={"A": "c", "B": "d=e", "C": "f"})),
        ({"controller_network": "host"}, structs.replace(DRAWN_FOR, network="host")),
        (MORE | {"controller_cmd": ("./n",)}, Subject(command=("./n",), arguments=("-v", "2 3"), env={"A": "c", "B": "d=e"})),
    ],
)
def test_the_controller_is_the_command_lines_or_else_the_plans(given: dict[str, Any], expected: Subject) -> None:
    """Arguments and variables are added to it, whatever it is."""
    assert subject_for(Settings(**given), [plan(), plan(controller=DRAWN_FOR)]) == expected


def test_the_controller_must_be_named() -> None:
    with pytest.raises(UsageError, match="name the controller under test"):
        subject_for(Settings(), [plan(), plan()])


def test_manifests_of_several_plans_are_applied_once_in_order() -> None:
    plans = [plan(crd("a"), crd("b")), plan(crd("b"), crd("c")), plan()]
    assert samples_of(Settings(), plans, str).manifests == (crd("a"), crd("b"), crd("c"))


POLLER = FurtherProgram(command=("./poller",))


def test_further_programs_stay_with_the_controller_that_is_named_and_go_with_one_of_a_plan() -> None:
    planned = Plan(scenario="x", steps=(), controller=Subject(("./planned",), also=(FurtherProgram(command=("./other",)),)))
    named = Settings(controller_cmd=("./manager",), controller_also=(POLLER,))
    assert subject_for(named, [planned]) == Subject(("./manager",), also=(POLLER,))
    assert subject_for(Settings(), [planned]) == planned.controller
    assert subject_for(Settings(controller_also=(POLLER,)), [planned]).also == (POLLER,)


def test_what_is_wrong_with_further_programs_is_reported_before_anything_starts() -> None:
    twice = Settings(controller_cmd=("./manager",), controller_also=(POLLER, POLLER))
    with pytest.raises(UsageError, match=r"controller-also: 'poller' is there twice; each program needs a name of its own"):
        subject_of(twice, None)
    image = Settings(controller_image="example.com/m", controller_also=(POLLER,))
    with pytest.raises(UsageError, match=r"controller-also: a controller that is an image cannot have further programs yet"):
        subject_of(image, None)
