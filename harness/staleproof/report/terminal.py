"""All that a run has to say, for a user who wants it: one table, and what belongs to it. What is not scored (hostile, provisional)
stands apart. Every user sees `report.ending`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from staleproof.checks.catalog import BY_SLUG, is_scored, worst
from staleproof.checks.verdict import Outcome
from staleproof.core.declared import SHARED_SYSTEMS
from staleproof.core.grouping import grouped
from staleproof.core.history.request import not_allowed
from staleproof.core.history.time_breakdown import Spent
from staleproof.core.operator.companion import COMPANIONS_FOR, WITHOUT
from staleproof.core.wording import plural, some
from staleproof.report.baseline import Baseline, excused, new
from staleproof.report.coverage import SUSPECTED, missed, more_minutes, reach, usual_error
from staleproof.report.model import (
    EndedSearch,
    FaultReport,
    LeftOut,
    Report,
    TrialReport,
    exercised,
    findings,
    overall,
    reason,
    refused,
    replay,
    tried,
)

STYLES = {Outcome.PASS: "green", Outcome.FAIL: "bold red", Outcome.INCONCLUSIVE: "yellow", Outcome.NOT_EXERCISED: "cyan"}
_MOST_REASONS, _MOST_NAMES, _MOST_VERBS = 5, 3, 6


def table(report: Report) -> Group:
    """A row for each requirement: its result, how many of the plans that were made for it exercised it, how many trials did, and
    how many of their planned faults fired.

    Below: what was found, one cause after the other, the worst first; why other requirements did not pass, which faults did not
    fire and why, and findings that are not scored.
    """
    title = (
        f"staleproof · {len(report.trials)} trial{_s(len(report.trials))} · Kubernetes {report.environment.get('kubernetes', '?')}"
    )
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for heading in ("requirement", "level", "result", "tried", "trials"):
        made.add_column(heading, no_wrap=True)
    made.add_column("fired")  # the one that gives way where the terminal is narrow
    notes, short = list[Text](), {each.slug: each for each in missed(report)}
    reasons: list[tuple[str, tuple[str, str]]] = []
    for slug, joined in overall(report).items():
        counted = exercised(slug, report.trials)
        is_unscored = joined is Outcome.FAIL and not is_scored(slug)
        word = joined.word.upper() if joined is Outcome.FAIL else joined.word
        result = Text("told below", style="yellow") if is_unscored else Text(word, style=STYLES[joined])
        aimed = tried(slug, report)
        cells = (f"{aimed.exercised}/{aimed.plans}", str(len(counted)), _fired([trial for trial, _ in counted]))
        made.add_row(slug, BY_SLUG[slug].level, result, *cells)
        why = reason(slug, report.trials, joined)
        if slug in short:
            why = f"{short[slug].why}; the run has to exercise it, and {short[slug].option} may"
        if joined not in (Outcome.PASS, Outcome.FAIL) and why:
            reasons.append((why, (slug, STYLES[joined])))
    notes += [Text.assemble(*_in_a_list(slugs), f": {why}") for why, slugs in grouped(reasons).items()]
    if moves := report.environment.get("moves"):
        notes.append(Text(f"moves by itself at rest, so it is neither waited for nor compared: {moves}", style="dim"))
    if error := usual_error(report):
        notes.append(Text(error, style="yellow"))
    if more := report.environment.get("more than asked for"):
        notes.append(Text(f"without any fault, so not scored: it kept {more}", style="yellow"))
    notes += _samples(report)
    notes += [
        *_suspected(report),
        *_rights(report),
        *_costs(report),
        *_external(report),
        Text(time_split(report), style="dim"),
        *_companions(report),
        _kept(report),
        *(Text(line, style="dim") for line in reach(report)),
    ]
    missing = [*_left_out(report), *_ended(report)]
    return Group(made, "", *_findings(report), *notes, *missing, *_silent(report), *_provisional(report), *_apart(report))


def _in_a_list(slugs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str] | str]:
    """Names, each in its style."""
    for number, each in enumerate(slugs):
        yield from (", ", each) if number else (each,)


def _suspected(report: Report) -> Iterator[Text]:
    """What a sweep showed and no run of one primary alone: no finding, and not passed."""
    for name, text in report.environment.items():
        if name.startswith(SUSPECTED):
            yield Text(f"{name}: {text}", style="yellow")


def _rights(report: Report) -> Iterator[Text]:
    """What the controller asked for and may not do, or that this was not checked; what it was asked for itself."""
    rights = report.environment.get("rbac", "")
    if rights.startswith("not checked"):
        yield Text(f"RBAC was {rights}", style="dim")
    for line in not_allowed(report.refused):
        yield Text(line, style="yellow")
    if calls := report.environment.get("webhooks"):
        yield Text(f"the API server's calls of its webhooks: {calls}", style="dim")


def _findings(report: Report) -> Iterator[Text]:
    """What fails the run, by cause, the worst first."""
    for each in findings(report.trials):
        plans = plural(len(each.trials), "plan")
        yield Text.assemble((each.severity or "failed", "bold red"), f" {each.cause or each.headline}: {plans}")
        small = f"; {each.shrunk}" if each.shrunk else ""
        again = f"{small}; again: {replay(each.crash, report.artefacts)}" if each.crash else ""
        yield Text(f"  {', '.join(each.requirements)}; first in {each.trials[0]}: {each.headline}{again}")
        if healed := next((trial.healed_by for trial in report.trials if trial.name == each.trials[0] and trial.healed_by), ""):
            yield Text(f"  once the trial was over, it was healed by {healed}")


def _fired(trials: Sequence[TrialReport]) -> str:
    counts = f"{sum(trial.faults_fired for trial in trials)}/{sum(trial.faults_planned for trial in trials)}"
    return f"{counts}, {refused(trials)} refused" if refused(trials) else counts


def _left_out(report: Report) -> Iterator[Text]:
    """The plans that could not be carried out, those for which there was no time, and which requirements no trial exercised with
    which of their faults."""
    for why, plans in _undone(report).items():
        count = plural(len(plans), "plan")
        yield Text(f"{count} left out that could not be carried out, not even once more: {why}", style="yellow")
    late = [plan for plan in report.left_out if not plan.why]
    if not late:
        return
    counts = ", ".join(f"{name} {count}" for name, count in Counter(plan.scenario for plan in late).most_common())
    yield Text(f"{plural(len(late), 'plan')} not run for lack of time: {counts}", style="yellow")
    known = {pair for trial in report.trials for pair in _tried(trial)}
    aimed = dict.fromkeys((aim, fault) for plan in late for aim in plan.aims for fault in plan.faults)
    lacking = [f"{aim} under {fault}" for aim, fault in aimed if (aim, fault) not in known]
    if lacking:
        more = f" and {len(lacking) - _MOST_REASONS} more" if len(lacking) > _MOST_REASONS else ""
        yield Text(f"  never tried for that reason: {', '.join(lacking[:_MOST_REASONS])}{more}", style="dim")


def _undone(report: Report) -> dict[str, list[LeftOut]]:
    """The plans that could not be carried out, by the reason."""
    found: dict[str, list[LeftOut]] = defaultdict(list)
    for plan in report.left_out:
        if plan.why:
            found[plan.why].append(plan)
    return found


def _ended(report: Report) -> Iterator[Text]:
    """The drawn plans that were not run, finding by finding."""
    by_finding: dict[str, list[EndedSearch]] = defaultdict(list)
    for each in report.ended_searches:
        by_finding[f"{each.requirement}, {each.found}"].append(each)
    for finding, ended in by_finding.items():
        count = sum(each.plans for each in ended)
        searches = ", ".join(f"{each.scenario} for {each.primary} {each.plans} (after {each.trial})" for each in ended)
        line = f"{count} drawn plan{_s(count)} not run, because the search had found something new ({finding}): {searches}"
        yield Text(line, style="yellow")


def _tried(trial: TrialReport) -> Iterator[tuple[str, str]]:
    fired = {fault.fault for fault in trial.faults if fault.outcome == "fired"}
    return ((verdict.requirement, fault) for verdict in trial.verdicts if verdict.exercised for fault in fired)


def _silent(report: Report) -> Iterator[Text]:
    """The faults that did nothing, each once, with the commonest reason."""
    silent: dict[tuple[str, str], list[FaultReport]] = defaultdict(list)
    for fault in (fault for trial in report.trials for fault in trial.faults if fault.outcome != "fired"):
        silent[fault.fault, fault.outcome].append(fault)
    commonest = sorted(silent.items(), key=lambda item: -len(item[1]))
    for (name, outcome_), faults in commonest[:_MOST_REASONS]:
        resources = ", ".join(dict.fromkeys(fault.resource for fault in faults))
        (why, _), *other_reasons = Counter(fault.why for fault in faults).most_common()
        what = f"{name} of {resources} {'did not fire' if outcome_ == 'not fired' else 'was refused'}"
        often = f" ({len(faults)} times)" if len(faults) > 1 else ""
        because = f"{', most often' if other_reasons else ''}: {why}" if why else ""
        yield Text(f"{what}{often}{because}", style="dim")
    if len(commonest) > _MOST_REASONS:
        names = ", ".join(dict.fromkeys(name for (name, _), _ in commonest[_MOST_REASONS:]))
        yield Text(f"{names} did nothing either; report.json has the reasons", style="dim")


def _provisional(report: Report) -> Iterator[Text]:
    """Findings about requirements that are not scored."""
    trials = [trial for trial in report.trials if not trial.hostile]
    every = [(trial, verdict) for trial in trials for verdict in trial.verdicts if not is_scored(verdict.requirement)]
    found = [(trial, verdict) for trial, verdict in every if verdict.result == "failed"]
    if found:
        yield Text("About provisional requirements, and not scored:", style="bold")
    for trial, verdict in found[:_MOST_REASONS]:
        yield Text(f"  {trial.name}: {verdict.requirement}: {verdict.headline}")
    if len(found) > _MOST_REASONS:
        yield Text(f"  and {len(found) - _MOST_REASONS} more; report.json has them", style="dim")


def _apart(report: Report) -> Iterator[Text]:
    """Findings under faults that no API server could cause."""
    found = [(trial, verdict) for trial in report.trials if trial.hostile for verdict in trial.verdicts if verdict.story]
    if found:
        yield Text("Not about conformance, because no API server does this, and not scored:", style="bold")
    for trial, verdict in found:
        yield Text(f"  {trial.name} under {trial.hostile}: {verdict.requirement}: {verdict.headline}")


def _samples(report: Report) -> Iterator[Text]:
    """What became of the samples, as far as not all of them are primaries that the controller reacts to, and of what was said of
    changing them."""
    if left := report.environment.get("left out"):
        yield Text(f"samples left out: {left}", style="yellow")
    if idle := report.environment.get("mutations"):
        yield Text(f"mutations without effect: {idle}", style="yellow")
    if before := report.environment.get("prerequisites"):
        yield Text(f"applied before the primaries in each trial: {before}", style="dim")
    if unique := report.environment.get("unique host names"):
        yield Text(f"a second primary collides, so each trial has host names of its own for {unique}", style="dim")
    if single := report.environment.get("one at a time"):
        why = "a second primary collides, so no plan has two; in a cluster of your own, run one worker"
        yield Text(f"{why}: {single}", style="yellow")
    if kept := report.environment.get("inputs"):
        yield Text(f"what the primary needs is not taken away: {kept}", style="dim")
    if masked := report.environment.get("placeholders"):
        why = "the payload is not written down, so a placeholder stood for it; where the controller reads it, give it again with"
        yield Text(f"{masked}: {why} --staleproof-before (or --before)", style="yellow")


def _costs(report: Report) -> Iterator[Text]:
    """What the controller writes though nothing is to be done: no failure, and not free."""
    costs = [trial.cost for trial in report.trials if trial.cost is not None and trial.cost.primaries]
    if writes := sum(each.writes for each in costs):
        each, void = writes / sum(each.primaries for each in costs), sum(each.void for each in costs)
        nothing = "all of which changed nothing, or nothing but times" if void == writes else f"{void / writes:.0%} of them in vain"
        yield Text(f"cost: {each:.1f} writes for each primary that is looked at again though nothing has changed, {nothing}")
    if late := [(trial.healed, trial) for trial in report.trials if trial.healed is not None]:
        slowest, trial = max(late, key=lambda each: each[0].seconds)
        times = f"{plural(len(late), 'plan')}, the slowest {trial.name}" if len(late) > 1 else trial.name
        lacked = f"; until then, {slowest.lacked}" if slowest.lacked else ""
        yield Text(f"cost: healed after {slowest.seconds:.0f} s by itself, so it is slow and not stuck ({times}){lacked}")
    if often := report.environment.get("writes at rest"):
        yield Text(f"cost: writes at rest {often}, as far as a few seconds tell")


def _external(report: Report) -> Iterator[Text]:
    """What was asked of each external system, how often in relation to what was there, and what was done to it."""
    if shared := report.environment.get(SHARED_SYSTEMS):
        limit = "one trial at a time, however many workers there are: the run has not started"
        yield Text(f"{limit} {shared} (`command` gives each worker its own)", style="yellow")
    for system, series in sorted(grouped((each.system, each) for trial in report.trials for each in trial.external).items()):
        verbs = Counter(call.verb or "?" for each in series for call in each.calls)
        calls = ", ".join(f"{verb} {count}" for verb, count in verbs.most_common(_MOST_VERBS))
        line = f"{system}: {plural(verbs.total(), 'call')}{f' ({calls})' * bool(calls)}"
        if minutes := sum(each.object_seconds for each in series) / 60:
            line += f", {sum(each.looks for each in series) / minutes:.3g} that only look for each object and minute"
        changes = Counter(drift.change for each in series for drift in each.drifts)
        line += "".join(f"; {count} {change} by another user" for change, count in sorted(changes.items()))
        downs = Counter(turn.state for each in series for turn in each.turns)
        line += "".join(f"; {state} {plural(downs[state], 'time')}" for state in ("down", "slow") if downs[state])
        yield Text(line, style="dim")


def time_split(report: Report) -> str:
    """Where the time of all workers went; they learn side by side, so learning has the seconds of the slowest."""
    total = sum((trial.spent for trial in report.trials), Spent())
    parts = {
        "learning": report.learning_seconds,
        "references": sum(trial.references_seconds for trial in report.trials),
        "steps": total.steps,
        "holds": total.hold,
        "settling": total.settle,
        "reconciling once more": total.after,
        "confirming": sum(trial.confirming_seconds for trial in report.trials),
    }
    if report.helping_seconds:
        parts["for other workers' trials"] = report.helping_seconds
    if report.unfinished_seconds:
        parts["plans that were not over in time"] = report.unfinished_seconds
    seconds = sorted(trial.seconds for trial in report.trials)
    median = f"; median {seconds[len(seconds) // 2]:.1f} s a trial" if seconds else ""
    return f"time: {', '.join(f'{name} {value:.0f} s' for name, value in parts.items())}{median}"


def _companions(report: Report) -> Iterator[Text]:
    """Those that were chosen for each sample, and what they cost; and those that the run had to do without."""
    if missing := report.environment.get(WITHOUT):
        yield Text(f"{WITHOUT} {missing}", style="yellow")
    chosen = {name: cost for name, cost in report.environment.items() if name.startswith(COMPANIONS_FOR)}
    yield from (Text(f"{name}: {cost}", style="dim") for name, cost in chosen.items())


def _kept(report: Report) -> Text:
    """What the run folder still has of the trials."""
    kept, every = sum(trial.kept for trial in report.trials), len(report.trials)
    removed = f"; {every - kept} of trials that passed were removed, as keep=findings asks" if kept < every else ""
    return Text(f"kept: {every} plan{_s(every)}, {kept} histor{'y' if kept == 1 else 'ies'}{removed}", style="dim")


def sentence(report: Report, baseline: Baseline | None = None) -> str:
    """The verdict in words: the last line of a run. What is not scored stands above it; what the `baseline` has fails nothing, and
    is counted."""
    known = len(findings(report.trials)) - len(new(baseline, report)) if baseline is not None else 0
    counted = excused(baseline, report) if baseline is not None else report
    every = overall(counted)
    failed = [slug for slug, joined in every.items() if joined is Outcome.FAIL and is_scored(slug)]
    unknown = [slug for slug, joined in every.items() if joined is Outcome.INCONCLUSIVE and is_scored(slug)]
    size = _size(counted) + (f", {plural(known, 'known finding')}" if known else "")
    interrupted = "interrupted; " if report.partial else ""
    if failed:
        return f"{interrupted}failed: {some(failed, _MOST_NAMES)} violated; {size}"
    if unknown:
        they_are = f"{some(unknown, _MOST_NAMES)} {'is' if len(unknown) == 1 else 'are'}"
        return f"{interrupted}nothing failed, but {they_are} inconclusive; {size}"
    if (short := lacking(counted)) and not report.partial:
        return f"{interrupted}nothing failed, but too little was tried: {short}; {size}"
    return f"interrupted; nothing failed in what was finished: {size}" if report.partial else f"passed: {size}"


def _size(report: Report) -> str:
    """How much was tried, and how much there was no time for."""
    every = overall(report)
    count = sum(joined is not Outcome.NOT_EXERCISED for joined in every.values())
    size = f"{count} of {len(every)} requirements tried, {plural(len(report.trials), 'trial')}"
    late = sum(not plan.why for plan in report.left_out)
    return size + (f", {plural(late, 'plan')} not run for lack of time" if late else "")


def lacking(report: Report) -> str:
    """What a run that is not green did not exercise, and the option that would reach most of it; empty when it is green."""
    if report.unlearnt:
        return f"the time was over while it was watched without faults; most would be reached by {more_minutes(report)}"
    found = missed(report)
    if found:
        option, _ = Counter(each.option for each in found).most_common(1)[0]
        return f"{some([each.slug for each in found], _MOST_NAMES)}; most of it would be reached by {option}"
    if not (report.trials or report.left_out or report.partial):
        return "no plan was run, because the controller gives those that were chosen no occasion"
    is_meant = any(not trial.hostile for trial in report.trials) or (report.left_out and not report.trials)
    is_bare = is_meant and worst(overall(report).items()) is Outcome.NOT_EXERCISED
    return "nothing that was done put a requirement to the test" if is_bare else ""


def _s(count: int) -> str:
    return "" if count == 1 else "s"
