"""The fixture of every scenario's test: it has each plan of a family run for each sample, or says why there is none."""

import textwrap

import pytest

pytest_plugins = ["pytester"]

CONFTEST = """
    import pytest

    from staleproof.assess.trial.result import Result
    from staleproof.core.history.history import Header, History
    from staleproof.core.operator.observed import Observed
    from staleproof.plugin.outcome import begun

    RAN = []

    @pytest.fixture(scope="session")
    def observed():
        manifests = [{"apiVersion": "v1", "kind": "W", "metadata": {"name": name}} for name in ("first", "second")]
        return [Observed(each, "widgets", (), (), seconds={"rest": 0.0}) for each in manifests]

    @pytest.fixture(scope="session")
    def staleproof_run_plan(pytestconfig):
        def run(plan, claim="", shrinks=False):
            RAN.append(plan.title)
            folder = begun(pytestconfig).folder / "trials" / plan.title
            return Result(plan.title, plan, History(Header(plan=plan, namespace="x"), ()), (), folder, 1.0)

        return run
"""
TESTS = """
    from conftest import RAN
    from staleproof.core.plan.step import Rest
    from staleproof.core.plan.plan import Plan
    from staleproof.draw.family import Family

    def plan(title, hold):
        return Plan(scenario="restart", title=title, steps=(Rest(seconds=hold),))

    def drawn(observed, profile):
        return (plan(f"{observed.sample['metadata']['name']}-{hold:g}", hold) for hold in profile.some(profile.holds))

    def test_every_plan_of_every_sample(run_family):
        results = run_family(Family("restart", "kills", drawn))
        print("results", [result.name for result in results])
        print("ran", RAN)

    def test_again(run_family):
        RAN.clear()
        for _ in range(2):
            run_family(Family("restart", "kills", drawn))
        print("ran again", len(RAN))

    def test_none(run_family):
        run_family(Family("restart", "past", lambda observed, profile: ()))
"""


@pytest.mark.parametrize(
    ("options", "holds"),
    [((), (2, 6, 12)), (("--staleproof-profile=smoke",), (2,)), (("--staleproof-profile=slow",), (310,))],
)
def test_every_plan_is_run_for_every_sample_and_the_longest_first(
    options: tuple[str, ...], holds: tuple[int, ...], pytester: pytest.Pytester
) -> None:
    pytester.makeconftest(textwrap.dedent(CONFTEST))
    pytester.makepyfile(textwrap.dedent(TESTS))
    done = pytester.runpytest("-rsP", *options)

    done.assert_outcomes(passed=2, skipped=1)
    results = [f"{sample}-{hold}" for sample in ("first", "second") for hold in holds]
    ran = [f"{sample}-{hold}" for hold in reversed(holds) for sample in ("first", "second")]
    assert f"results {results}" in done.outlines
    assert f"ran {ran}" in done.outlines
    assert f"ran again {2 * len(ran)}" in done.outlines
    skipped = "*restart, past: without faults the controller gives no occasion for these plans, or profile * leaves them out"
    done.stdout.fnmatch_lines([skipped])
