"""The plans of families for one controller: every sample's, and of drawn ones what failed before comes first."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from staleproof.assess.run.families import Families
from staleproof.assess.store.claims import Claims
from staleproof.assess.trial.result import Result
from staleproof.checks.verdict import Finding, Outcome, Verdict
from staleproof.core.history.history import Header, History
from staleproof.core.operator.observed import Observed
from staleproof.core.plan.plan import Plan, Subject
from staleproof.core.plan.step import Apply, Rest
from staleproof.draw.drawn import is_about
from staleproof.draw.family import Family
from staleproof.draw.profile import STANDARD, Profile
from staleproof.report.baseline import Baseline

CONTROLLER = Subject(command=("./m",))


def sample(name: str) -> dict[str, object]:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}}


def plans(about: Observed, _: Profile) -> Iterator[Plan]:
    for number in range(2):
        yield Plan(
            scenario="x",
            title=f"{about.sample['metadata']['name']}{number}",
            steps=(Apply(object=about.sample), *[Rest(seconds=1.0)] * number),
            controller=CONTROLLER,
        )


CANONICAL, DRAWN = Family("x", "canonical", plans), Family("x", "drawn", plans, drawn=True)


def families(folder: Path, run: str = "1") -> Families:
    observed = [Observed(sample(name), "widgets", (), (), seconds={"rest": 0.0}) for name in ("a", "b")]
    return Families(observed, STANDARD, Claims(folder / run), folder, lambda: CONTROLLER)


def titles(of: Families, family: Family) -> list[str]:
    return [each.plan.title for each in of.plans(family)]


def test_every_sample_has_its_plans(tmp_path: Path) -> None:
    made = families(tmp_path).plans(CANONICAL)
    assert [(each.plan.title, each.primary, each.seconds > 0) for each in made] == [
        ("a0", "widgets/a", False),
        ("a1", "widgets/a", True),
        ("b0", "widgets/b", False),
        ("b1", "widgets/b", True),
    ]


def test_samples_of_one_name_have_drawn_plans_of_their_own(tmp_path: Path) -> None:
    """Of two versions of a kind, as kubebuilder writes samples of both; or in two namespaces."""
    one = sample("a")
    other, away = one | {"apiVersion": "example.com/v2"}, one | {"metadata": {"name": "a", "namespace": "away"}}
    observed = [Observed(each, "widgets", (), (), seconds={"rest": 0.0}) for each in (one, other, away)]
    made = Families(observed, STANDARD, Claims(tmp_path), tmp_path, lambda: CONTROLLER)
    drawn = [each.plan for each in made.plans(DRAWN)]
    assert [plan.steps[0] for plan in drawn] == [Apply(object=each) for each in (one, one, other, other, away, away)]
    assert [[is_about(plan, each) for each in observed] for plan in drawn[::2]] == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]


def test_one_worker_draws_for_all(tmp_path: Path) -> None:
    def nothing(about: Observed, _: Profile) -> Iterator[Plan]:
        return iter(())

    first, second = families(tmp_path), families(tmp_path)
    known, idle = first.plans(DRAWN), Family("x", "drawn", nothing, drawn=True)
    assert second.plans(idle) == known
    second.observed = [replace(each, alone=("configmaps",)) for each in second.observed]
    second._drawn.clear()
    assert second.plans(idle) == [], "what is drawn for another controller is not its own"


def test_plans_are_drawn_once(tmp_path: Path) -> None:
    drawn: list[str] = []

    def counted(about: Observed, profile: Profile) -> Iterator[Plan]:
        drawn.append(about.name)
        return plans(about, profile)

    family = Family("x", "drawn", counted, drawn=True)
    made = families(tmp_path)
    assert titles(made, family) == titles(made, family) == ["a0", "a1", "b0", "b1"]
    assert drawn == ["widgets/a", "widgets/b"]


def test_what_failed_is_drawn_first_in_the_next_run_until_it_passes(tmp_path: Path) -> None:
    first = families(tmp_path)
    last = first.plans(DRAWN)[-1].plan
    guilty = Verdict("settles", Outcome.FAIL, findings=(Finding("it never rests", (), requirement="settles", severity="undone"),))
    found = Result("001", last, History(Header(plan=last, namespace="x"), ()), (guilty,), tmp_path, 1.0)
    first.note(DRAWN, [found], Baseline())
    assert titles(families(tmp_path, "2"), DRAWN) == ["a0", "a1", "b1", "b0"]
    assert titles(families(tmp_path, "2"), CANONICAL) == ["a0", "a1", "b0", "b1"]

    first.note(DRAWN, [replace(found, verdicts=())], Baseline())
    assert titles(families(tmp_path, "3"), DRAWN) == ["a0", "a1", "b0", "b1"]
    assert titles(families(tmp_path, "2"), DRAWN) == ["a0", "a1", "b1", "b0"], "all workers of a run draw the same"
