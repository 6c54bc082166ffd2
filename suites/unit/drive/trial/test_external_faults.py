"""What the relay is given of a plan's faults about external systems."""

from staleproof.core.external import CallFault, NotificationFault
from staleproof.core.fault import LateNotification, LoseNotification, RejectCall, RepeatNotification, SlowCall
from staleproof.core.history.entry import FaultIndex
from staleproof.drive.trial.external_faults import relay_fault


def test_calls_count_that_change_something() -> None:
    assert relay_fault(FaultIndex(2), RejectCall(mentions="w", nth=2, times=None)) == CallFault(
        effect="reject", mentions="w", changes=True, nth=2, of=2
    )
    assert relay_fault(FaultIndex(0), SlowCall(by_seconds=1.0)) == CallFault(
        effect="delay", seconds=1.0, changes=True, count=1, of=0
    )


def test_notifications_are_lost_late_or_come_twice() -> None:
    assert relay_fault(FaultIndex(0), LoseNotification(times=None)) == NotificationFault(effect="lose", of=0)
    assert relay_fault(FaultIndex(1), LateNotification(by_seconds=2.0, mentions="w")) == NotificationFault(
        effect="delay", seconds=2.0, mentions="w", count=1, of=1
    )
    assert relay_fault(FaultIndex(3), RepeatNotification(nth=2)) == NotificationFault(effect="repeat", nth=2, count=1, of=3)
