"""Which fault acts on which call."""

from staleproof.core.engine.call_faults import CallFaults
from staleproof.core.external import CallFault, NotificationFault, faults_problem

CUT = CallFault(effect="cut", mentions="w-a", count=2)
LATE = CallFault(effect="delay", seconds=1.0)
LOST = NotificationFault(effect="lose", count=1)


def test_the_first_that_concerns_a_call_acts_as_often_as_it_says() -> None:
    faults = CallFaults([LOST, CUT, LATE])
    calls = [["SELECT $1", "w-a"], ["SELECT 1"], ["DROP ROLE w-a"], ["DROP ROLE w-a"]]
    assert [faults.on_call("SELECT", texts) for texts in calls] == [CUT, LATE, CUT, LATE]
    assert [faults.on_notification(["x"]), faults.on_notification(["x"])] == [LOST, None]


def test_only_calls_that_change_something_count_where_it_says_so() -> None:
    second = CallFault(effect="stall", changes=True, nth=2, count=1)
    faults = CallFaults([second])
    verbs = ["SELECT", "CREATE", "BEGIN", "GRANT", "DROP"]
    assert [faults.on_call(verb, ["x"]) for verb in verbs] == [None, None, None, second, None]


def test_a_fault_of_a_plan_goes_on_counting_when_others_come_and_go() -> None:
    first = CallFault(effect="reject", changes=True, count=1, of=0)
    faults = CallFaults([first])
    assert faults.on_call("CREATE", ["x"]) == first
    more = CallFaults([first, LATE], faults)
    assert more.on_call("CREATE", ["x"]) == LATE
    assert CallFaults([first]).on_call("CREATE", ["x"]) == first


def test_a_fault_of_a_plan_about_notifications_begins_where_it_says_and_goes_on_counting() -> None:
    second = NotificationFault(effect="repeat", nth=2, count=1, of=1)
    faults = CallFaults([second])
    assert faults.on_notification(["x"]) is None
    more = CallFaults([second, LATE], faults)
    assert [more.on_notification(["x"]), more.on_notification(["x"])] == [second, None]


def test_without_faults_none_acts() -> None:
    assert CallFaults().on_call("SELECT", ["x"]) is None


def test_only_a_delay_has_seconds_and_it_must_have_them() -> None:
    assert faults_problem([CUT, LATE, LOST]) == ""
    assert faults_problem([CallFault(effect="delay")]) == "delay: a delay needs seconds"
    assert faults_problem([NotificationFault(effect="lose", seconds=1.0)]) == "lose: only a delay has seconds"
