"""What a primary needs goes and comes back, and a primary comes back as another one: it is found, and so is what heals it."""

import pytest

from .conftest import MANIFESTS, Run, fixture_controller

WIDGETS = f"--staleproof-crds={MANIFESTS / 'widget-crd.yaml'}"
SECURED = f"--staleproof-samples={MANIFESTS / 'secured-sample.yaml'}"
CONFIGURED = f"--staleproof-samples={MANIFESTS / 'configured-sample.yaml'}"
CONTENT = f"--staleproof-samples={MANIFESTS / 'widget-content-sample.yaml'}"


@pytest.mark.live
def test_a_controller_that_compares_with_its_cache_says_for_good_what_is_not_so(suite: Run) -> None:
    done = suite(f"--controller-cmd={fixture_controller('secured')} comparing", WIDGETS, SECURED, "-k", "inputs")
    assert "status.conditions[Ready].status is 'False', fault-free runs ended with 'True'" in " ".join(done.output.split())
    (found,) = (each for each in done.report["trials"] if any(one["result"] == "failed" for one in each["verdicts"]))
    assert (
        found["title"] == "hide own update of the status of widgets.staleproof.dev when Secret/certificate is gone until it is back"
    )


@pytest.mark.live
def test_a_controller_that_reads_before_it_compares_is_not_accused(suite: Run) -> None:
    done = suite(f"--controller-cmd={fixture_controller('secured')} rereading", WIDGETS, SECURED, "-k", "inputs")
    assert done.code == 0, done.output
    assert {each["scenario"] for each in done.report["trials"]} == {"inputs"}
    assert "failed" not in done.results.values()


@pytest.mark.live
@pytest.mark.parametrize(("name", "code"), [("comparing", 1), ("rereading", 0)])
def test_what_the_primary_needs_is_otherwise_for_a_while(suite: Run, name: str, code: int) -> None:
    done = suite(f"--controller-cmd={fixture_controller('configured')} {name}", WIDGETS, CONFIGURED, "-k", "inputs")
    assert done.code == code, done.output
    found = {each["title"] for each in done.report["trials"] if each["crash"]}
    guilty = {"hide own patch of secrets when ConfigMap/settings is otherwise until it is back"}
    assert found == (guilty if code else set())


@pytest.mark.live
def test_what_would_have_healed_it_is_reported(suite: Run) -> None:
    """It looks at generations alone: a touch leaves the generation as it is, and so does a list."""
    done = suite(
        f"--controller-cmd={fixture_controller('gateway')} inattentive", WIDGETS, CONTENT, "-k", "primary-returns-otherwise"
    )
    assert done.code == 1, done.output
    assert {each["healedBy"] for each in done.report["trials"] if each["crash"]} == {"a restart of the controller"}
    assert "healed by a restart of the controller" in " ".join(done.output.split())
