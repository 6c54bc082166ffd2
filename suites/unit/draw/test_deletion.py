"""Plans of the deletion scenario."""

from staleproof.core.fault import HoldStream, Window
from staleproof.core.observed import ChildKind, Observed
from staleproof.core.plan import Apply, Manifest, Patch, Plan, Recreate, Target, contradictions, decode, encode
from staleproof.draw.deletion import canonical

SAMPLE: Manifest = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"replicas": 3}}
NAMED = ChildKind("pods", creates=4, deletes=3, stable_names=True)


def observed(*children: ChildKind, scale_path: tuple[str, ...] = ("spec", "replicas")) -> Observed:
    return Observed(SAMPLE, "widgets.example.com", scale_path, children)


def test_the_last_child_is_recreated_unseen_and_then_scaled_away() -> None:
    (plan,) = canonical(observed(NAMED))

    assert plan == Plan(
        scenario="deletion",
        title="recreate the last of pods unseen, then scale down",
        aims=("no-delete-of-unseen",),
        steps=(
            Apply(object=SAMPLE),
            Recreate(resource="pods"),
            Patch(target=Target("example.com/v1", "Widget", "w"), patch={"spec": {"replicas": 2}}),
        ),
        faults=(HoldStream(resource="pods", window=Window(from_step=2)),),
    )
    assert contradictions(plan) == []
    assert decode(encode(plan)) == plan


def test_nobody_takes_a_generated_name_and_what_is_never_deleted_cannot_be_deleted_wrongly() -> None:
    generated = ChildKind("pods", creates=4, deletes=3, stable_names=False)
    kept = ChildKind("services", creates=1, deletes=0, stable_names=True)

    assert list(canonical(observed(generated, kept))) == []
    assert list(canonical(observed(NAMED, scale_path=()))) == []
