"""A baseline: what is known, new and gone; what a file says that a user edited."""

import pytest

from staleproof.report.baseline import Baseline, BaselineError, Known, decode, encode, excused, gone, in_words, new, updated

from .runs import BAD, GOOD, IDLE, report, trial, verdict

SLUG, OTHER = "no-duplicate-create", "no-excess-delete"
CREATES, DELETES = "it creates pods on an old view of pods", "it deletes pods on an old view of pods"
KNOWN = Known(cause=CREATES, requirements=(SLUG,), scenarios=("own-writes",), headline="pod/a is the 4th", note="see 123")
BASELINE = Baseline(findings=(KNOWN,))
GUILTY = verdict(SLUG, BAD, severity="duplicated", cause=CREATES, story=f"{SLUG}  pod/b is the 4th")
WORSE = verdict(OTHER, BAD, severity="destroyed", cause=DELETES)


def test_a_file_is_read_as_it_was_written() -> None:
    assert decode(encode(BASELINE)) == BASELINE
    assert decode(encode(Baseline())) == Baseline()


def test_what_is_known_is_not_new_whatever_plan_shows_it() -> None:
    run = report(trial("001", GUILTY), trial("002", WORSE))
    assert [each.cause for each in new(BASELINE, run)] == [DELETES]
    assert [each.cause for each in new(Baseline(), run)] == [DELETES, CREATES]
    assert in_words(BASELINE, run) == ["baseline: 1 known, 1 new"]


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (report(trial("001", verdict(SLUG, GOOD))), [KNOWN]),
        (report(trial("001", GUILTY)), []),
        (report(trial("001", verdict(SLUG, IDLE))), []),
        (report(trial("001", verdict(OTHER, GOOD))), []),
        (report(trial("001", verdict(SLUG, GOOD)), partial=True), []),
        (report(), []),
    ],
)
def test_what_was_looked_for_and_not_found_is_gone(run: object, expected: list[Known]) -> None:
    assert gone(BASELINE, run) == expected  # type: ignore[arg-type]  # a report


def test_what_is_gone_is_reported_with_what_to_do() -> None:
    line = f"gone: {CREATES} ({SLUG}); take it out with the option update-baseline"
    assert in_words(BASELINE, report(trial("001", verdict(SLUG, GOOD)))) == ["baseline: 0 known, 0 new", line]


def test_what_is_known_counts_as_passed() -> None:
    run = report(trial("001", GUILTY, WORSE), trial("002", verdict(SLUG, IDLE)))
    results = [(each.requirement, each.result) for trial in excused(BASELINE, run).trials for each in trial.verdicts]
    assert results == [(SLUG, "passed"), (OTHER, "failed"), (SLUG, "not exercised")]
    assert excused(Baseline(), run) == run


def test_an_update_keeps_notes_and_what_the_run_did_not_look_for() -> None:
    run = report(trial("001", GUILTY), trial("002", WORSE))
    elsewhere = Known(cause="it sleeps", requirements=("recovers-in-bounded-time",), scenarios=("restart",))
    made = updated(Baseline(findings=(KNOWN, elsewhere)), run)
    assert {each.cause: (each.note, each.headline) for each in made.findings} == {
        CREATES: ("see 123", "pod/b is the 4th"),
        DELETES: ("", ""),
        "it sleeps": ("", ""),
    }
    assert updated(BASELINE, report(trial("001", verdict(SLUG, GOOD)))) == Baseline()


HEAD = "apiVersion: staleproof.dev/v1alpha1\nkind: Baseline\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "line 1: not YAML: "),
        ("", "expected an object with kind: Baseline, found NoneType"),
        ("kind: Report", "expected an object with kind: Baseline, found dict"),
        ("kind: Baseline\napiVersion: v9", "expected apiVersion: staleproof.dev/v1alpha1, found 'v9'"),
        (f"{HEAD}finding: []", "did you mean"),
        (f"{HEAD}findings:\n- cause: x", "requirements"),
        (f"{HEAD}findings:\n- requirements: []", "finding 1: requirements is empty"),
        (f"{HEAD}findings:\n- requirements: [no-duplicate-creates]", "did you mean 'no-duplicate-create'?"),
        (f"{HEAD}findings: 7", "findings"),
    ],
)
def test_a_file_that_was_edited_wrongly_is_refused_with_what_to_do(text: str, message: str) -> None:
    with pytest.raises(BaselineError) as caught:
        decode(text.encode())
    assert message in str(caught.value)
    assert str(caught.value).endswith("mend it, or have it written again with the option update-baseline")


def test_a_cause_is_known_again_whatever_is_spelt_out_in_it() -> None:
    """The file has it as a report does; a run asks about it as it came."""
    known = Baseline(findings=(Known(cause="it updates \\x1b[31mred", requirements=(SLUG,)),))
    assert known.has("it updates \x1b[31mred", SLUG)
