"""Fixtures. Those for configuration can be overridden in a conftest.py; the others start the real things when first asked for.

Nothing heavy is imported until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from staleproof.plugin.options import profile_of, settings_of

if TYPE_CHECKING:
    from staleproof.assess import Result, Session
    from staleproof.core.installation import Installation
    from staleproof.core.manifest import Manifest
    from staleproof.core.observed import Observed
    from staleproof.core.plan import Plan, Subject
    from staleproof.core.prerequisite import Documents
    from staleproof.draw.drawn import Covered, Failing
    from staleproof.draw.family import Family
    from staleproof.drive.cluster.control_plane import ControlPlane, ControlPlaneOptions
    from staleproof.plugin.spread import Drawn, Spread


@contextmanager
def told_plainly(*left: type[Exception]) -> Iterator[None]:
    """Report wrong input and failed surroundings in their own words, without a traceback through staleproof.

    Any other error that comes out of staleproof is a bug of staleproof, and nobody must take it for a finding. `left`: what the
    caller deals with.
    """
    from staleproof.assess.blame import known
    from staleproof.errors import REPORT, HarnessBug

    try:
        yield
    except HarnessBug:
        raise
    except Exception as err:
        if isinstance(err, left):
            raise
        blamed = known(err)
        if blamed is None or isinstance(blamed, HarnessBug):
            raise HarnessBug(f"unexpected {type(err).__name__}: {err}; {REPORT}") from err
        raise pytest.fail.Exception(f"staleproof: {blamed}", pytrace=False) from err


@pytest.fixture(scope="session")
def controller_installation(pytestconfig: pytest.Config) -> Installation | None:
    """What the controller's own manifests say of it; None when none are given. Override to give them in code
    (`staleproof.core.installation.read_installation`)."""
    from staleproof.assess.configuration import installation_of

    with told_plainly():
        return installation_of(settings_of(pytestconfig))


@pytest.fixture(scope="session")
def controller_spec(pytestconfig: pytest.Config, controller_installation: Installation | None) -> Subject:
    """The controller under test. Override to name another than the command line does."""
    from staleproof.assess.configuration import subject_of
    from staleproof.errors import UsageError

    with told_plainly():
        subject = subject_of(settings_of(pytestconfig), controller_installation)
        if not subject.command and not subject.image:
            image = f"={controller_installation.image}" if controller_installation is not None else ""
            raise UsageError(
                f"name the controller under test: --controller-cmd, --controller-image{image} or override controller_spec"
            )
        return subject


@pytest.fixture(scope="session")
def control_plane_config(pytestconfig: pytest.Config) -> ControlPlaneOptions:
    """Where the control plane comes from. Override to choose in code."""
    from staleproof.assess.configuration import control_plane_options

    return control_plane_options(settings_of(pytestconfig))


@pytest.fixture(scope="session")
def controller_crds(pytestconfig: pytest.Config) -> list[Manifest]:
    """CustomResourceDefinitions that are applied first. Override to give them in code."""
    from staleproof.drive.cluster.manifests import read_crds

    with told_plainly():
        return read_crds(settings_of(pytestconfig).crds)


@pytest.fixture(scope="session")
def staleproof_documents(
    pytestconfig: pytest.Config, controller_crds: list[Manifest], controller_installation: Installation | None
) -> Documents:
    """What is in the files of samples and prerequisites: primaries, what they need, and CustomResourceDefinitions; with these, what
    installs the controller."""
    from staleproof.assess.configuration import documents_of
    from staleproof.plugin.options import flag_of

    with told_plainly():
        return documents_of(settings_of(pytestconfig), controller_crds, controller_installation, flag_of)


@pytest.fixture(scope="session")
def controller_samples(staleproof_documents: Documents) -> list[Manifest]:
    """Primaries. Override to give them in code."""
    from staleproof.errors import UsageError

    with told_plainly():
        if not staleproof_documents.primaries:
            raise UsageError(
                "no primary to work with: give manifests with --staleproof-samples, or override the fixture controller_samples"
            )
        return list(staleproof_documents.primaries)


@pytest.fixture(scope="session")
def controller_before(staleproof_documents: Documents) -> list[Manifest]:
    """What primaries need, in the order in which it is applied before them. Override to give it in code."""
    return list(staleproof_documents.before)


@pytest.fixture(scope="session")
def staleproof_session(
    pytestconfig: pytest.Config,
    controller_spec: Subject,
    control_plane_config: ControlPlaneOptions,
    staleproof_documents: Documents,
    controller_before: list[Manifest],
) -> Iterator[Session]:
    """Control plane, proxy and controller, started once for each pytest process (each xdist worker)."""
    from dataclasses import replace

    from staleproof.assess import Session
    from staleproof.assess.configuration import session_options
    from staleproof.drive.cluster.control_plane import Silent
    from staleproof.plugin import signals
    from staleproof.plugin.first_build import screen
    from staleproof.plugin.outcome import begun, ends
    from staleproof.progress import progress_on

    signals.watch(pytestconfig)
    xdist = getattr(pytestconfig, "workerinput", {})
    worker = xdist.get("workerid", "")
    with told_plainly():
        outcomes = begun(pytestconfig)  # a conftest.py, and no option, may name the controller
        options = session_options(settings_of(pytestconfig), controller_spec, staleproof_documents.definitions, controller_before)
    secret = xdist.get("testrunuid", "")
    options = replace(options, control_plane=control_plane_config, worker=worker, run_secret=secret, ends=ends(pytestconfig))
    with ExitStack() as stack:
        capture: Any = pytestconfig.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled() if capture else nullcontext(), told_plainly():
            progress = Silent() if worker else progress_on(stack.enter_context(screen(pytestconfig)))
            session = Session(options, progress, folder=outcomes.folder)
            session.__enter__()
        try:
            yield session
        finally:
            session.__exit__(KeyboardInterrupt if signals.is_interrupted(pytestconfig) else None, None, None)


@pytest.fixture(scope="session")
def control_plane(staleproof_session: Session) -> ControlPlane:
    """The running control plane: address, CA, credentials."""
    return staleproof_session.plane


@pytest.fixture(scope="session")
def kubeconfig(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kubeconfig that leads straight to the API server, not through the proxy."""
    path = tmp_path_factory.mktemp("staleproof") / "kubeconfig"
    control_plane.write_kubeconfig(path)
    return path


@pytest.fixture(scope="session")
def observed(controller_samples: list[Manifest], pytestconfig: pytest.Config, request: pytest.FixtureRequest) -> list[Observed]:
    """What the controller does for each sample when nothing is wrong. Samples come first: wrong ones start nothing.

    In a dry run: what it did in an earlier run.
    """
    from staleproof.assess.samples import Samples, observe_all
    from staleproof.errors import OutOfTime
    from staleproof.plugin.outcome import begun

    settings = settings_of(pytestconfig)
    before, documents = map(request.getfixturevalue, ("controller_before", "staleproof_documents"))
    samples = Samples(
        primaries=tuple(controller_samples),
        before=tuple(before),
        manifests=documents.definitions,
        is_said=bool(settings.primary),
    )
    if settings.dry_run:
        from staleproof.assess.configuration import mutations_of
        from staleproof.plugin.dry_run import recalled

        with told_plainly():
            return recalled(settings.dir, request.getfixturevalue("controller_spec"), samples, mutations_of(settings))
    staleproof_session: Session = request.getfixturevalue("staleproof_session")
    try:
        with told_plainly(OutOfTime):
            return observe_all(staleproof_session, samples).observed
    except OutOfTime as err:
        begun(pytestconfig).never_learnt()
        pytest.skip(str(err))


@pytest.fixture(scope="session")
def staleproof_run_plan(pytestconfig: pytest.Config, request: pytest.FixtureRequest) -> Callable[..., Result]:
    """Run a plan, judge it, keep everything and report it, whichever test it is for. What has a new finding may be shrunk first."""
    import time

    from staleproof.assess.baseline import is_new, read_baseline
    from staleproof.assess.once_more import Undoable
    from staleproof.assess.shrinking import shrink
    from staleproof.draw.shrink import is_shrunk
    from staleproof.errors import OutOfTime
    from staleproof.plugin.outcome import begun, ends

    outcomes, seconds = begun(pytestconfig), settings_of(pytestconfig).shrink_seconds
    baseline = read_baseline(settings_of(pytestconfig))

    def run(plan: Plan, claim: str = "", *, shrinks: bool = False) -> Result:
        if settings_of(pytestconfig).dry_run:
            pytest.skip("dry run: no trial is run")
        session: Session = request.getfixturevalue("staleproof_session")
        with told_plainly(OutOfTime, *([Undoable] if claim else [])):
            result = session.trial(plan)
            if shrinks and seconds and not is_shrunk(plan) and is_new(result, baseline):
                result = shrink(session, result, min(time.monotonic() + seconds, ends(pytestconfig)()), baseline)
            if not (claim and result.interrupted):
                outcomes.add(result, session.run, claim=claim)
        return result

    return run


@pytest.fixture
def trial(
    staleproof_run_plan: Callable[..., Result], pytestconfig: pytest.Config, request: pytest.FixtureRequest
) -> Callable[[Plan], Result]:
    """Run a plan, judge it, keep everything. A finding does not raise here: pass the results to `assert_passed`. Skips when the
    minutes of the run are over.

    Under `@given`, what has a finding is shrunk, and the same plan has one result: Hypothesis asks again, and calls it flaky when
    the answer differs.
    """
    from hypothesis import currently_in_test_context

    from staleproof.assess.artefacts import left_out
    from staleproof.core.fingerprint import fingerprint
    from staleproof.draw.strategies import observe_with
    from staleproof.errors import OutOfTime
    from staleproof.plugin.fail import told_to_junit
    from staleproof.plugin.outcome import begun

    observe_with(lambda: request.getfixturevalue("observed"))
    known: dict[str, Result] = {}

    def run(plan: Plan) -> Result:
        is_drawn, name = currently_in_test_context(), fingerprint(plan)
        if is_drawn and name in known:
            return known[name]
        try:
            result: Result = staleproof_run_plan(plan, shrinks=is_drawn)
        except OutOfTime as err:
            begun(pytestconfig).leave_out([left_out(plan)])
            pytest.skip(str(err))
        told_to_junit(result, request.node)
        known[name] = result
        return result

    return run


@pytest.fixture(scope="session")
def staleproof_failing(controller_spec: Subject, pytestconfig: pytest.Config) -> Failing:
    """The drawn plans of this controller that failed in earlier runs."""
    from staleproof.draw.drawn import Failing

    return Failing(settings_of(pytestconfig).dir, controller_spec)


@pytest.fixture(scope="session")
def staleproof_covered(controller_spec: Subject, pytestconfig: pytest.Config) -> Covered:
    """What earlier runs covered of this controller."""
    from staleproof.draw.drawn import Covered

    return Covered(settings_of(pytestconfig).dir, controller_spec)


@pytest.fixture(scope="session")
def staleproof_plans(
    observed: list[Observed], pytestconfig: pytest.Config, request: pytest.FixtureRequest
) -> Callable[[Family], list[Drawn]]:
    """The plans of a family, for every sample, with their expected seconds: the same in every worker. Of those that are drawn, what
    failed comes first, and then what covers something new."""
    from msgspec.structs import replace

    from staleproof.assess.claims import Claims
    from staleproof.draw.drawn import first, is_about
    from staleproof.draw.order import expected_seconds
    from staleproof.plugin.outcome import begun
    from staleproof.plugin.spread import Drawn

    profile = profile_of(pytestconfig)

    def failed(family: Family) -> list[Plan]:
        failing: Failing = request.getfixturevalue("staleproof_failing")
        return Claims(begun(pytestconfig).folder).agreed(f"failing {family}", lambda: failing.plans(family))

    def draw(family: Family) -> list[Drawn]:
        known = failed(family) if family.drawn else []

        def plans(about: Observed) -> Iterable[Plan]:
            made = family.plans(about, profile)
            if not family.drawn:
                return made
            covered: Covered = request.getfixturevalue("staleproof_covered")
            again = (replace(plan, before=about.before) for plan in known if is_about(plan, about))
            return first(again, covered.new_first(made))

        return [Drawn(plan, expected_seconds(plan, each.seconds), each.name) for each in observed for plan in plans(each)]

    return draw


@pytest.fixture(scope="session")
def staleproof_spread(
    staleproof_plans: Callable[[Family], list[Drawn]], staleproof_run_plan: Callable[..., Result], pytestconfig: pytest.Config
) -> Iterator[Spread]:
    """Has the plans of families run by whichever worker has time."""
    from staleproof.assess.baseline import read_baseline
    from staleproof.assess.claims import Claims
    from staleproof.plugin.outcome import begun, ends
    from staleproof.plugin.spread import SPREAD, Spread

    outcomes, baseline = begun(pytestconfig), read_baseline(settings_of(pytestconfig))
    made = Spread(Claims(outcomes.folder), staleproof_plans, staleproof_run_plan, outcomes.note_error, ends(pytestconfig), baseline)
    pytestconfig.stash[SPREAD] = made
    yield made
    del pytestconfig.stash[SPREAD]


@pytest.fixture
def run_family(
    staleproof_spread: Spread,
    staleproof_plans: Callable[[Family], list[Drawn]],
    pytestconfig: pytest.Config,
    request: pytest.FixtureRequest,
) -> Callable[[Family], list[Result]]:
    """Run every plan of a family, for every sample, as thoroughly as `--staleproof-profile` says, and fail with the findings.

    Skips when the family has no plan for this controller, or the minutes of the run are over.
    """
    from staleproof.assess.artefacts import left_out as told
    from staleproof.assess.baseline import is_new, read_baseline
    from staleproof.core.wording import plural
    from staleproof.plugin.fail import assert_passed, told_to_junit
    from staleproof.plugin.outcome import begun

    baseline = read_baseline(settings_of(pytestconfig))

    def run(family: Family) -> list[Result]:
        if settings_of(pytestconfig).dry_run:
            from staleproof.plugin.dry_run import note

            note(request.node, staleproof_plans(family))
        results, left_out, ended = staleproof_spread.results(request.node, family)
        begun(pytestconfig).leave_out([told(each.plan, each.why) for each in left_out], ended)
        for result in results:
            told_to_junit(result, request.node)
            if family.drawn:
                covered: Covered = request.getfixturevalue("staleproof_covered")
                covered.note(result.covered)
            failed = is_new(result, baseline)
            if family.drawn and (failed or result.passed):
                failing: Failing = request.getfixturevalue("staleproof_failing")
                failing.note(family, result.plan, failed=failed)
        if not results:
            profile = settings_of(pytestconfig).profile
            why = f"without faults the controller gives no occasion for these plans, or profile {profile} leaves them out"
            why = f"{plural(len(left_out), 'plan')} left out" if left_out else why
            pytest.skip(f"{family.scenario}, {family.name}: {why}")
        assert_passed(results, baseline)
        return results

    return run
