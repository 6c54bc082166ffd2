"""What metrics said, as series: how much informers lacked, and how deep queues were."""

from staleproof.checks.trial import with_references
from staleproof.core.history.entry import Metrics, Sample
from staleproof.report.timeline.metrics import metrics

from ...checks.script import HOLD, Script


def test_a_queue_that_a_reading_leaves_out_was_empty() -> None:
    depths = (Sample("workqueue_depth", {"name": "widget"}, 2), Sample("controller_workqueue_depth", {"name": "job"}, 1))
    history = Script().applied("w").adds(Metrics, took=0.0, samples=depths).read().ends()
    found = {each.of: each for each in metrics(with_references(history))}

    assert {name: [each.value for each in series.readings] for name, series in found.items()} == {"job": [1, 0], "widget": [2, 0]}
    assert {series.what for series in found.values()} == {"queue"}


def test_an_informer_lacks_what_was_committed_and_is_newer() -> None:
    script = Script(HOLD).applied("w").creates("w-a").hold()
    seen = script._revision
    history = script.removed("w-a").made("w-b").read(version=seen).let_go().ends()

    (series,) = metrics(with_references(history))
    assert (series.what, series.of) == ("informer", "pods")
    assert [each.value for each in series.readings] == [2]
