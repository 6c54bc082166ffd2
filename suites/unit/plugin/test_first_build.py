import pytest

from staleproof.core.operator.companion import AUTO, KWOK, PROVISIONER
from staleproof.drive.cluster.options import ProviderName
from staleproof.drive.programs.kubernetes import COMPANIONS, SERVERS, MultiCall
from staleproof.plugin.first_build import needed


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
