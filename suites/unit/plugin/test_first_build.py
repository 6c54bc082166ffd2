import asyncio

import pytest

from staleproof.assess.run import budget
from staleproof.core.operator.companion import AUTO, KWOK, PROVISIONER
from staleproof.drive.cluster.options import ProviderName
from staleproof.drive.programs.kubernetes import COMPANIONS, SERVERS, MultiCall
from staleproof.plugin import first_build
from staleproof.plugin.first_build import needed
from staleproof.plugin.outcome import ends

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(
    ("provider", "companions", "built"),
    [
        ("build", [AUTO], [SERVERS, COMPANIONS]),
        ("build", [], [SERVERS]),
        ("cache", [AUTO], [COMPANIONS]),
        ("container", [KWOK], [COMPANIONS]),
        ("assets", [PROVISIONER], []),  # it is our own
        ("existing", [AUTO], []),
    ],
)
def test_what_a_run_needs_is_built(provider: ProviderName, companions: list[str], built: list[MultiCall]) -> None:
    assert list(needed(provider, companions)) == built


def test_minutes_do_not_count_what_is_built_for_the_workers(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    async def build(*_: object) -> None:
        await asyncio.sleep(0.01)

    monkeypatch.setattr(budget, "BUILT_SECONDS", 0.0)
    monkeypatch.setattr(first_build, "_build", build)
    config = pytester.parseconfigure("--controller-cmd=true", "--staleproof-minutes=1")
    before = ends(config)()
    first_build.build_for_workers(config)
    assert ends(config)() >= before + 0.01
