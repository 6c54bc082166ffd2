"""From the user's settings to what a run needs."""

from pathlib import Path

import pytest

from staleproof.assess.configuration import documents_of, installation_of, manifests_of, mutations_of, session_options, subject_of
from staleproof.core.installation import Installation
from staleproof.core.plan import Subject
from staleproof.draw.mutations import Mutations
from staleproof.errors import UsageError
from staleproof.settings import Settings


def test_what_may_be_changed_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mutations.yaml"
    file.write_text("forbid: [spec.size]")
    assert mutations_of(Settings(mutations=file)) == Mutations(forbid=("spec.size",))
    assert mutations_of(Settings()) == Mutations()


@pytest.mark.parametrize(
    ("content", "told"), [(None, "cannot read"), (b"\xff", "cannot read"), (b"onyl: []", "did you mean 'only'?")]
)
def test_a_file_that_is_no_such_is_named(content: bytes | None, told: str, tmp_path: Path) -> None:
    file = tmp_path / "mutations.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError) as err:
        mutations_of(Settings(mutations=file))
    assert str(file) in str(err.value)
    assert told in str(err.value)


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
    ("asked", "named", "chooses"),
    [
        (("auto",), (), True),
        (("auto", "disruption"), ("disruption",), True),
        (("job", "kwok"), ("job", "kwok"), False),
        ((), (), False),
    ],
)
def test_companions_are_named_or_chosen_or_both(asked: tuple[str, ...], named: tuple[str, ...], chooses: bool) -> None:  # noqa: FBT001
    options = session_options(Settings(companions=asked), Subject(command=("./manager",)), ())
    assert (options.companions, options.chooses_companions) == (named, chooses)
