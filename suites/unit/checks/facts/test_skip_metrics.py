"""What the controller's metrics say of its caches."""

from staleproof.checks.facts.skip_metrics import cache_versions, counted_skips
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Metrics, Sample

from ..script import Script, trial


def counted(script: Script) -> list[tuple[str, int]]:
    return [(skips.resource, skips.more) for skips in counted_skips(Trial(script.ends()))]


def test_what_was_counted_between_two_readings_of_one_life() -> None:
    assert counted(trial().rests().read(skips=1).read(skips=3).read(skips=3)) == [("pods", 2)]
    assert counted(trial().rests().read().read(skips=1, resource="jobs.batch")) == [("jobs.batch", 1)]
    assert counted(trial().rests().read(skips=1).restarted().read(skips=2).read(skips=2)) == []
    assert counted(trial().read(skips=1)) == []


def test_it_may_have_happened_a_moment_before_the_first_reading() -> None:
    script = trial().rests().read().rests().read(skips=1)
    first, second = (i for i, entry in enumerate(script.entries) if isinstance(entry, Metrics))
    (skips,) = counted_skips(Trial(script.ends()))

    assert (skips.readings, skips.since, skips.until) == ((first, second), first - 1, second + 1)


def test_what_may_be_from_before_the_trial_has_no_beginning() -> None:
    script = trial()
    script.entries = script.entries[:1]
    (skips,) = counted_skips(Trial(script.read().rests().read(skips=1).ends()))

    assert skips.since == 0


def test_several_controllers_of_one_program_are_taken_together() -> None:
    samples = [Sample(f"{name}_stale_sync_skips_total", {"resource": "pods"}, 1) for name in ("one", "two")]

    assert counted(trial().rests().read().adds(Metrics, took=0.0, samples=tuple(samples))) == [("pods", 2)]


def test_a_version_that_has_lost_digits_is_none() -> None:
    samples = [Sample("informer_store_resource_version", {"resource": "pods"}, value) for value in (103, 10**15)]
    samples.append(Sample("something_else", {"resource": "pods"}, 7))

    assert list(cache_versions(Metrics(at=0, took=0, samples=tuple(samples)))) == [("pods", 103)]
