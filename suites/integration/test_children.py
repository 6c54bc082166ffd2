"""What is done to children behind the controller's back is done to them as they are in the cluster."""

import pytest
import yaml

from staleproof.core.entry import Committed
from staleproof.core.plan import Apply, Plan, Recreate, Settle, Target, Touch

from .environment_stage import CRDS, MANIFESTS, fixture, session_in

SAMPLE = yaml.safe_load((MANIFESTS / "widget-content-sample.yaml").read_text())
TARGET = Target(SAMPLE["apiVersion"], SAMPLE["kind"], SAMPLE["metadata"]["name"])


def test_a_secret_is_made_again_with_its_payload(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is recorded of it is a digest, which the API server would refuse."""
    plan = Plan(
        scenario="children",
        steps=(Apply(object=SAMPLE), Recreate(resource="secrets"), Touch(target=TARGET)),
        settle=Settle(idle_seconds=3, quiet_seconds=4, limit_seconds=60, deadline_seconds=60),
    )
    with session_in(tmp_path_factory, manifests=CRDS) as session:
        session.use(fixture("sleepless", "deliberate"))
        history = session.trial(plan).history

    commits = [entry for entry in history.entries if isinstance(entry, Committed) and entry.resource == "secrets"]
    first, second = [entry.object for entry in commits if entry.type == "ADDED"]
    assert first["metadata"]["uid"] != second["metadata"]["uid"]
    assert first["data"] == second["data"]
