"""What `staleproof doctor` says of an operator, decided from what was seen of it: small checks, each with its fix.

Nothing is started or waited for here (`assess.doctor.doctor`), and nothing is judged: a check only says whether a run could judge.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from staleproof.checks.facts.complaints import complaints
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import WORKLOAD, Answered, Asked, Broke, Entry, Exited, Opened, Refused, Settled
from staleproof.core.history.request import BOOKKEEPING
from staleproof.core.operator.prerequisite import lacking
from staleproof.core.plan.manifest import Manifest
from staleproof.errors import SetupError, UsageError

Outcome = Literal["ok", "warning", "failed", "not asked"]
REACHABLE, WATCHES, RECONCILES, RESTARTS = "reachable", "watches", "reconciles", "restarts"
RBAC, WEBHOOKS, METRICS = "RBAC", "webhooks", "metrics"
_KILLED = 128 + 9
_TOLD, _MOST_LINES = 3, 8
_NEEDS = "is the sample complete? What it needs is given beside it, or with --before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What came of one question.

    Attributes:
        told: what was found.
        fix: what to do about it; empty when there is nothing to do.
        log: how the controller's log ends, where that may tell more.
        code: the exit code of a command that finds this; 0 unless it failed.
        is_open: there was no time for it.
    """

    name: str
    outcome: Outcome
    told: str
    fix: str = ""
    log: tuple[str, ...] = ()
    code: int = 0
    is_open: bool = False


def _ok(name: str, told: str) -> Check:
    return Check(name=name, outcome="ok", told=told)


def _failed(name: str, told: str, fix: str, *, code: int = SetupError.exit_code, log: Sequence[str] = ()) -> Check:
    return Check(name=name, outcome="failed", told=told, fix=fix, code=code, log=tuple(log[-_MOST_LINES:]))


def _warns(name: str, told: str, fix: str) -> Check:
    return Check(name=name, outcome="warning", told=told, fix=fix)


def not_asked(name: str, told: str, fix: str = "") -> Check:
    return Check(name=name, outcome="not asked", told=told, fix=fix)


def no_time(name: str, seconds: float) -> Check:
    """It had not come to an end when the time was over."""
    fix = "ask with fewer samples, or look into the log of the controller for what it waits for"
    return Check(name=name, outcome="not asked", told=f"the {seconds:.0f} s of the doctor were over", fix=fix, is_open=True)


@dataclass(slots=True)
class Sightings:
    """What was seen of the controller since its present life, or the first attempt at it, began: a fold over entries."""

    asked: int = 0
    refused: str = ""
    watched: set[str] = field(default_factory=set)

    def see(self, entry: Entry) -> None:
        match entry:
            case Asked():
                self.asked += 1
            case Opened(resource=resource):
                self.asked += 1
                if resource not in BOOKKEEPING:
                    self.watched.add(resource)
            case Answered(code=code) if code >= 400:
                self.refused = f"{code} {entry.reason}".rstrip()
            case Refused(code=code):
                self.asked += 1
                self.refused = f"{code} to its watch of {entry.resource}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """How a life of the controller began.

    Attributes:
        seen: of it.
        seconds: until it was at rest, or nobody waited any more.
        error: why it did not begin well; None when it did.
        is_started: there was a process, or a container, at all.
        exit_code: with which it exited by itself; None if it did not.
        log: how its log ends.
        is_image: it runs in a container.
    """

    seen: Sightings
    seconds: float
    error: Exception | None = None
    is_started: bool = True
    exit_code: int | None = None
    log: tuple[str, ...] = ()
    is_image: bool = False


def reachable(began: Beginning) -> Check:
    """Whether it runs, and comes to the API server through the proxy."""
    seen, took = began.seen, f"{began.seconds:.1f} s"
    if began.error is None:
        return _ok(REACHABLE, f"it runs, asked the API server {_times(seen.asked)} through the proxy, and was at rest after {took}")
    if not began.is_started:
        return _failed(REACHABLE, _sentence(began.error), "see that the command or the image can be started by hand")
    if began.exit_code is not None:
        fix = "its log says why; what it needs is given with --controller-args, --controller-env, --crds or --controller-manifests"
        asked = f", having asked the API server {_times(seen.asked)}" if seen.asked else ""
        return _failed(
            REACHABLE, f"it exits by itself, with code {began.exit_code}{asked}", fix, code=_code(began.error), log=began.log
        )
    if seen.asked:
        return _ok(REACHABLE, f"it runs, and asked the API server {_times(seen.asked)} through the proxy")
    fix = "let it use the kubeconfig that it is given: KUBECONFIG, or {kubeconfig} in its command"
    if began.is_image:
        fix = "let it use what a pod finds (in-cluster configuration), or KUBECONFIG, or {kubeconfig} in --controller-args"
    return _failed(REACHABLE, f"it runs, and asked for nothing through the proxy in {took}", fix, log=began.log)


def watches(began: Beginning, wanted: Collection[str]) -> Check:
    """Whether it opened watches. `wanted`: the resources of the samples."""
    seen = began.seen
    if not seen.watched:
        because = f"; the last refusal was {seen.refused}" if seen.refused else ""
        told = f"it opened no watch within {began.seconds:.0f} s{because}"
        if isinstance(began.error, UsageError):
            return _failed(WATCHES, told, f"mend its rights: {RBAC}, below", code=UsageError.exit_code)
        fix = "are the CustomResourceDefinitions that it waits for given (--crds), and no leader election in its way?"
        return _failed(WATCHES, told, fix, log=began.log)
    told = ", ".join(sorted(seen.watched))
    if wanted and not set(wanted) & seen.watched:
        fix = "is it the controller of these samples? Does it watch other namespaces only, or wait for something?"
        return _warns(WATCHES, f"it watches {told}, and not {', '.join(sorted(wanted))}", fix)
    return _ok(WATCHES, told)


def refused_sample(name: str, error: Exception) -> Check:
    """The sample could not be applied."""
    fix = "give its CustomResourceDefinition (--crds) and what it needs (--before), or change it until `kubectl apply` takes it"
    return _failed(f"{RECONCILES} {name}", _sentence(error), fix, code=_code(error))


def unserved_sample(name: str) -> Check:
    """The sample could not be applied, because a webhook does not answer."""
    return _failed(
        f"{RECONCILES} {name}", "it cannot be applied, because a webhook does not answer", f"mend that: {WEBHOOKS}, below"
    )


def reconciles(trial: Trial, sample: Manifest, before: Sequence[Manifest], resource: str, log: Sequence[str]) -> Check:
    """What it does for a sample when nothing else happens."""
    name = f"{sample['kind']}/{sample['metadata']['name']}"
    check = f"{RECONCILES} {name}"
    if trial.first(Exited) is not None:
        (_, died), *_ = trial.every(Exited)
        return _failed(check, f"it exited with code {died.code} over it", "its log says why", log=died.log or log)
    done = Counter((request.asked.verb, _resource(request.asked)) for request in trial.work if request.succeeded)
    said = complaints(trial, resource, sample["metadata"]["name"])[:_TOLD]
    if not done:
        return _failed(
            check,
            "; ".join(_nothing(trial, sample, before, said)),
            f"is it the controller of this kind, and {_NEEDS}",
            code=UsageError.exit_code,
            log=log,
        )
    told = f"{', '.join(_did(*what, times) for what, times in sorted(done.items()))}; {_rest(trial)}"
    if said:
        return _warns(check, f"{told}; it says: {'; '.join(said)}", f"{_NEEDS}; --companions=auto lets its pods become ready")
    if not _is_settled(trial):
        return _warns(check, told, "nothing, if it polls; a run waits for it in each step, and takes longer")
    return _ok(check, told)


def _nothing(trial: Trial, sample: Manifest, before: Sequence[Manifest], said: Sequence[str]) -> Iterator[str]:
    """Why it can have done nothing."""
    seconds = trial.entries[-1].at
    refused = [each.answer for each in trial.work if isinstance(each.answer, Answered)]
    if refused:
        yield f"all of its {len(refused)} writes were refused, at last with {refused[-1].code} {refused[-1].reason}".rstrip()
    else:
        yield f"it did nothing within {seconds:.0f} s"
    if said:
        yield f"it says: {'; '.join(said)}"
    if missing := [f"{each.kind}/{each.name} ({each.path})" for each in lacking(sample, before)]:
        yield f"what the sample mentions is not there: {', '.join(dict.fromkeys(missing))}"


def restarts(stop_seconds: float, code: int | None, again: Beginning, first: Collection[str]) -> Check:
    """Whether it stops when it is told to, and begins again as it did. `first`: what its first life watched."""
    stopped = f"it stopped within {stop_seconds:.1f} s of TERM"
    if again.error is not None:
        return _failed(RESTARTS, f"{stopped} and did not come back: {_sentence(again.error)}", "its log says why", log=again.log)
    if lost := sorted(set(first) - again.seen.watched):
        fix = "does its dead life hold a Lease, or a file that a new one waits for?"
        return _warns(RESTARTS, f"{stopped}, came back, and does not watch {', '.join(lost)} any more", fix)
    back = f"its next life was at rest after {again.seconds:.1f} s"
    if code == _KILLED:
        fix = "let it end at TERM, as a pod must; a run kills it anyway, and each gentle restart takes this long"
        return _warns(RESTARTS, f"it did not stop at TERM and was killed after {stop_seconds:.0f} s; {back}", fix)
    return _ok(RESTARTS, f"{stopped} (exit code {code}); {back}")


def rights(account: str, refused: str, *, works: bool, is_users_cluster: bool) -> Check:
    """What it asked for and may not do. `account`: whose rights it has; empty: it may do everything."""
    if is_users_cluster:
        return not_asked(RBAC, "it has the rights of --kubeconfig")
    if not account:
        fix = "--controller-manifests=config/default gives its ServiceAccount and Roles"
        return not_asked(RBAC, "no Roles are known, so it may do everything", fix)
    if not refused:
        return _ok(RBAC, f"as {account} it may do what it asked for")
    fix = "add this to its Role, or see that it is bound to it"
    if works:
        return _warns(RBAC, f"as {account} it {refused}", fix)
    return _failed(RBAC, f"as {account} it {refused}", fix, code=UsageError.exit_code)


def webhooks(calls: str, trouble: str, *, has_some: bool, is_users_cluster: bool) -> Check:
    """Whether the API server comes through to its webhooks. `calls`: in words; `trouble`: why a sample could not pass one."""
    if has_some and is_users_cluster:
        return not_asked(WEBHOOKS, "a cluster of your own cannot reach them")
    if trouble:
        fix = "serve them on {webhook_port} with tls.crt and tls.key of {webhook_cert_dir} (docs/installation.md)"
        return _failed(WEBHOOKS, trouble, fix)
    if not has_some:
        return not_asked(WEBHOOKS, "none are known", "--controller-manifests gives its webhook configurations, if it has some")
    if not calls:
        return _warns(WEBHOOKS, "the API server called none of them", "give a sample that their rules match")
    return _ok(WEBHOOKS, f"called: {calls}")


def metrics(url: str, trouble: str, port: int) -> Check:
    """Whether there are metrics at the URL. `trouble`: why there are none; `port`: what {metrics_port} stood for."""
    if not url:
        fix = "--controller-metrics=http://127.0.0.1:{metrics_port}/metrics, with {metrics_port} in its command, too"
        return not_asked(METRICS, "no URL is given, so nothing is known of its skipped syncs", fix)
    if trouble:
        fix = f"does it serve them there? {{metrics_port}} ({port} now) stands for a free port, in the URL and in its command"
        return _failed(METRICS, f"none at {url}: {trouble}", fix)
    return _ok(METRICS, url)


def exit_code(checks: Sequence[Check]) -> int:
    """That of the first that failed; 10 if nothing failed and something could not be asked for want of time."""
    failed = next((each.code for each in checks if each.outcome == "failed"), 0)
    return failed or (10 if any(each.is_open for each in checks) else 0)


def _is_settled(trial: Trial) -> bool:
    return all(entry.ok for _, entry in trial.every(Settled))


def _rest(trial: Trial) -> str:
    if not _is_settled(trial):
        return f"still not at rest after {trial.entries[-1].at:.0f} s"
    return f"at rest after {max((trial.at(commit.index) for commit in trial.commits), default=0.0):.1f} s"


def broke(trial: Trial) -> str:
    """Why the sample could not be applied, though nothing is wrong with it: a webhook does not answer. Empty when it could."""
    return next((entry.why for _, entry in trial.every(Broke) if entry.where == WORKLOAD), "")


def _resource(asked: Asked) -> str:
    return f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource


def _did(verb: str, resource: str, times: int) -> str:
    return f"{verb} {resource}{f' ×{times}' if times > 1 else ''}"  # noqa: RUF001  # a sign on purpose


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _sentence(error: Exception | None) -> str:
    """What it says, without the log behind it."""
    return str(error).partition("\n")[0]


def _code(error: Exception | None) -> int:
    return UsageError.exit_code if isinstance(error, UsageError) else SetupError.exit_code
