"""The fixture of every scenario's test: it runs each plan of a family for each sample, or says why there is none."""

import textwrap

import pytest

pytest_plugins = ["pytester"]

CONFTEST = """
    import pytest

    class Passed:
        failures = ()

    @pytest.fixture
    def ran():
        return []

    @pytest.fixture(scope="session")
    def observed():
        return ["first", "second"]

    @pytest.fixture
    def trial(ran):
        def run(plan):
            ran.append(plan)
            return Passed()

        return run
"""
TESTS = """
    from staleproof.draw.family import Family

    def plans(observed, profile):
        for hold in profile.some(profile.holds):
            yield observed, hold

    def test_every_plan_of_every_sample(run_family, ran):
        assert len(run_family(Family("restart", "kills", plans))) == len(ran)
        print("ran", ran)

    def test_none(run_family):
        run_family(Family("restart", "past", lambda observed, profile: ()))
"""


@pytest.mark.parametrize(
    ("options", "holds"),
    [((), (2.0, 6.0, 12.0)), (("--staleproof-profile=smoke",), (2.0,)), (("--staleproof-profile=slow",), (310.0,))],
)
def test_every_plan_is_run_for_every_sample(options: tuple[str, ...], holds: tuple[float, ...], pytester: pytest.Pytester) -> None:
    pytester.makeconftest(textwrap.dedent(CONFTEST))
    pytester.makepyfile(textwrap.dedent(TESTS))
    done = pytester.runpytest("-rsP", *options)

    done.assert_outcomes(passed=1, skipped=1)
    done.stdout.fnmatch_lines(
        [f"ran {[(sample, hold) for sample in ('first', 'second') for hold in holds]}".replace("[", "[[]", 1)]
    )
    skipped = "*restart, past: without faults the controller gives no occasion for these plans, or profile * leaves them out"
    done.stdout.fnmatch_lines([skipped])
