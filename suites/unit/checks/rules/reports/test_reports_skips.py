"""reports-skips: which controllers it accuses, which it does not, and when it knows nothing."""

from staleproof.checks.rules.reports import REPORTS_SKIPS
from staleproof.core.history.entry import Continued, Stopped

from ...rule_cases import verdicts
from ...script import WIDGETS, Script, trial

NEVER_READ = "NOT_EXERCISED: the controller's metrics were not read"
NEVER_COUNTED = "NOT_EXERCISED: the controller counted no skipped sync (*_stale_sync_skips_total) while it was kept behind"
AHEAD = (
    "FAIL: informer_store_resource_version of pods was 103; the controller had been shown pods up to 100, "
    "and from 102 on everything was kept from it"
)


def for_nothing(syncs: str) -> str:
    return (
        f"FAIL: the controller counted {syncs} as skipped because its cache of pods was behind, when all that had ever happened "
        "there had been shown"
    )


def held() -> Script:
    """Its own creates are hidden, and it is made to look again."""
    return trial().wants(2).read().hold().creates("w-a", "w-b").applied("w")


def quiet() -> Script:
    """Everything has been shown, and some time ago."""
    return trial().wants(2).creates("w-a", "w-b").rests()


CASES = {
    "counts while it is behind": (held().read(skips=2).let_go().rests().read(skips=2).rests().read(skips=2), "PASS"),
    "counts when nothing is behind": (quiet().read(skips=1).applied("w").rests().read(skips=3), for_nothing("2 syncs")),
    "counts the wrong resource": (
        quiet().read().hold(WIDGETS).wants(3).read(skips=1).let_go(WIDGETS),
        for_nothing("1 sync"),
    ),
    "a version that no stream has shown": (held().read(version=103).let_go(), AHEAD),
    # --- nothing is proven unless it counted while it was behind
    "never read": (trial(), NEVER_READ),
    "it counts nothing": (held().read().let_go(), NEVER_COUNTED),
    "nothing more was counted": (quiet().read(skips=1).rests().read(skips=1), NEVER_COUNTED),
    "versions alone": (held().read(version=100).let_go(), NEVER_COUNTED),
    # --- innocent, though it looks suspicious
    "an ordinary write is behind for a moment": (quiet().read().creates("w-c").rests().read(skips=1), NEVER_COUNTED),
    "what was shown just before takes a moment to be taken in": (
        trial().wants(1).made("x").read().rests().read(skips=1),
        NEVER_COUNTED,
    ),
    "being behind others is being behind": (
        quiet().read().hold().made("x").read(skips=1).rests().read(skips=2).let_go(),
        "PASS",
    ),
    "what a list has shown besides is not in the cache": (
        quiet().read().hold().made("x").rests().read(skips=1).lists("pods").rests().read(skips=2).rests().read(skips=3).let_go(),
        "PASS",
    ),
    "its cache was behind as it says itself": (quiet().read(version=99).rests().read(skips=1), NEVER_COUNTED),
    "a stream that opens is no quiet time": (quiet().read().watches_apart().read(skips=1), NEVER_COUNTED),
    "nor is a process that stands still": (
        quiet().read().adds(Stopped, life=1, paused=True).adds(Continued, life=1).read(skips=1),
        NEVER_COUNTED,
    ),
    "a new life counts from the beginning": (
        quiet().read(skips=1).restarted().rests().read(skips=2),
        NEVER_COUNTED,
    ),
    "a version that a list has shown": (held().lists("pods").read(version=103, skips=1).let_go(), "PASS"),
    "a version that another stream may have shown": (held().watches_apart().read(version=103, skips=1).let_go(), "PASS"),
    "other groups are other resources": (
        held().read(version=999, skips=1, resource="pods.metrics.k8s.io").let_go(),
        NEVER_COUNTED,
    ),
}


test_verdict = verdicts(REPORTS_SKIPS, CASES)
