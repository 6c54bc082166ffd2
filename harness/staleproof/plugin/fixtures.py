"""Fixtures. Those for configuration can be overridden in a conftest.py; the others start the real things when first asked for.

Nothing heavy is imported until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from staleproof.plugin.options import profile_of, settings_of

if TYPE_CHECKING:
    from staleproof.assess.run.families import Families
    from staleproof.assess.run.queue import Queue
    from staleproof.assess.trial.result import Result
    from staleproof.assess.trial.session import Session
    from staleproof.core.operator.installation import Installation
    from staleproof.core.operator.observed import Observed
    from staleproof.core.operator.prerequisite import Documents
    from staleproof.core.plan.manifest import Manifest
    from staleproof.core.plan.plan import Plan, Subject
    from staleproof.draw.family import Family
    from staleproof.drive.cluster.control_plane import ControlPlane, ControlPlaneOptions


@contextmanager
def plain_errors(*left: type[Exception]) -> Iterator[None]:
    """Report wrong input and failed surroundings in their own words, without a traceback through staleproof.

    Any other error that comes out of staleproof is a bug of staleproof, and must not pass for a finding. `left`: what the
    caller deals with.
    """
    from staleproof.assess.run.blame import known
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
    (`staleproof.core.operator.installation.read_installation`)."""
    from staleproof.assess.configuration import installation_of

    with plain_errors():
        return installation_of(settings_of(pytestconfig))


@pytest.fixture(scope="session")
def controller_spec(pytestconfig: pytest.Config, controller_installation: Installation | None) -> Subject:
    """The controller under test. Override to name another than the command line does."""
    from staleproof.assess.configuration import subject_of
    from staleproof.errors import UsageError

    with plain_errors():
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

    with plain_errors():
        return read_crds(settings_of(pytestconfig).crds)


@pytest.fixture(scope="session")
def staleproof_documents(
    pytestconfig: pytest.Config, controller_crds: list[Manifest], controller_installation: Installation | None
) -> Documents:
    """What is in the files of samples and prerequisites: primaries, what they need, and CustomResourceDefinitions; with these, what
    installs the controller."""
    from staleproof.assess.configuration import documents_of
    from staleproof.plugin.options import flag_of

    with plain_errors():
        return documents_of(settings_of(pytestconfig), controller_crds, controller_installation, flag_of)


@pytest.fixture(scope="session")
def controller_samples(pytestconfig: pytest.Config, staleproof_documents: Documents) -> list[Manifest]:
    """Primaries. Override to give them in code."""
    from staleproof.errors import UsageError

    with plain_errors():
        if not staleproof_documents.primaries:
            given = ", ".join(map(str, settings_of(pytestconfig).samples))
            lacks = f"; there is none in {given}" if given else ""
            raise UsageError(
                f"no primary to work with{lacks}: give manifests with --staleproof-samples, or override the fixture "
                "controller_samples"
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

    from staleproof.assess.configuration import session_options
    from staleproof.assess.trial.session import Session
    from staleproof.plugin import signals
    from staleproof.plugin.families import SESSION
    from staleproof.plugin.first_build import progress_of
    from staleproof.plugin.outcome import begun, ends

    signals.watch(pytestconfig)
    xdist = getattr(pytestconfig, "workerinput", {})
    worker = xdist.get("workerid", "")
    with plain_errors():
        outcomes = begun(pytestconfig)  # a conftest.py, and no option, may name the controller
        options = session_options(settings_of(pytestconfig), controller_spec, staleproof_documents.definitions, controller_before)
    secret = xdist.get("testrunuid", "")
    options = replace(options, control_plane=control_plane_config, worker=worker, run_secret=secret, ends=ends(pytestconfig))
    with ExitStack() as stack:
        capture: Any = pytestconfig.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled() if capture else nullcontext(), plain_errors():
            progress = stack.enter_context(progress_of(pytestconfig))
            session = Session(options, progress, folder=outcomes.folder, tell=outcomes.tell)
            session.__enter__()
        pytestconfig.stash[SESSION] = session
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
    from staleproof.assess.learn.samples import Samples
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

        with plain_errors():
            return recalled(settings.dir, request.getfixturevalue("controller_spec"), samples, mutations_of(settings))
    staleproof_session: Session = request.getfixturevalue("staleproof_session")
    try:
        with plain_errors(OutOfTime):
            return begun(pytestconfig).observed(staleproof_session, samples).observed
    except OutOfTime as err:
        pytest.skip(str(err))


@pytest.fixture(scope="session")
def staleproof_run_plan(pytestconfig: pytest.Config, request: pytest.FixtureRequest) -> Callable[..., Result]:
    """Run a plan, judge it, keep everything and report it, whichever test it is for. What has a new finding may be shrunk first."""
    from staleproof.plugin.outcome import begun

    def run(plan: Plan, claim: str = "", *, shrinks: bool = False) -> Result:
        if settings_of(pytestconfig).dry_run:
            pytest.skip("dry run: no trial is run")
        session: Session = request.getfixturevalue("staleproof_session")
        return begun(pytestconfig).trial(session, plan, claim=claim, shrinks=shrinks)

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

    from staleproof.assess.run.queue import Came, Left
    from staleproof.core.plan.fingerprint import fingerprint
    from staleproof.draw.strategies import observe_with
    from staleproof.errors import OutOfTime
    from staleproof.plugin.fail import add_properties
    from staleproof.plugin.outcome import begun

    observe_with(lambda: request.getfixturevalue("observed"))
    known: dict[str, Result] = {}

    def run(plan: Plan) -> Result:
        is_drawn, name = currently_in_test_context(), fingerprint(plan)
        if is_drawn and name in known:
            return known[name]
        try:
            with plain_errors(OutOfTime):
                result: Result = staleproof_run_plan(plan, shrinks=is_drawn)
        except OutOfTime as err:
            begun(pytestconfig).leave_out(Came(left_out=[Left(plan)]))
            pytest.skip(str(err))
        add_properties(result, request.node)
        known[name] = result
        return result

    return run


@pytest.fixture(scope="session")
def staleproof_families(observed: list[Observed], pytestconfig: pytest.Config, request: pytest.FixtureRequest) -> Families:
    """The plans of families for this controller."""
    from staleproof.assess.run.families import Families
    from staleproof.assess.store.claims import Claims
    from staleproof.plugin.outcome import begun

    return Families(
        observed,
        profile_of(pytestconfig),
        Claims(begun(pytestconfig).folder),
        settings_of(pytestconfig).dir,
        lambda: request.getfixturevalue("controller_spec"),
    )


@pytest.fixture(scope="session")
def staleproof_queue(
    staleproof_families: Families,
    staleproof_run_plan: Callable[..., Result],
    pytestconfig: pytest.Config,
    request: pytest.FixtureRequest,
) -> Iterator[Queue]:
    """Has the plans of families run by whichever worker has time."""
    from staleproof.assess.run.notes import Note
    from staleproof.assess.run.queue import Queue
    from staleproof.assess.run.selection import Selection
    from staleproof.assess.run.standing import ahead
    from staleproof.assess.store.claims import Claims
    from staleproof.plugin.families import QUEUE, SESSION, families_of, plan_ended
    from staleproof.plugin.outcome import begun, ends
    from staleproof.plugin.plan_reports import reports_of

    notes, reports = begun(pytestconfig), reports_of(pytestconfig)
    made = Queue(
        claims=Claims(notes.folder),
        plans=staleproof_families.plans,
        run=staleproof_run_plan,
        note=partial(notes.add_error, is_bug=True),
        ends=ends(pytestconfig),
        baseline=notes.baseline,
        selection=Selection(notes.settings.only, reports.failed),
        shares_plans=bool(notes.worker),
        stops=lambda: reports.stops,
        unmade=lambda plan: pytestconfig.stash[SESSION].references.unmade(plan) if SESSION in pytestconfig.stash else 0.0,
        assist=lambda: SESSION in pytestconfig.stash and pytestconfig.stash[SESSION].wanted.make_one(),
        unfinished=lambda seconds: notes.note(Note(unfinished_seconds=seconds)),
        helped=lambda seconds: notes.note(Note(helping_seconds=seconds)),
        ended=plan_ended(reports, notes.baseline),
    )
    with plain_errors():
        families = families_of(request.session.items)
        made.check(families.values())
    notes.note(ahead(plan for test, family in families.items() for plan in made.selected(test, family)))
    pytestconfig.stash[QUEUE] = made
    yield made
    del pytestconfig.stash[QUEUE]


@pytest.fixture
def run_family(
    staleproof_queue: Queue, staleproof_families: Families, pytestconfig: pytest.Config, request: pytest.FixtureRequest
) -> Callable[[Family], list[Result]]:
    """Run every plan of a family, for every sample, as thoroughly as `--staleproof-profile` says; report each as it ends, and fail
    if one has a finding.

    Skips when the family has no plan for this controller, or none that is selected, or the run ends before its plans do.
    """
    from staleproof.assess.store.known_findings import is_new
    from staleproof.core.wording import plural, some
    from staleproof.plugin.fail import add_properties
    from staleproof.plugin.families import families_like, why_none
    from staleproof.plugin.outcome import begun
    from staleproof.plugin.plan_reports import FAILED_PLANS

    notes, test = begun(pytestconfig), request.node

    def run(family: Family) -> list[Result]:
        if notes.settings.dry_run:
            from staleproof.plugin.dry_run import note

            note(test, staleproof_queue.selected(test.nodeid, family))
        with plain_errors():
            came = staleproof_queue.results(test.nodeid, family, lambda: families_like(test))
        notes.leave_out(came)
        staleproof_families.note(family, came.results, notes.baseline)
        for result in came.results:
            add_properties(result, test)
        failed = [result.plan.title for result in came.results if is_new(result, notes.baseline)]
        if failed:
            found = f"{len(failed)} of {plural(len(came.results), 'plan')} failed: {some(failed, 3)}"
            test.user_properties.append((FAILED_PLANS, str(len(failed))))
            pytest.fail(found, pytrace=False)
        if not came.results or came.stopped:
            pytest.skip(f"{family.scenario}, {family.name}: {why_none(came, notes.settings)}")
        return list(came.results)

    return run
