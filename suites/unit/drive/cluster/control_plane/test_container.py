from pathlib import Path

import pytest

from staleproof.drive.cluster.control_plane import ControlPlaneOptions, Silent, container, control_plane
from staleproof.errors import SetupError


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine's engine is refused before anything connects to it."""
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")


async def test_without_an_engine_the_automatic_choice_passes_on() -> None:
    assert await container.applies(ControlPlaneOptions(image="example.com/image")) is None


async def test_asked_for_without_an_engine_it_says_what_to_do_instead(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"choose another control plane provider"):
        await control_plane(ControlPlaneOptions(provider="container"), tmp_path / "run", Silent()).__aenter__()
