"""A change without a trace: what the API server makes of it is for the integration tests to see."""

from staleproof.core.plan.nudge import nudge


def test_each_changes_one_entry_of_managed_fields_and_nothing_else() -> None:
    (first,), (second,) = nudge("v1", 1), nudge("v1", 2)
    assert {first["path"], second["path"]} == {"/metadata/managedFields/-"}
    assert first["value"]["fieldsV1"] != second["value"]["fieldsV1"]
    assert {**first["value"], "fieldsV1": None} == {**second["value"], "fieldsV1": None}  # the later one takes its place
