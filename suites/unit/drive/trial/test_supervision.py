"""How long a controller that exits by itself stays down."""

from staleproof.drive.trial.supervision import supervisor_wait


def test_a_supervisor_waits_longer_each_time() -> None:
    assert [supervisor_wait(exits) for exits in range(1, 8)] == [0.0, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
