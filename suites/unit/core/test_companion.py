"""Companions by name: what is accepted, and what is said of what is not."""

import pytest

from staleproof.core.companion import NAMES, CompanionError, companion_names, controllers_flag


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        (" , ", ()),
        ("kwok", ("kwok",)),
        ("garbage-collector,namespace", ("garbage-collector", "namespace")),
        ("garbage-collector-controller, namespace-controller", ("garbage-collector", "namespace")),
        ("job,job-controller,job", ("job",)),
        ("scheduler,kwok", ("scheduler", "kwok")),
    ],
)
def test_names_are_taken_short_or_as_kube_controller_manager_has_them(text: str, expected: tuple[str, ...]) -> None:
    assert companion_names(text) == expected


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_is_its_own(name: str) -> None:
    assert companion_names(name) == (name,)


def test_an_unknown_one_is_refused_with_a_proposal() -> None:
    with pytest.raises(CompanionError, match=r"no companion 'garbagecollector'; did you mean 'garbage-collector'\? There are: "):
        companion_names("kwok,garbagecollector")


def test_nothing_is_proposed_for_what_is_like_nothing() -> None:
    with pytest.raises(CompanionError, match=r"no companion 'xyz'; There are: "):
        companion_names("xyz")


def test_only_kube_controller_managers_go_into_its_flag() -> None:
    assert controllers_flag(("kwok", "job", "scheduler", "namespace")) == "job-controller,namespace-controller"
    assert controllers_flag(("kwok",)) == ""
