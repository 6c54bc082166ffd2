from staleproof.drive.cluster.control_plane import Progress, Silent


def test_the_noop_takes_any_order() -> None:
    progress: Progress = Silent()
    progress.end()
    progress.begin("work", None)
    progress.advance(1)
    progress.begin("other work", 2)
    progress.end()
