"""How a life of the controller began, and what `staleproof doctor` says of that: does it run, watch, stay up, and begin again?

Nothing is started or waited for here (`assess.doctor.doctor`).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from staleproof.assess.doctor.check import (
    PORTS,
    RBAC,
    REACHABLE,
    RESTARTS,
    STAYS_UP,
    WATCHES,
    Check,
    failed,
    not_asked,
    passed,
    warns,
)
from staleproof.assess.doctor.controller_log import is_error, is_harmless
from staleproof.assess.doctor.symptom import Explanation
from staleproof.assess.doctor.symptoms import explained
from staleproof.core.history.entry import Answered, Asked, Entry, Exited, Opened, Refused, RequestId
from staleproof.core.history.request import BOOKKEEPING
from staleproof.errors import SetupError, UsageError

_KILLED = 128 + 9
_REFUSED = 400
_MOST_CAUSES = 3
_LOG_SAYS = "its log says why; what it needs is given with --controller-args, --controller-env, --crds or --controller-manifests"


@dataclass(slots=True)
class Sightings:
    """What was seen of the controller since its present life, or the first attempt at it, began: a fold over entries.

    Attributes:
        news_at: when it last asked for, or watched, what it had not before; at first, when it began.
        answers: how often it was refused what, in words.
    """

    news_at: float = 0.0
    requests: int = 0
    refused: str = ""
    watched: set[str] = field(default_factory=set)
    answers: Counter[str] = field(default_factory=Counter)
    _seen: set[tuple[str, str]] = field(default_factory=set)
    _under_way: dict[RequestId, Asked] = field(default_factory=dict)

    def see(self, entry: Entry) -> None:
        match entry:
            case Asked():
                self._asks(entry.verb, entry.resource, entry.at)
                self._under_way[entry.request] = entry
            case Opened(resource=resource):
                self._asks("watch", resource, entry.at)
                if resource not in BOOKKEEPING:
                    self.watched.add(resource)
            case Answered():
                request = self._under_way.pop(entry.request, None)
                if entry.code >= _REFUSED:
                    self.refused = f"{entry.code} {entry.reason}".rstrip()
                    if request is not None:
                        self._answers(request.verb, request.resource, request.namespace, self.refused)
            case Refused(code=code):
                self._asks("watch", entry.resource, entry.at)
                self._answers("watch", entry.resource, entry.namespace, f"{code} {entry.reason}".rstrip())
                self.refused = f"{code} to its watch of {entry.resource}"

    def _asks(self, verb: str, resource: str, at: float) -> None:
        self.requests += 1
        if (verb, resource) not in self._seen:
            self._seen.add((verb, resource))
            self.news_at = at

    def _answers(self, verb: str, resource: str, namespace: str, refused: str) -> None:
        self.answers[f"{verb} {resource}{f' in {namespace}' if namespace else ''}: {refused}"] += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """How a life of the controller began.

    Attributes:
        seen: of it.
        seconds: until it had asked for all that it asks for by itself, or the time for that was over.
        error: why it did not begin well; None when it did.
        is_started: there was a process, or a container, at all.
        exit_code: with which it exited by itself; None if it did not.
        deaths: the exit codes of lives that came to the API server and exited by themselves soon after, one after the other.
        log: what it wrote meanwhile.
        is_image: it runs in a container.
    """

    seen: Sightings
    seconds: float
    error: Exception | None = None
    is_started: bool = True
    exit_code: int | None = None
    deaths: tuple[int, ...] = ()
    log: tuple[str, ...] = ()
    is_image: bool = False

    @property
    def causes(self) -> list[Explanation]:
        """What its log and the answers to it say about why it does not work. Where it runs, only what it calls an error counts, and
        what it was refused more than once."""
        is_up = self.error is None
        return causes(self.log, [answer for answer, times in self.seen.answers.items() if times > is_up], is_up=is_up)


def causes(log: Iterable[str], answers: Iterable[str] = (), *, is_up: bool) -> list[Explanation]:
    """What lines and answers mean. What a controller that runs does not call an error need not be one."""
    lines = list(log)
    found = explained(filter(is_error, lines)) if is_up else explained(each for each in lines if not is_harmless(each))
    return list(dict.fromkeys((*found, *explained(answers, "answer"))))[:_MOST_CAUSES]


def in_words(found: str, why: Sequence[Explanation], otherwise: str) -> tuple[str, str]:
    """What was found, with the causes; and what to do."""
    words = "; ".join((found, *(each.cause for each in why)))
    return words, "; ".join(dict.fromkeys(each.cure for each in why)) or otherwise


def reachable(began: Beginning) -> Check:
    """Whether it runs, goes on running, and comes to the API server through the proxy."""
    seen, took = began.seen, f"{began.seconds:.1f} s"
    if began.error is None and not began.deaths:
        found = f"it runs, asked the API server {_times(seen.requests)} through the proxy, and was at rest after {took}"
        return passed(REACHABLE, found)
    if began.error is None:
        codes = ", ".join(map(str, began.deaths))
        found = f"it runs, but exited by itself before ({_times(len(began.deaths))}, with code {codes})"
        return warns(REACHABLE, *in_words(found, causes(began.log, is_up=False), _LOG_SAYS), log=began.log)
    if not began.is_started:
        return failed(REACHABLE, sentence(began.error), "see that the command or the image can be started by hand")
    if began.exit_code is not None:
        found = f"it exits by itself, with code {began.exit_code}"
        found += f", {took} after its start, {_times(len(began.deaths))} in a row" if began.deaths else ""
        found += f", having asked the API server {_times(seen.requests)}" if seen.requests else ""
        return failed(REACHABLE, *in_words(found, began.causes, _LOG_SAYS), code=code_of(began.error), log=began.log)
    if seen.watched:  # it is ready itself, so what is not belongs to a further program
        fix = "see that it can be started by hand; its log is in the run folder"
        return failed(REACHABLE, *in_words(sentence(began.error), began.causes, fix), code=code_of(began.error), log=began.log)
    if seen.requests:
        return passed(REACHABLE, f"it runs, and asked the API server {_times(seen.requests)} through the proxy")
    fix = "let it use the kubeconfig that it is given: KUBECONFIG, or {kubeconfig} in its command"
    if began.is_image:
        fix = "let it use what a pod finds (in-cluster configuration), or KUBECONFIG, or {kubeconfig} in --controller-args"
    found = f"it runs, and asked for nothing through the proxy in {took}"
    return failed(REACHABLE, *in_words(found, began.causes, fix), log=began.log)


def watches(began: Beginning, wanted: Collection[str]) -> Check:
    """Whether it opened watches. `wanted`: the resources of the samples."""
    seen, why = began.seen, began.causes
    if not seen.watched:
        because = f"; the last refusal was {seen.refused}" if seen.refused else ""
        found = f"it opened no watch within {began.seconds:.0f} s{because}"
        if isinstance(began.error, UsageError):
            return failed(WATCHES, found, f"mend its rights: {RBAC}, below", code=UsageError.exit_code)
        fix = "are the CustomResourceDefinitions that it waits for given (--crds), and no leader election in its way?"
        return failed(WATCHES, *in_words(found, why, fix), log=began.log)
    found = ", ".join(sorted(seen.watched))
    if wanted and not set(wanted) & seen.watched:
        fix = "is it the controller of these samples? Does it watch other namespaces only, or wait for something?"
        return warns(WATCHES, *in_words(f"it watches {found}, and not {', '.join(sorted(wanted))}", why, fix), log=began.log)
    if why:
        return warns(WATCHES, *in_words(found, why, ""), log=[line for line in began.log if is_error(line)])
    return passed(WATCHES, found)


def restarts(stop_seconds: float, code: int | None, again: Beginning, first: Collection[str]) -> Check:
    """Whether it stops at TERM, and begins again as it did. `first`: what its first life watched by itself."""
    stopped = f"it stopped within {stop_seconds:.1f} s of TERM"
    if again.error is not None:
        found = f"{stopped} and did not come back: {sentence(again.error)}"
        return failed(RESTARTS, *in_words(found, again.causes, "its log says why"), log=again.log)
    if lost := sorted(set(first) - again.seen.watched):
        fix = "does its dead life hold a Lease, or a file that a new one waits for?"
        return warns(RESTARTS, f"{stopped}, came back, and does not watch {', '.join(lost)} any more", fix)
    back = f"its next life was at rest after {again.seconds:.1f} s"
    if code == _KILLED:
        fix = "let it end at TERM, as a pod must; a run kills it anyway, and each gentle restart takes this long"
        return warns(RESTARTS, f"it did not stop at TERM and was killed after {stop_seconds:.0f} s; {back}", fix)
    return passed(RESTARTS, f"{stopped} (exit code {code}); {back}")


def stays_up(exits: Sequence[Exited], seconds: float) -> Check:
    """Whether it exited by itself after it had begun well. `seconds`: since then."""
    if not exits:
        return passed(STAYS_UP, f"it did not exit by itself in {seconds:.0f} s")
    log = exits[-1].log
    found = f"it exited by itself {_times(len(exits))} in {seconds:.0f} s, at last with code {exits[-1].code}"
    return failed(STAYS_UP, *in_words(found, causes(log, is_up=False), _LOG_SAYS), log=log)


def ports(fixed: Collection[int] | None) -> Check:
    """Whether several workers can run it side by side. `fixed`: the ports that it listened on in both of its lives without being
    given them; None: nothing is known of them."""
    if fixed is None:
        return not_asked(PORTS, "its ports are its own, or this system does not tell of them")
    if not fixed:
        return passed(PORTS, "it listens on no port of its own choice, so -n may start several")
    found = f"it always listens on {', '.join(map(str, sorted(fixed)))}: with -n 2 and more the second controller finds that taken"
    fix = (
        "{metrics_port} and {webhook_port} stand for free ports, and 0 turns many off "
        "(--metrics-bind-address=127.0.0.1:{metrics_port} --health-probe-bind-address=0), "
        "in a configuration file that it is given, too; or do without -n"
    )
    return warns(PORTS, found, fix)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def sentence(error: Exception | None) -> str:
    """What it says, without the log behind it."""
    return str(error).partition("\n")[0]


def code_of(error: Exception | None) -> int:
    return UsageError.exit_code if isinstance(error, UsageError) else SetupError.exit_code
