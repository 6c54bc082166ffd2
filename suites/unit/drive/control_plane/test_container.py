import asyncio
from pathlib import Path

import pytest

from staleproof.drive.control_plane import ControlPlaneOptions, Silent, control_plane
from staleproof.errors import SetupError


def test_asked_for_it_says_that_it_is_not_available(tmp_path: Path) -> None:
    async def body() -> None:
        async with control_plane(ControlPlaneOptions(provider="container"), tmp_path, Silent()):
            pass

    with pytest.raises(SetupError, match="not available in this version"):
        asyncio.run(body())
