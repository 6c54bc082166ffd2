"""What `staleproof doctor` says of an operator's work, decided from what was seen of it: its samples, rights, webhooks and metrics.

Nothing is started or waited for here (`assess.doctor.doctor`), and nothing is judged: a check only says whether a run could judge.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from staleproof.assess.doctor.beginning import causes, code_of, in_words, sentence
from staleproof.assess.doctor.check import METRICS, RBAC, RECONCILES, WEBHOOKS, Check, failed, not_asked, passed, warns
from staleproof.assess.doctor.controller_log import standing_error
from staleproof.checks.facts.complaints import complaints
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import WORKLOAD, Answered, Broke, Exited, Settled
from staleproof.core.operator.prerequisite import lacking
from staleproof.core.plan.manifest import Manifest
from staleproof.drive.subject.webhooks import Calls, calls_text
from staleproof.drive.trial.workload import Refused
from staleproof.errors import UsageError

_MOST_COMPLAINTS = 3
_NEEDS = "is the sample complete? What it needs is given beside it, or with --before"


def refused_sample(name: str, error: Exception) -> Check:
    """The sample could not be applied."""
    fix = "change it until `kubectl apply` takes it, and give what it needs with --before" if isinstance(error, Refused) else ""
    return failed(f"{RECONCILES} {name}", sentence(error), fix, code=code_of(error))


def unserved_sample(name: str) -> Check:
    """The sample could not be applied, because a webhook does not answer."""
    return failed(
        f"{RECONCILES} {name}", "it cannot be applied, because a webhook does not answer", f"mend that: {WEBHOOKS}, below"
    )


@dataclass(frozen=True, slots=True)
class Companions:
    """What a real cluster would have for what the controller created, and the doctor did not run.

    `a_run_has`: a run starts them by itself.
    """

    lacking: tuple[str, ...] = ()
    a_run_has: bool = False

    @property
    def advice(self) -> str:
        """Empty where nothing is lacking."""
        names = ", ".join(self.lacking)
        if not names:
            return ""
        if self.a_run_has:
            return f"; a run starts {names} for what it creates, and the doctor does not: what waits for pods may be well there"
        return f"; --companions=auto starts {names} for what it creates, so that its pods become ready"


_ENOUGH = Companions()


def reconciles(
    trial: Trial,
    sample: Manifest,
    before: Sequence[Manifest],
    resource: str,
    log: Sequence[str],
    companions: Companions = _ENOUGH,
) -> Check:
    """What it does for a sample when nothing else happens. `log`: what it wrote meanwhile."""
    check = f"{RECONCILES} {sample['kind']}/{sample['metadata']['name']}"
    if exits := [entry for _, entry in trial.every(Exited)]:
        found = f"it exited with code {exits[0].code} over it"
        found += f", and again, {len(exits)} times" if len(exits) > 1 else ""
        written = exits[-1].log or log
        return failed(check, *in_words(found, causes(written, is_up=False), "its log says why"), log=written)
    wrote = (request.asked for request in trial.work if request.succeeded)
    done = Counter((each.verb, "/".join(filter(None, (each.resource, each.subresource)))) for each in wrote)
    said = complaints(trial, resource, sample["metadata"]["name"])[:_MOST_COMPLAINTS]
    if not done:
        found = "; ".join(_nothing(trial, sample, before, said))
        fix = f"is it the controller of this kind, and {_NEEDS}"
        return failed(check, *in_words(found, causes(log, is_up=True), fix), code=UsageError.exit_code, log=log)
    did = [f"{verb} {of}{f' ×{times}' if times > 1 else ''}" for (verb, of), times in sorted(done.items())]  # noqa: RUF001  # a sign on purpose
    summary = f"{', '.join(did)}; {_rest(trial)}"
    error = standing_error(log, is_kept_from_work={each.partition("/")[0] for _, each in done} == {resource})
    if error is not None:
        line, times = error
        found = f"{summary}; its log has {f'{times} times the' if times > 1 else 'this'} error below"
        return warns(check, *in_words(found, causes([line], is_up=True), _NEEDS + companions.advice), log=[line])
    if said:
        return warns(check, f"{summary}; it says: {'; '.join(said)}", _NEEDS + companions.advice)
    if not _is_settled(trial):
        return warns(check, summary, "nothing, if it polls; a run waits for it in each step, and takes longer")
    return passed(check, summary)


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


def rights(account: str, refused: str, *, works: bool, has_worked: bool, is_users_cluster: bool) -> Check:
    """What it asked for and may not do. `account`: whose rights it has; empty: it may do everything. `works`: nothing failed;
    `has_worked`: it did something for a sample."""
    if is_users_cluster:
        return not_asked(RBAC, "it has the rights of --kubeconfig")
    if not account:
        fix = (
            "if there are manifests that install it, give them with --controller-manifests: they have its ServiceAccount and Roles"
        )
        return not_asked(RBAC, "no Roles are known, so it may do everything", fix)
    if not refused and not has_worked:
        return not_asked(RBAC, f"as {account} it was refused nothing, and did nothing for a sample that takes a right")
    if not refused:
        return passed(RBAC, f"as {account} it may do what it asked for")
    fix = "add this to its Role, or see that it is bound to it"
    if works:
        return warns(RBAC, f"as {account} it {refused}", fix)
    return failed(RBAC, f"as {account} it {refused}", fix, code=UsageError.exit_code)


def webhooks(calls: Mapping[str, Calls], trouble: str, *, has_some: bool, is_users_cluster: bool) -> Check:
    """Whether the API server comes through to its webhooks. `trouble`: why a sample could not pass one."""
    if has_some and is_users_cluster:
        return not_asked(WEBHOOKS, "a cluster of your own cannot reach them")
    fix = "serve them on {webhook_port} with tls.crt and tls.key of {webhook_cert_dir} (docs/installation.md)"
    if trouble:
        return failed(WEBHOOKS, trouble, fix)
    if not has_some:
        return not_asked(WEBHOOKS, "none are known", "--controller-manifests gives its webhook configurations, if it has some")
    if not calls:
        return warns(WEBHOOKS, "the API server called none of them", "give a sample that their rules match")
    if undecided := {name: each for name, each in calls.items() if each.times == each.undecided}:
        return failed(WEBHOOKS, f"no call of these brought a decision: {calls_text(undecided)}", fix)
    if refusing := {name: each for name, each in calls.items() if each.times == each.rejected}:
        found = f"called, and nothing passed: {calls_text(refusing)}"
        return warns(WEBHOOKS, found, "give a sample that they accept; what they say stands where a sample was refused")
    return passed(WEBHOOKS, f"called: {calls_text(calls)}")


def metrics(url: str, trouble: str, port: int) -> Check:
    """Whether there are metrics at the URL. `trouble`: why there are none; `port`: what {metrics_port} stood for."""
    if not url:
        fix = "--controller-metrics=http://127.0.0.1:{metrics_port}/metrics, with {metrics_port} in its command, too"
        return not_asked(METRICS, "no URL is given, so nothing is known of its skipped syncs", fix)
    if trouble:
        fix = f"does it serve them there? {{metrics_port}} ({port} now) stands for a free port, in the URL and in its command"
        return failed(METRICS, f"none at {url}: {trouble}", fix)
    return passed(METRICS, url)


def _is_settled(trial: Trial) -> bool:
    return all(entry.ok for _, entry in trial.every(Settled))


def _rest(trial: Trial) -> str:
    if not _is_settled(trial):
        return f"still not at rest after {trial.entries[-1].at:.0f} s"
    return f"at rest after {max((trial.at(commit.index) for commit in trial.commits), default=0.0):.1f} s"


def broke(trial: Trial) -> str:
    """Why the sample could not be applied, though nothing is wrong with it: a webhook does not answer. Empty when it could."""
    return next((entry.why for _, entry in trial.every(Broke) if entry.where == WORKLOAD), "")
