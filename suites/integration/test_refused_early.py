"""What cannot be judged is refused before any plan is run: in words that say what to do, and by whichever worker."""

import pytest

from .conftest import WIDGETS, Run, fixture_controller
from .test_bad_input import ENVIRONMENT, is_refused

SMOKE = ("--staleproof-profile=smoke", "--staleproof-max-examples=0")


@pytest.mark.live
def test_a_controller_that_writes_past_the_proxy_is_named(suite: Run) -> None:
    done = suite(f"--controller-cmd={fixture_controller('bypasses')}", *WIDGETS, *SMOKE)
    is_refused(
        done,
        ENVIRONMENT,
        "was changed by 'widget-controller' past the proxy",
        "the controller never asked for that through it",
        "Does each client of the controller use the kubeconfig that it is given (KUBECONFIG, or {kubeconfig} in its command)",
    )


@pytest.mark.live
def test_a_run_whose_references_cannot_be_used_stops_after_the_second_workload(suite: Run) -> None:
    """With workers, too: they see one another's."""
    done = suite(f"--controller-cmd={fixture_controller('exits_on_change')}", *WIDGETS, *SMOKE, "-n2")
    is_refused(
        done,
        ENVIRONMENT,
        "nothing can be judged: 2 workloads were run without any fault",
        "the controller exited with code 3 during the trial",
        "A controller has to stay alive and come to rest when its sample is applied, changed, deleted and made anew",
    )
    assert not list(done.run_folder.glob("**/trials/*")), "no plan was tried"
