"""Which objects of different runs stand for the same thing."""

from staleproof.checks.facts.roles import Named, Names, Role, learn_names, owner_labels, stem_of


def named(*names: str) -> set[Named]:
    return {Named("Widget/w", "pods", name) for name in names}


def roles(names: Names, *called: str, generated: str = "") -> list[str]:
    manifest = {"metadata": {"generateName": generated}}
    return [names.role(Named("Widget/w", "pods", name), manifest).stem for name in called]


def test_a_name_that_every_reference_used_is_a_role_of_its_own() -> None:
    names = learn_names([named("w-0", "w-1", "w-x7"), named("w-0", "w-1", "w-y8")])

    assert roles(names, "w-0", "w-1", "w-2", "w-q9") == ["w-0", "w-1", "w-", "w-"]


def test_generated_names_go_by_what_does_not_change_in_them() -> None:
    names = learn_names([named("w-data-ab12-x", "w-log-cd34-y"), named("w-data-ef56-z", "w-log-0a9b-q")])

    assert roles(names, "w-data-77-r", "w-log-88-s", "w-other-99-t", "zzz") == ["w-data-", "w-log-", "w-", ""]


def test_generate_name_tells_unless_it_was_generated_itself() -> None:
    names = learn_names([named("w-x1-a", "w-x1-b"), named("w-y2-c", "w-y2-d")])

    assert roles(names, "w-z3-e", generated="w-z3-") == ["w-"]
    assert roles(names, "w-z3-e", generated="w-") == ["w-"]


def test_without_references_names_are_cut_at_their_last_dash() -> None:
    assert roles(learn_names([]), "w-a-b", "plain") == ["w-a-", "plain"]
    assert roles(Names(), "w-a-b", generated="w-") == ["w-"]
    assert stem_of("w-x7k2q") == "w-"


def test_owners_are_called_by_name_if_the_user_named_them_and_by_descent_otherwise() -> None:
    def obj(kind: str, name: str, uid: str, *owner: str) -> dict[str, object]:
        references = [{"kind": "x", "name": "x", "uid": uid, "controller": True} for uid in owner]
        return {"kind": kind, "metadata": {"name": name, "uid": uid, "ownerReferences": references}}

    labels = owner_labels(
        [
            obj("Deployment", "w", "1"),
            obj("ReplicaSet", "w-x7", "2", "1"),
            obj("Pod", "w-x7-a", "3", "2"),
            obj("Deployment", "w", "4"),
            obj("Pod", "lost", "5", "99"),
            obj("Loop", "a", "6", "7"),
            obj("Loop", "b", "7", "6"),
        ]
    )

    assert labels["1"] == "Deployment/w"
    assert labels["2"] == "ReplicaSet of Deployment/w"
    assert labels["3"] == "Pod of ReplicaSet of Deployment/w"
    assert labels["4"] == "Deployment/w#2"
    assert labels["5"] == "Pod of x that is gone"
    assert labels["6"] == "Loop of Loop of Loop/a"


def test_a_role_is_a_value() -> None:
    assert Role("Widget/w", "pods", "w-") == Role(*Named("Widget/w", "pods", "w-"))
