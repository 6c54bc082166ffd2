"""What a script refuses to write, because no history has it."""

import pytest

from .script import trial


def test_nothing_happens_after_the_end() -> None:
    script = trial().applied("w")
    script.ends()
    script.ends()
    with pytest.raises(ValueError, match="has ended; make the script anew"):
        script.creates("w-a")


def test_a_rule_cannot_be_shown_what_the_controller_does_in_other_namespaces() -> None:
    trial().asks("list", "pods", namespace="other").asks("delete", "nodes", "n", namespace="").asks("get", "pods", "w-a")
    with pytest.raises(ValueError, match="no history has a delete in the namespace other"):
        trial().asks("delete", "pods", "w-a", namespace="other")
