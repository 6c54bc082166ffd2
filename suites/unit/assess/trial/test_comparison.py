"""What else is asked about a trial that differs from its references, and in which order."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from msgspec import structs

from staleproof.assess.trial.comparison import (
    AGREEING,
    CONTROLS,
    differs,
    fresh,
    hasty,
    questions,
    waited_in_vain,
    without_faults,
)
from staleproof.checks.verdict import Outcome, Verdict
from staleproof.core.fault import AnyFault, HideOwnWrite, HoldStream, Restart, Window
from staleproof.core.history.history import History, HistoryRole
from staleproof.core.plan.but_for import final_only, woken
from staleproof.core.plan.pace import lasted
from staleproof.core.plan.plan import Plan
from staleproof.core.plan.step import Apply, Together

from ...checks.script import HOLD, SEVER, WIDGETS, Script, reference

HIDDEN = HideOwnWrite(resource="configmaps")


def pair(script: Script) -> History:
    return script.pair().idle(1).step(2, "touch").applied("w").creates("w-2").idle(2).ends()


def idle(script: Script) -> History:
    """It ceases to work in the second step."""
    return script.pair().idle(1).step(2, "touch").applied("w").idle(2).ends()


class Asked:
    """Answers with histories of what it is asked for, and keeps the questions. `works`: what a woken controller does; `calm`: what
    one does in any other run."""

    def __init__(self, works: object = pair, calm: object = pair) -> None:
        self.plans: list[tuple[Plan, HistoryRole, int, Sequence[float]]] = []
        self._works, self._calm = works, calm

    def __call__(self, plan: Plan, role: HistoryRole, times: int = 1, *, lasts: Sequence[float] = ()) -> tuple[History, ...]:
        self.plans.append((plan, role, times, lasts))
        assert callable(self._works)
        return tuple(self._made(plan, role, number) for number in range(times))

    def _made(self, plan: Plan, role: HistoryRole, number: int) -> History:
        script = reference(3 + number, role)
        script.plan = plan
        assert callable(self._works)
        assert callable(self._calm)
        found = self._works(script) if role == "woken" else self._calm(script)
        assert isinstance(found, History)
        return found


def compared(faults: Sequence[AnyFault], asks: Asked) -> History:
    """The trial with all references that it is compared with in the end."""
    script = Script(*faults)
    history = replace(pair(script), references=(pair(reference(1)), pair(reference(2))))
    for question in questions(asks, script.plan):
        history = replace(history, references=question(history))
    return history


def ending(*more: str, stuck: bool = False) -> History:
    """A trial that ends with these pods beside those that its references end with."""
    script = Script(HOLD).pair().idle(1).step(2, "touch").applied("w").creates("w-2", *more).idle(2)
    return replace((script.stuck() if stuck else script).ends(), references=(pair(reference(1)), pair(reference(2))))


def test_a_plan_that_wakes_it_is_asked_about_woken_as_well() -> None:
    asks = Asked()
    found = compared([Restart(window=Window(2))], asks)
    plan = found.header.plan
    roles = [(role, times) for _, role, times, _ in asks.plans]
    assert roles == [("paced", 1), ("woken", 1), ("woken", 1), ("final", 1)]
    assert [each.header.role for each in found.references] == ["reference", "reference", "paced", "woken", "woken", "final"]
    assert len(found.references) == AGREEING
    assert [plan for plan, role, *_ in asks.plans if role == "woken"] == [woken(plan)] * 2
    assert asks.plans[-1][0] == final_only(plan)
    assert all(plan.fresh for plan, *_ in asks.plans), "the controller may still suffer from the trial"


def test_other_plans_are_asked_about_until_enough_ends_are_there() -> None:
    asks = Asked()
    found = compared([HoldStream(resource="pods")], asks)
    assert [(role, times) for _, role, times, _ in asks.plans] == [("paced", 1), ("final", 1), ("reference", 2)]
    assert len(found.references) == AGREEING


def test_of_a_sweep_one_short_run_is_asked_for() -> None:
    """What is suspected in it is run alone, and then compared with the rest."""
    asks, history = Asked(), ending("w-3")
    appear, patch, *rest = history.header.plan.steps
    assert isinstance(appear, Apply)
    steps = (Together(steps=(appear, another(appear))), patch, *rest)
    sweep = structs.replace(history.header.plan, scenario="sweep", steps=steps, faults=(Restart(window=Window(2)),))
    first, *others = questions(asks, sweep)
    assert first(history) == history.references
    for question in others:
        question(history)
    assert [(plan, role, times) for plan, role, times, _ in asks.plans] == [(final_only(sweep), "final", 1)]


def another(appear: Apply) -> Apply:
    return Apply(object=appear.object | {"metadata": {"name": "v"}})


def test_what_is_unstable_by_now_is_left_out_before_any_run_is_asked_for() -> None:
    asks, history = Asked(), ending("w-3")
    assert next(questions(asks, history.header.plan))(history) == history.references
    assert asks.plans == []


def test_for_a_rate_more_runs_without_faults_are_asked_for_and_none_twice() -> None:
    asks = Asked()
    history = compared([HoldStream(resource="pods")], asks)
    more = without_faults(asks, history.header.plan, history, CONTROLS)
    (*_, (plan, role, times, _)) = asks.plans
    assert (plan, role, times) == (fresh(history.header.plan), "reference", 8), "two of them have been asked for before"
    history = replace(history, references=tuple(replace(each, digest=str(n)) for n, each in enumerate(more)))
    assert without_faults(asks, history.header.plan, history, len(more)) == history.references


def test_a_woken_run_lasts_as_long_as_the_trial_did_step_by_step() -> None:
    asks = Asked()
    took = lasted(compared([Restart(window=Window(2))], asks))
    paced, own, lasts, _ = (lasts for *_, lasts in asks.plans)
    first, second, settling = paced
    assert tuple(lasts) == (first, 0.0, second, settling), "in the lull nothing is waited for"
    assert all(least <= seconds <= 2 * max(least, 0.25) for least, seconds in zip(took, paced, strict=True)), (
        "rounded up, so that trials that last about as long share it, and to no more than twice as long"
    )
    assert all((seconds * 16).is_integer() for seconds in paced)
    assert own == ()


def test_all_that_may_be_asked_for_is_announced_at_once() -> None:
    history, announced = compared([Restart(window=Window(2))], Asked()), list[tuple[HistoryRole, bool]]()

    def announce(plan: Plan, role: HistoryRole, times: int = 1, *, lasts: Sequence[float] = ()) -> tuple[History, ...]:
        announced.append((role, bool(lasts)))
        return ()

    for question in questions(announce, history.header.plan):
        question(history)
    assert announced[:3] == [("paced", True), ("woken", False), ("woken", True)]


def test_one_that_ceases_to_work_without_any_fault_is_an_excuse() -> None:
    def calm(script: Script) -> History:
        return idle(script) if script.plan.fresh else pair(script)

    found = compared([Restart(window=Window(2))], Asked(calm=calm))
    assert [each.header.role for each in found.references].count("paced") == 1


@pytest.mark.parametrize(
    ("slug", "role", "is_hasty"),
    [("honest-status", "reference", True), ("honest-status", "paced", False), ("quiet-at-rest", "reference", False)],
    ids=["an end", "one was as slow", "no end"],
)
def test_an_unscored_finding_about_an_end_is_hasty_unless_a_run_took_as_long(
    slug: str, role: HistoryRole, *, is_hasty: bool
) -> None:
    history = replace(ending("w-3"), references=(pair(reference(1)), pair(reference(2, role))))
    finding = Verdict(slug, Outcome.FAIL)
    assert hasty(history, [finding]) == ([finding] if is_hasty else [])
    assert hasty(history, [Verdict(slug, Outcome.PASS), Verdict("survives-restart", Outcome.FAIL)]) == []


def test_a_controller_that_ceased_to_work_is_no_excuse() -> None:
    asks = Asked(idle)
    found = compared([Restart(window=Window(2))], asks)
    assert [role for _, role, *_ in asks.plans].count("woken") == 1, "nor is it asked again"
    assert [each.header.role for each in found.references].count("woken") == 0
    assert len(found.references) == AGREEING, "others take its place"


def test_a_run_that_was_disturbed_is_left_out() -> None:
    def stuck(script: Script) -> History:
        return script.pair().step(2, "touch").applied("w").creates("w-2").stuck().ends()

    found = compared([Restart(window=Window(2))], Asked(stuck))
    assert [each.header.role for each in found.references].count("woken") == 0


@pytest.mark.parametrize(
    ("slugs", "expected"),
    [([], False), (["settles"], False), (["converges-after-catch-up"], True), (["settles", "cleans-up"], True)],
)
def test_of_findings_only_what_was_compared_is_asked_about(slugs: list[str], *, expected: bool) -> None:
    assert differs(ending(), [Verdict(slug, Outcome.FAIL) for slug in slugs]) is expected


@pytest.mark.parametrize(
    ("history", "outcome", "expected"),
    [
        (ending("w-3", stuck=True), Outcome.INCONCLUSIVE, True),
        (ending("w-3", stuck=True), Outcome.PASS, False),
        (ending(), Outcome.INCONCLUSIVE, False),
        (replace(ending("w-3", stuck=True), references=()), Outcome.INCONCLUSIVE, False),
    ],
    ids=["another end", "another end that does not matter", "a doubt about something else", "nothing to compare with"],
)
def test_a_doubt_about_another_end_is_asked_about_as_well(history: History, outcome: Outcome, *, expected: bool) -> None:
    assert differs(history, [Verdict("survives-restart", outcome)]) is expected


def looking_again(history: History) -> History:
    """The same, of a plan after which everything is reconciled once more."""
    plan = history.header.plan
    plan = structs.replace(plan, settle=structs.replace(plan.settle, resync=True))
    return replace(history, header=structs.replace(history.header, plan=plan))


def test_what_was_never_reconciled_again_because_of_another_end_is_asked_about() -> None:
    passed = [Verdict("survives-restart", Outcome.PASS)]
    assert differs(looking_again(ending("w-3", stuck=True)), passed)
    assert not differs(looking_again(ending("w-3")), passed)


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (looking_again(ending(stuck=True)), True),
        (looking_again(ending("w-3", stuck=True)), False),
        (looking_again(ending()), False),
        (ending(stuck=True), False),
    ],
    ids=["as fault-free runs end by now", "another end", "it settled", "nothing was to be reconciled again"],
)
def test_a_trial_waits_in_vain_for_one_of_several_right_ends(history: History, *, expected: bool) -> None:
    assert waited_in_vain(history) is expected


def cut_and_hidden(*references: History) -> History:
    """A watch was lost, and something else was done, too; it ends with a pod too few."""
    script = Script(SEVER, HIDDEN).opens().ended(WIDGETS, "reset").watches(WIDGETS).fires(1).pair(1).stuck()
    return replace(script.ends(), references=references)


def hidden_only(number: int, pods: int) -> History:
    script = Script(HIDDEN, namespace=f"ref-{number}", role="ablated").fires(0).pair(pods)
    return replace((script if pods == 2 else script.stuck()).ends(), digest=str(number))


@pytest.mark.parametrize(("ends", "counts"), [((2, 2), [2]), ((1, 1), [2]), ((2, 1, 2, 2, 2, 2), [2, 6])], ids=str)
def test_where_another_fault_fired_too_runs_with_that_alone_are_asked_for(ends: tuple[int, ...], counts: list[int]) -> None:
    """Twice; six times if they do not say the same. They are not let off by having less time."""
    plans: list[tuple[Plan, int, float]] = []

    def asks(plan: Plan, role: HistoryRole, times: int = 1, *, lasts: Sequence[float] = ()) -> tuple[History, ...]:
        if role != "ablated":
            return ()
        plans.append((plan, times, lasts[-1]))
        return tuple(hidden_only(3 + number, pods) for number, pods in enumerate(ends[:times]))

    history = cut_and_hidden(*(replace(each.pair().ends(), digest=each.namespace) for each in (reference(1), reference(2))))
    for question in questions(asks, history.header.plan):
        history = replace(history, references=question(history))
    assert [times for _, times, _ in plans] == counts
    assert {plan.faults for plan, *_ in plans} == {(HIDDEN,)}
    assert all(settling >= lasted(history)[-1] > 0 for *_, settling in plans)
    assert [each.header.role for each in history.references].count("ablated") == counts[-1]
    assert [each.header.role for each in history.harmless] == ["reference", "reference"]
