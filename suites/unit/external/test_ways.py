"""The table of what each way costs."""

from ...external.ways import Cost, Repair, Way, table

WAY = Way("inline poll", "inline_poll", 2.0)


def test_a_row_has_calls_of_each_object_in_a_minute_and_how_long_repairs_took() -> None:
    repairs = tuple(Repair(seconds, seconds / 2) for seconds in (1.0, 4.0, 2.0))
    row = table([Cost(WAY, objects=10, calls=50, quiet_seconds=10.0, repairs=repairs)]).splitlines()[-1]
    assert row == "| inline poll | 2 s | 30.0 | 2.00, 4.00 | 1.00, 2.00 |"


def test_a_measurement_that_was_interrupted_has_no_repairs() -> None:
    row = table([Cost(WAY, objects=1, calls=0, quiet_seconds=1.0, repairs=())]).splitlines()[-1]
    assert row == "| inline poll | 2 s | 0.0 | - | - |"
