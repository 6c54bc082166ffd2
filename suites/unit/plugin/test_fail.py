"""What a test of the suite says when it fails: one story for each cause, however many plans of its family showed it."""

import shlex
from dataclasses import replace
from types import SimpleNamespace

import pytest

from staleproof.plugin.fail import add_properties, assert_passed, story_of
from staleproof.report.baseline import Baseline, Known

from ..judged import result


def test_a_cause_that_was_reported_is_named_and_not_reported_again() -> None:
    guilty, innocent = result("naive-hidden-creates"), result("expectations-hidden-creates")
    with pytest.raises(pytest.fail.Exception) as failed:
        assert_passed([innocent, guilty, replace(guilty, name="002"), result("naive-hidden-deletes")])
    message = str(failed.value)

    assert message.count("\n  duplicated: it creates pods on an old view of pods\n") == 1
    assert message.count("the same: it creates pods on an old view of pods\n") == 1
    assert "\n  destroyed: it deletes pods on an old view of pods\n" in message
    assert_passed([innocent])


def test_a_cause_that_was_reported_is_remembered_behind_others() -> None:
    guilty = result("naive-hidden-creates")
    with pytest.raises(pytest.fail.Exception) as failed:
        assert_passed([guilty, result("naive-hidden-deletes"), replace(guilty, name="003")])
    assert str(failed.value).count("\n  duplicated: it creates pods on an old view of pods\n") == 1


def test_what_is_known_fails_no_test() -> None:
    known = Known(cause="it creates pods on an old view of pods", requirements=("no-duplicate-create",))
    guilty, baseline = result("naive-hidden-creates"), Baseline(findings=(known,))
    assert_passed([guilty], baseline)
    with pytest.raises(pytest.fail.Exception, match="it deletes pods on an old view of pods"):
        assert_passed([guilty, result("naive-hidden-deletes")], baseline)


def test_junit_is_reported_how_bad_it_is() -> None:
    test = SimpleNamespace(user_properties=[])
    add_properties(result("naive-hidden-creates"), test)  # type: ignore[arg-type]  # all that is asked of a test
    (_, trial), (slug, value) = test.user_properties

    assert (trial, slug) == ("001", "staleproof.no-duplicate-create")
    assert value.startswith("failed, duplicated, staleproof replay ")


def test_what_is_to_be_pasted_is_a_command() -> None:
    text = story_of(result("naive-hidden-creates"), set())
    lines = [shlex.split(line) for line in text.splitlines() if line.strip().startswith(("pytest ", "staleproof "))]
    assert [words[:2] for words in lines] == [["pytest", "--staleproof-replay"], ["staleproof", "replay"]]
    assert len({words[2] for words in lines}) == 1
    assert [len(words) for words in lines] == [3, 3]
