"""Findings in plain words."""

from dataclasses import replace

from staleproof.checks.catalog import BY_SLUG
from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import Story, explain, stories
from staleproof.checks.verdict import Cause, Finding, Outcome, Verdict
from staleproof.core.fault import DropFrame, HideOwnWrite
from staleproof.core.history.entry import Asked, Started, Stopped
from staleproof.core.history.history import History, HistoryRole

from ..script import WIDGETS, Script, Workload, reference, trial, two_references

SLUG = "no-duplicate-create"


def work(script: Script) -> Script:
    return script.step(1, "apply Widget/w").applied("w", spec=3).creates("w-a", "w-b", "w-c")


def story(script: Script, slug: str, workload: Workload = work) -> Story:
    """Of the first finding about a requirement."""
    judged = replace(script.ends(), references=two_references(workload))
    findings = next(verdict.findings for verdict in judge(judged) if verdict.requirement == slug)
    return explain(findings[0], judged)


def sentences(story: Story) -> list[str]:
    return [line for _, line in story.lines]


def explained(history: History, *witnesses: int) -> Story:
    return explain(Finding("2 writes", witnesses, requirement=SLUG), history)


def test_the_story_of_a_duplicate() -> None:
    script = Script(HideOwnWrite(resource="pods")).step(1, "apply Widget/w").applied("w", spec=3)
    script.hold(why="own create number 1 of pods").creates("w-a", "w-b", "w-c").step(2, "touch Widget/w").applied("w")

    assert story(script.creates("w-d").let_go(), "no-duplicate-create").text() == (
        "no-duplicate-create  pod/ns/w-d is the 4th live pod of widget/w; fault-free runs never had more than 3\n"
        "  duplicated: it creates pods on an old view of pods\n"
        "     0.700 s  from here (own create number 1 of pods) its pods stream was held; "
        "it had been shown pods up to resourceVersion 100\n"
        "     1.200 s  the controller created w-a, w-b, w-c (resourceVersion 102\N{EN DASH}104)\n"
        "     2.300 s  widget/w was shown (resourceVersion 105), in step 2: touch Widget/w\n"
        "     2.400 s  it created pod/w-d, though it had not been shown its own creates (resourceVersion 102\N{EN DASH}104)\n"
        "  compared with runs: 2 without faults\n"
        f"  remedy: {BY_SLUG['no-duplicate-create'].remedy}"
    )


def test_one_cause_has_one_story_about_the_worst_that_it_did() -> None:
    cause, other = Cause("old view", "creates pods", "pods", "one"), Cause("restart", "", "", "other")
    found = {
        "no-duplicate-create": Finding("twice", (), requirement=SLUG, severity="duplicated", cause=cause),
        "quiet-at-rest": Finding("too often", (), requirement="quiet-at-rest", severity="transient", cause=other),
        "no-excess-delete": Finding("gone", (), requirement="no-excess-delete", severity="destroyed", cause=cause),
        "settles": Finding("never", (), requirement="settles", severity="stuck", cause=other),
    }
    verdicts = [Verdict(slug, Outcome.FAIL, (finding,)) for slug, finding in found.items()]

    assert [(each.headline, each.summary) for each in stories(verdicts, trial().ends())] == [
        ("gone", "destroyed: one; it violates no-duplicate-create, too"),
        ("never", "stuck: other; it violates quiet-at-rest, too"),
    ]


def test_what_was_done_likewise_is_named() -> None:
    cause = Cause("old view", "deletes pods", "pods", "one")
    script = trial().applied("w", spec=3).creates(*"abcdefgh")
    for name in "abcdefgh":
        script.deletes(name)
    asked = [index for index, entry in enumerate(script.entries) if isinstance(entry, Asked) and entry.verb == "delete"]
    found = [Finding("gone", (0, each), requirement="no-excess-delete", severity="destroyed", cause=cause) for each in asked]

    def summary(count: int) -> str:
        (story,) = stories([Verdict("no-excess-delete", Outcome.FAIL, tuple(found[:count]))], script.ends())
        return story.summary

    assert summary(1) == "destroyed: one"
    assert summary(3) == "destroyed: one; the same happened to pods/b, pods/c"
    assert summary(8) == "destroyed: one; the same happened to pods/b, pods/c, pods/d, pods/e, pods/f and 2 more"


def test_a_story_says_which_references_were_asked() -> None:
    script = Script(HideOwnWrite(resource="pods")).step(1, "apply Widget/w").applied("w", spec=3)
    roles: list[HistoryRole] = ["reference", "final", "woken", "reference", "paced", "woken"]
    history = replace(script.ends(), references=tuple(reference(n, role).ends() for n, role in enumerate(roles)))
    references = (
        "2 without faults, 1 as slow as the trial, 2 woken as often with nothing hidden, 1 that applied only the last state"
    )
    assert explained(history).compared == references
    alone = Finding("deleted", (), requirement="no-delete-of-unseen")
    assert explain(alone, history).compared == "", "one history is enough to tell that"


def test_the_story_of_too_many_deletes() -> None:
    def scaled(script: Script) -> Script:
        script.step(1, "apply Widget/w").applied("w", spec=4).creates("w-a", "w-b", "w-c", "w-d")
        return script.step(2, "patch Widget/w")

    def done(script: Script) -> Script:
        return scaled(script).applied("w", spec=2).deletes("w-d", "w-c")

    script = scaled(trial()).hold(why="own delete number 1 of pods").applied("w", spec=2).deletes("w-d", "w-c").applied("w")
    script.deletes("w-b", "w-a").let_go()

    assert sentences(story(script, "no-excess-delete", done)) == [
        "from here (own delete number 1 of pods) its pods stream was held; it had been shown pods up to resourceVersion 105",
        "the controller deleted w-d, w-c",
        "widget/w was shown (resourceVersion 109), in step 2: patch Widget/w",
        "it deleted pod/w-b without a precondition, though it had not been shown its own deletes of w-d, w-c",
    ]


def test_the_story_of_a_deleted_stranger() -> None:
    script = trial().step(1, "apply Widget/w").applied("w").creates("w-0", generated="").step(2, "recreate pods number -1")
    script.hold(why="step 2").removed("w-0").made("w-0").step(3, "scale Widget/w").lists(WIDGETS).deletes("w-0").let_go()

    found = story(script, "no-delete-of-unseen")

    assert found.headline == "the controller deleted pod/ns/w-0 (uid ns-uid-3), an incarnation that it had never been shown"
    assert sentences(found) == [
        "from here (step 2) its pods stream was held; it had been shown pods up to resourceVersion 102",
        "pod/w-0 (uid ns-uid-3) was created, not by the controller",
        "a list of widgets.example.com was shown (resourceVersion 104), in step 3: scale Widget/w",
        "it deleted pod/w-0 without a precondition, though it had not been shown that incarnation (resourceVersion 104)",
    ]


def test_the_story_of_a_state_that_was_not_reached() -> None:
    script = trial().step(1, "apply Widget/w").hold().applied("w", spec=3).creates("w-a").let_go().released().passes(60)
    script.settled(ok=False, why="after 10 s: 1 pod of widget/w, fault-free runs ended with 3")

    found = story(script, "converges-after-catch-up")

    assert found.headline == "60.1 s after it could catch up: 1 pod of widget/w, fault-free runs ended with 3"
    assert sentences(found) == [
        "its pods stream was held, first noticed with ADDED pods ns/w-a",
        "every fault had ended: from here it could catch up",
        "it had not converged after 10 s: 1 pod of widget/w, fault-free runs ended with 3",
    ]


def test_the_story_of_a_controller_that_does_not_settle() -> None:
    script = trial().step(1, "apply Widget/w").applied("w").creates("w-a").updates("w", status=2).released()
    script = script.settled().resynced().updates("w", status=1).updates("w", status=2)

    found = story(script, "settles")

    assert found.headline == "2 writes after it had settled and nothing had changed, the first: update widgets.example.com/w"
    assert sentences(found) == [
        "it had converged and was quiet",
        "it updated the status of widget/w and wrote 1 more, though nothing had changed",
    ]


def test_long_lists_and_steps_are_cut_and_unknown_witnesses_are_left_out() -> None:
    script = (
        trial().step(1, "patch Widget/w " + "x" * 100).hold().applied("w").creates("w-a", "w-b", "w-c", "w-d", "w-e").applied("w")
    )
    history = script.let_go().ends()
    created = [i for i, entry in enumerate(history.entries) if isinstance(entry, Asked) and entry.verb == "create"]
    answers = [index + 3 + (index == created[0]) for index in created]
    shown = next(i for i, entry in enumerate(history.entries) if i > answers[-1] and getattr(entry, "name", "") == "w") + 1

    assert sentences(explained(history, 0, *answers, shown, len(history.entries) - 1)) == [
        "the controller created w-a, w-b, w-c and 2 more (resourceVersion 102\N{EN DASH}106)",
        f"widget/w was shown (resourceVersion 107), in step 1: patch Widget/w {'x' * 54}…",
    ]


def test_only_the_last_few_things_that_happened_meanwhile_are_reported() -> None:
    script = trial()
    for life in range(1, 8):
        script.adds(Stopped, life=life).adds(Started, life=life + 1)
    history = script.ends()

    lines = sentences(explained(history, 0, len(history.entries) - 1))
    assert lines[0] == "the controller was stopped"
    assert len(lines) == 8


def test_a_story_under_hostile_faults_says_so_first() -> None:
    hostile = explained(Script(DropFrame(resource="pods"), contract="hostile").ends())

    heading = "Not about conformance: no API server does this. It was found under hostile faults (DropFrame):"
    assert hostile.heading == heading
    assert hostile.text().splitlines()[:2] == [heading, f"{SLUG}  2 writes"]
    assert explained(trial().ends()).heading == ""
