"""What a drift leaves of a state."""

import pytest

from staleproof.core.external import Change, Create, Delete, Drift, ExternalObject, drifted


def role(name: str, **fields: object) -> ExternalObject:
    return ExternalObject(kind="roles", name=name, fields=fields)


STATE = (role("a", login=True), role("b", login=False))


@pytest.mark.parametrize(
    ("drift", "left"),
    [
        (Create(object=role("aa")), (STATE[0], role("aa"), STATE[1])),
        (
            Change(kind="roles", name="a", fields={"login": False, "superuser": True}),
            (role("a", login=False, superuser=True), STATE[1]),
        ),
        (Change(kind="databases", name="a", fields={"owner": "b"}), STATE),
        (Delete(kind="roles", name="a"), STATE[1:]),
        (Delete(kind="roles", name="c"), STATE),
    ],
)
def test_a_state_drifts(drift: Drift, left: tuple[ExternalObject, ...]) -> None:
    assert drifted(STATE, drift) == left
