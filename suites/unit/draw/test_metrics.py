"""Plans of the metrics scenario."""

from dataclasses import replace

from staleproof.draw import metrics
from staleproof.draw.canonical import life
from staleproof.draw.profile import STANDARD

from .seen import widgets


def test_it_is_behind_for_a_while_and_then_looks_once_more() -> None:
    of = replace(widgets(), has_metrics=True)
    lived = life(of)

    for plan in metrics.behind_for_a_while(of, STANDARD):
        assert plan.faults[0].window.until_step == lived.shrinks < lived.last
    assert list(metrics.behind_for_a_while(widgets(), STANDARD)) == []
