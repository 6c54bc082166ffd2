"""When something that drifted is repaired."""

import pytest

from staleproof.core.external import Change, Create, Delete, Drift, ExternalObject
from staleproof.core.repair import left_by


def role(name: str = "a", **fields: object) -> ExternalObject:
    return ExternalObject(kind="roles", name=name, fields=fields)


BEFORE = [role(login=True, limit=1), role("b")]


@pytest.mark.parametrize(
    ("drift", "after", "found", "is_repaired"),
    [
        (Delete(kind="roles", name="a"), [], [], False),
        (Delete(kind="roles", name="a"), [], [role("b")], False),
        (Delete(kind="roles", name="a"), [], [role()], True),
        (Change(kind="roles", name="a", fields={"login": False}), [role(login=False, limit=1)], [role(login=False)], False),
        (Change(kind="roles", name="a", fields={"login": False}), [role(login=False, limit=1)], [role(login=True)], True),
        (Change(kind="roles", name="a", fields={"login": False}), [role(login=False, limit=1)], [], False),
        (  # a password is there as a digest, which is not what it was changed to
            Change(kind="roles", name="a", fields={"password": "x"}),
            [role(password="digest of x")],
            [role(password="digest of y")],
            True,
        ),
        (
            Change(kind="roles", name="a", fields={"login": False, "limit": 2}),
            [role(login=False, limit=2)],
            [role(login=True, limit=2)],
            False,
        ),
        (Create(object=role()), [role(login=False, limit=1)], [role(login=False, limit=1)], False),
        (Create(object=role()), [role(login=False, limit=1)], [role(login=True, limit=1)], True),
        (Create(object=role()), [role(login=True, limit=1)], [role(login=True, limit=1)], True),  # as it was before
    ],
)
def test_what_drifted_is_repaired_once_nothing_is_as_the_drift_left_it(
    drift: Drift, after: list[ExternalObject], found: list[ExternalObject], *, is_repaired: bool
) -> None:
    assert left_by(drift, BEFORE, after).is_repaired(found) is is_repaired
