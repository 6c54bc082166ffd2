"""Reports of public operators, as they are published: named as the row says, and of no machine."""

import pytest
from msgspec.structs import replace

from staleproof.errors import UsageError
from staleproof.report.conformance import conformance

from ...operators.conformance import published
from ...operators.model import Operator, implementation_of
from ...operators.run import named
from ...operators.table import OPERATORS
from ..report import runs

OPERATOR = next(each for each in OPERATORS if each.name == "argo-rollouts")
FOLDER = "/home/me/.cache/staleproof/operators/argo-rollouts/0123456789abcdef"
RAN = runs.report(
    runs.trial("001", runs.verdict("settles", runs.GOOD)),
    environment={"controller": f"{FOLDER}/operator --x={FOLDER}/made/a.yaml", "staleproof": "0.1.0"},
    reproduce=f"pytest --controller-cmd={FOLDER}/operator --staleproof-dir=/tmp/x",
    seed="7",
    profile="smoke",
    minutes=10.0,
)


def test_a_report_names_the_operator_and_our_command() -> None:
    made = conformance(published(RAN, OPERATOR, suite_digest=f"sha256:{'5' * 64}", version="0.1.0+g1"))
    assert (made.implementation.organization, made.implementation.project) == ("argoproj", "argo-rollouts")
    assert (made.implementation.url, made.implementation.version) == ("https://github.com/argoproj/argo-rollouts", "v1.8.3")
    assert made.environment.notes["controller"] == "operator --x=made/a.yaml"
    assert made.reproduce == "STALEPROOF_PROFILE=smoke ci/operators argo-rollouts --staleproof-minutes=10 --hypothesis-seed=7"
    assert (made.metadata.tool.version, made.metadata.tool.suite_digest) == ("0.1.0+g1", f"sha256:{'5' * 64}")


def test_a_path_of_the_machine_is_never_published() -> None:
    with pytest.raises(UsageError, match="/home/me/operator is a path of this machine"):
        published(replace(RAN, environment={"controller": "/home/me/operator"}), OPERATOR)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda each: each.name)
def test_each_operator_has_a_name_for_a_report(operator: Operator) -> None:
    organization, project, url, version = implementation_of(operator)
    assert all((organization, project, version))
    assert url.startswith("https://")
    assert url.count("/") >= 3
    assert f"--implementation-project={project}" in named(operator)
