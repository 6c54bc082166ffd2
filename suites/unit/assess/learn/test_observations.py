"""What a controller was observed to do is known in a later run: of the same controller, sample and manifests, with the same
mutations."""

from dataclasses import replace
from pathlib import Path

from staleproof.assess.learn.observations import Role, keep, keep_roles, recall, recall_roles
from staleproof.core.plan.plan import Subject
from staleproof.draw.mutations.allowed import Mutations

from ...draw.seen import sample, widgets

CONTROLLER, OTHER = Subject(command=("./bin/manager",)), Subject(command=("./bin/other",))
CRDS = ({"kind": "CustomResourceDefinition"},)
SEEN = replace(widgets(), manifests=CRDS)


def test_it_is_known_again(tmp_path: Path) -> None:
    keep(tmp_path, CONTROLLER, SEEN, Mutations())
    assert recall(tmp_path, CONTROLLER, SEEN.sample, list(CRDS), Mutations()) == SEEN


def test_of_another_controller_sample_or_manifest_nothing_is_known(tmp_path: Path) -> None:
    keep(tmp_path, CONTROLLER, SEEN, Mutations())
    assert recall(tmp_path, OTHER, SEEN.sample, CRDS, Mutations()) is None
    assert recall(tmp_path, CONTROLLER, sample(9), CRDS, Mutations()) is None
    assert recall(tmp_path, CONTROLLER, SEEN.sample, (), Mutations()) is None
    assert recall(tmp_path, CONTROLLER, SEEN.sample, CRDS, Mutations(forbid=("spec.content",))) is None


def test_what_it_needs_is_part_of_what_was_seen(tmp_path: Path) -> None:
    needy = replace(SEEN, before=({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}},))
    keep(tmp_path, CONTROLLER, needy, Mutations())
    assert recall(tmp_path, CONTROLLER, SEEN.sample, CRDS, Mutations()) is None
    assert recall(tmp_path, CONTROLLER, SEEN.sample, CRDS, Mutations(), needy.before) == needy


def test_what_samples_turned_out_to_be_is_known_again(tmp_path: Path) -> None:
    roles: list[Role] = ["primary", "left out", "before"]
    keep_roles(tmp_path, CONTROLLER, ("a", "b", "c"), roles)
    assert recall_roles(tmp_path, CONTROLLER, ("a", "b", "c")) == roles
    assert recall_roles(tmp_path, CONTROLLER, ("a", "b")) is None
    assert recall_roles(tmp_path, OTHER, ("a", "b", "c")) is None


def test_what_is_damaged_is_not_known(tmp_path: Path) -> None:
    keep(tmp_path, CONTROLLER, SEEN, Mutations())
    (file,) = (tmp_path / "observed").iterdir()
    file.write_text("{")
    assert recall(tmp_path, CONTROLLER, SEEN.sample, CRDS, Mutations()) is None
