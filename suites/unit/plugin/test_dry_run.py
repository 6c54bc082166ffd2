"""A dry run: the plans that would be run, from what an earlier run observed; nothing is started and nothing is left behind."""

import textwrap

import pytest

pytestmark = pytest.mark.io

pytest_plugins = ["pytester"]

CONFTEST = """
    import pytest

    from staleproof.assess.learn.observations import keep
    from staleproof.core.operator.observed import ChildKind, Observed
    from staleproof.core.plan.plan import Subject
    from staleproof.draw.mutations.allowed import Mutations
    from staleproof.settings import ARTEFACTS

    SAMPLE = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"replicas": 3}}
    CONTROLLER = Subject(command=("./none",))

    def remember():
        children = (ChildKind("pods", 4, 3, stable_names=False),)
        keep(ARTEFACTS, CONTROLLER, Observed(SAMPLE, "widgets.example.com", ("spec", "replicas"), children), Mutations())

    @pytest.fixture(scope="session")
    def controller_spec():
        return CONTROLLER

    @pytest.fixture(scope="session")
    def controller_samples():
        return [SAMPLE]

    @pytest.fixture(scope="session")
    def controller_crds():
        return []
"""
MINE = """
    from staleproof.core.plan.plan import Plan

    def test_mine(trial, observed):
        trial(Plan(scenario="mine", steps=()))
"""


@pytest.fixture
def dry(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest(textwrap.dedent(CONFTEST))
    pytester.makepyfile(textwrap.dedent(MINE))
    return pytester


def known(dry: pytest.Pytester) -> None:
    dry.makeconftest(textwrap.dedent(CONFTEST) + "\nremember()\n")


def run(dry: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return dry.runpytest_subprocess("--controller-cmd=./none", "--staleproof-dry-run", *arguments)


@pytest.mark.parametrize("workers", [(), ("-n1",)])
def test_plans_are_reported_with_digest_and_seconds(workers: tuple[str, ...], dry: pytest.Pytester) -> None:
    known(dry)
    suite = ["--pyargs", "staleproof.suites.conformance", "-k", "own-writes/idempotence or drawn"]
    arguments = (*suite, "--hypothesis-seed=7", f"--confcutdir={dry.path}", f"--rootdir={dry.path}", "-p", "conftest")
    done = run(dry, *arguments, *workers)

    assert done.ret == 0
    lines = [line for line in done.outlines if " own-writes: " in line]
    assert [line.split()[0] for line in lines if "no fault: reconcile everything again" in line]
    assert len([line for line in done.outlines if " s  drawn: " in line]) == 10
    done.stdout.re_match_lines([r"dry run: 11 plans, about \d+\.\d min one after the other; .*"])
    assert [path.name for path in (dry.path / ".staleproof").iterdir()] == ["observed"]


def test_without_an_observation_it_says_what_to_do(dry: pytest.Pytester) -> None:
    done = run(dry, str(next(dry.path.glob("test_*.py"))))
    assert done.ret == 0
    done.stdout.fnmatch_lines(["dry run: no run has watched this controller with Widget/w yet, *: run once without *"])
    assert not (dry.path / ".staleproof").exists()


def test_a_test_of_ones_own_runs_no_trial(dry: pytest.Pytester) -> None:
    known(dry)
    done = run(dry, str(next(dry.path.glob("test_*.py"))), "-rs")
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["*dry run: no trial is run*"])


def test_what_is_wrong_is_misuse_there_too(dry: pytest.Pytester) -> None:
    done = run(dry, str(next(dry.path.glob("test_*.py"))), "--staleproof-before=nosuch")
    assert (done.ret, "nosuch does not exist" in done.stdout.str()) == (4, True), done.stdout.str()
