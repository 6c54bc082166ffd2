"""The controller's calls to external systems: their answers, and which primaries they are about."""

from staleproof.checks.facts.belongings import owner
from staleproof.checks.facts.external_calls import external_calls
from staleproof.checks.trial import Trial
from staleproof.core.history.entry import Called, CallId, Replied

from ..outside import Outside, settled_role
from ..script import NAMESPACE, WIDGETS


def test_an_answer_belongs_to_the_call_of_its_number_and_its_system() -> None:
    script = Outside().calls().calls("CREATE").answered(call=1).adds(Replied, call=CallId(2), system="other", outcome="ok")
    first, second = external_calls(Trial(script.answered("fail", code="42710", call=2).ends()))

    assert (first.succeeded, first.reads, first.may_have_written) == (True, True, False)
    assert (second.failed, second.reads, second.is_disturbed) == (True, False, False)
    assert second.answer is not None
    assert second.answer.code == "42710"


def test_a_number_is_used_again_after_the_relay_has_started_anew() -> None:
    call = {"call": CallId(1), "system": "db", "verb": "GET", "text": "/a"}
    script = Outside().adds(Called, **call).answered(call=1).adds(Called, **call).answered("unknown", call=1)
    assert [each.succeeded for each in external_calls(Trial(script.ends()))] == [True, False]


def test_what_may_have_written() -> None:
    script = Outside().writes().calls("PUT").calls("PUT").answered("unknown", effect="lose-answer").calls("PUT").answered("fail")
    calls = external_calls(Trial(script.ends()))

    assert [each.may_have_written for each in calls] == [True, True, True, False]
    assert [each.is_disturbed for each in calls] == [False, True, True, False]


def test_a_call_about_a_child_is_about_its_primary() -> None:
    script = settled_role(Outside()).creates("w-c", resource="configmaps", generated="")
    where = {"resource": "configmaps", "namespace": NAMESPACE, "name": "w-c"}
    script.adds(Called, call=CallId(9), system="db", verb="SELECT", text="SELECT 2", **where)
    trial = Trial(script.ends())

    assert external_calls(trial)[-1].of == (WIDGETS, "w") == owner(trial, "configmaps", "w-c")
    assert owner(trial, "configmaps", "x") == ("configmaps", "x")
