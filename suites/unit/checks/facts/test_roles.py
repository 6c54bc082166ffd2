"""Which objects of different runs stand for the same thing."""

import pytest

from staleproof.checks.facts.roles import Named, Names, learn_names, owner_labels, stem_of


def named(*names: str) -> set[Named]:
    return {Named("Widget/w", "pods", name) for name in names}


STABLE = learn_names([named("w-0", "w-1", "w-x7"), named("w-0", "w-1", "w-y8")])
GENERATED = learn_names([named("w-data-ab12-x", "w-log-cd34-y"), named("w-data-ef56-z", "w-log-0a9b-q")])
NESTED = learn_names([named("w-x1-a", "w-x1-b"), named("w-y2-c", "w-y2-d")])


@pytest.mark.parametrize(
    ("names", "called", "generated", "stems"),
    [
        (STABLE, ["w-0", "w-1", "w-2", "w-q9"], "", ["w-0", "w-1", "w-", "w-"]),
        (GENERATED, ["w-data-77-r", "w-log-88-s", "w-other-99-t", "zzz"], "", ["w-data-", "w-log-", "w-", ""]),
        (NESTED, ["w-z3-e"], "w-z3-", ["w-"]),
        (NESTED, ["w-z3-e"], "w-", ["w-"]),
        (learn_names([]), ["w-a-b", "plain"], "", ["w-a-", "plain"]),
        (Names(), ["w-a-b"], "w-", ["w-"]),
    ],
    ids=[
        "a name that every reference used is a role of its own",
        "generated names go by what does not change in them",
        "generateName was generated itself",
        "generateName tells",
        "without references names are cut at their last dash",
        "unless generateName tells",
    ],
)
def test_roles(names: Names, called: list[str], generated: str, stems: list[str]) -> None:
    manifest = {"metadata": {"generateName": generated}}

    assert [names.role(Named("Widget/w", "pods", name), manifest).stem for name in called] == stems


def test_a_stem_is_a_name_without_its_last_segment() -> None:
    assert stem_of("w-x7k2q") == "w-"


def test_owners_are_called_by_name_if_the_user_named_them_and_by_descent_otherwise() -> None:
    def obj(kind: str, name: str, uid: str, *owner: str) -> dict[str, object]:
        references = [{"kind": "x", "name": "x", "uid": uid, "controller": True} for uid in owner]
        return {"kind": kind, "metadata": {"name": name, "uid": uid, "ownerReferences": references}}

    objects = [
        obj("Deployment", "w", "1"),
        obj("ReplicaSet", "w-x7", "2", "1"),
        obj("Pod", "w-x7-a", "3", "2"),
        obj("Deployment", "w", "4"),
        obj("Pod", "lost", "5", "99"),
        obj("Loop", "a", "6", "7"),
        obj("Loop", "b", "7", "6"),
    ]

    assert owner_labels(objects) == {
        "1": "Deployment/w",
        "2": "ReplicaSet of Deployment/w",
        "3": "Pod of ReplicaSet of Deployment/w",
        "4": "Deployment/w#2",
        "5": "Pod of x that is not in the trial",
        "6": "Loop of Loop of Loop/a",
        "7": "Loop of Loop/a",
    }
