"""A covering selection: few, and all values."""

from msgspec import structs

from staleproof.core.fault import DelayStream, SeverStream, Window
from staleproof.draw.incidents.covering import covering


def test_few_show_every_value() -> None:
    lags, windows = (0.3, 0.6, 1.0), (Window(2), Window(3))
    delays = {(each, lag): DelayStream(resource=each, by_seconds=lag, window=windows[0]) for each in "ab" for lag in lags}
    every = [(structs.replace(delay, window=window),) for delay in delays.values() for window in windows]
    assert covering(every) == [(delays["a", 0.3],), (delays["b", 0.6],), (delays["a", 1.0],)]


def test_of_nothing_there_is_nothing_and_one_covers_itself() -> None:
    assert covering([]) == []
    assert covering([(SeverStream(resource="a"),)] * 2) == [(SeverStream(resource="a"),)]
