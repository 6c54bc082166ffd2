"""What metrics say that is not so."""

from staleproof.checks.deeds.skips import excused_skips, untrue_metrics, was_kept_behind
from staleproof.checks.trial import Trial

from ..script import Script, trial


def held() -> Script:
    """Its own creates are hidden, and it is made to look again."""
    return trial().wants(2).read().hold().creates("w-a", "w-b").applied("w")


def test_what_is_counted_while_it_is_behind_is_so() -> None:
    found = Trial(held().read(skips=2).let_go().ends())
    (skips,) = excused_skips(found)
    assert was_kept_behind(found, skips)
    assert untrue_metrics(found) == []


def test_what_is_counted_for_nothing_and_what_is_ahead_is_not() -> None:
    quiet = trial().wants(2).creates("w-a", "w-b").rests().read(skips=1).applied("w").rests().read(skips=3)
    found = Trial(quiet.ends())
    assert excused_skips(found) == []
    assert [finding.because.partition(" as ")[0] for finding in untrue_metrics(found)] == ["the controller counted 2 syncs"]

    (ahead,) = untrue_metrics(Trial(held().read(version=103).let_go().ends()))
    assert ahead.because.startswith("informer_store_resource_version of pods was 103")
