"""Which plans are wanted: by id, by name, by what failed in the run before."""

import pytest

from staleproof.assess.run.queue import Planned
from staleproof.assess.run.selection import Selection
from staleproof.assess.store.crashes import crash_id
from staleproof.core.plan.fingerprint import fingerprint
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Rest
from staleproof.errors import UsageError


def planned(number: int) -> Planned:
    return Planned(Plan(scenario="streams", title=f"streams: hold pods {number} s", steps=(Rest(seconds=number),)), 1.0, "w", 1.0)


PLANNED = [planned(number) for number in range(14)]
PLANS = [each.plan for each in PLANNED]


@pytest.mark.parametrize("text", [fingerprint(PLANS[1]), crash_id(PLANS[1]), "streams: hold pods 1 s", f"{PLANS[1].title}"])
def test_a_plan_has_an_id_and_a_name(text: str) -> None:
    assert Selection((text,)).of("test", PLANNED) == [PLANNED[1]]


def test_without_a_name_all_are_wanted() -> None:
    assert Selection().of("test", PLANNED) == PLANNED


def test_of_a_test_with_plans_that_failed_these_are_wanted() -> None:
    failed = {"a": [fingerprint(PLANS[3])], "b": ["gone"]}
    wanted = Selection(failed=lambda test: failed.get(test, []))
    assert [wanted.of(test, PLANNED[:5]) for test in "abc"] == [PLANNED[3:4], PLANNED[:5], PLANNED[:5]]


def test_both_ways_at_once() -> None:
    wanted = Selection((PLANS[2].title,), failed=lambda _: [fingerprint(PLANS[3])])
    assert wanted.of("test", PLANNED[:5]) == PLANNED[2:3]


def test_what_fits_nothing_is_refused_with_what_there_is() -> None:
    Selection((PLANS[2].title, fingerprint(PLANS[5]))).check(PLANNED)
    with pytest.raises(UsageError) as refused:
        Selection((PLANS[2].title, "hold pods 12s"), option="--only").check(PLANNED)
    first, *lines, last = str(refused.value).splitlines()
    assert first == "--only: no plan has the id or name 'hold pods 12s'; there are:"
    assert lines[0] == f"  {fingerprint(PLANS[12])}  streams: hold pods 12 s", "the likeliest is shown first"
    assert (len(lines), last) == (10, "  and 4 more, which a dry run shows")


def test_where_there_is_no_plan_at_all_it_says_so() -> None:
    with pytest.raises(UsageError, match="gives no occasion for any plan"):
        Selection(("x",)).check([])
