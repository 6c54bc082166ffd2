"""What is sent to a controller's maintainers: what happened, and a script that bash can read."""

import gzip
import re
import subprocess
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import Story, stories
from staleproof.core.fault import (
    AnyFault,
    HoldStream,
    Kill,
    KillAtCall,
    LateNotification,
    LoseCallAnswer,
    LoseNotification,
    Pause,
    RejectCall,
    RepeatNotification,
    Restart,
    SlowCall,
    Window,
)
from staleproof.core.history.history import Header, History, decode
from staleproof.core.plan.manifest import Manifest, Target
from staleproof.core.plan.plan import Plan, Subject
from staleproof.core.plan.step import (
    Apply,
    AwaitRepair,
    Delete,
    Drift,
    Edit,
    Heartbeat,
    Patch,
    Recreate,
    Remove,
    Rest,
    Restore,
    Resync,
    Step,
    Touch,
    TurnSystem,
)
from staleproof.report.by_hand import by_hand

from ..judged import HISTORIES
from .formats.hostile import ACTIVE, TEXTS

MUTANTS = sorted((HISTORIES / "mutants").glob("*.jsonl.gz"))
WIDGET = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "w", "namespace": "shop"},
    "spec": {"title": "it's"},
}
TARGET = Target("example.com/v1", "Widget", "w")


def script(text: str) -> str:
    found = re.search(r"^```bash\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def of(*steps: Step, faults: tuple[AnyFault, ...] = (), before: tuple[Manifest, ...] = ()) -> str:
    """The script of a plan of which nothing is known but what it says."""
    header = Header(plan=Plan(scenario="x", steps=steps, faults=faults, before=before), namespace="n")
    return script(by_hand(History(header, ()), ()))


def reads(text: str) -> str:
    """What bash says of it; empty: it can read it."""
    return subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False).stderr


@pytest.mark.io
@pytest.mark.parametrize("path", MUTANTS, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_of_each_finding_there_is_a_script(path: Path) -> None:
    history = decode(gzip.decompress(path.read_bytes()))
    found = stories(judge(history), history)
    text = by_hand(history, found)
    headline = found[0].headline.replace(history.header.namespace, "by-hand")
    assert text.replace("\\", "").startswith(f"# {headline}\n")
    assert reads(script(text)) == ""
    assert script(text).count("\nstep ") == len(history.header.plan.steps)


@pytest.mark.io
def test_steps_are_what_kubectl_does() -> None:
    done = of(
        Apply(object=WIDGET),
        Patch(target=TARGET, patch={"spec": {"title": "it's"}}),
        Touch(target=TARGET),
        Delete(target=TARGET),
        Edit(resource="pods", nth=-1, patch={"spec": {}}),
        Remove(resource="pods", nth=2),
        Heartbeat(resource="pods"),
        Recreate(resource="pods"),
        Resync(resource="pods"),
        Restore(target=Target("v1", "Secret", "s")),
        Rest(seconds=2.0),
    )
    assert reads(done) == ""
    assert "namespace: shop" not in done, "it is made in the namespace that kubectl is given"
    for line in (
        "kubectl patch -n by-hand Widget.v1.example.com/w --type merge --patch ",
        "kubectl delete -n by-hand --wait=false Widget.v1.example.com/w",
        "--sort-by=.metadata.creationTimestamp -o name | tail -n 1 | head -n 1)",
        "--sort-by=.metadata.creationTimestamp -o name | sed -n 2p)",
        'control POST sever \'{"resource":"pods"}\'',
        "echo 'Apply Secret/s again, as it was. Then press Enter.'; read -r",
        "sleep 2",
    ):
        assert line in done


def test_what_is_done_to_the_process_is_reported_and_not_sent_to_the_proxy() -> None:
    down = Restart(window=Window(2, 3), stays_down=True)
    steps = (Apply(object=WIDGET), Touch(target=TARGET), Touch(target=TARGET))
    done = of(*steps, faults=(HoldStream(resource="pods"), down, Kill(resource="pods", nth=2), Pause(window=Window(3))))
    (plan,) = (line for line in done.splitlines() if line.startswith("control PUT plan"))
    assert plan.count('"fault"') == 1
    echoes = [line for line in done.splitlines() if line.startswith("echo")]
    assert [line.split(";")[0] for line in echoes] == [
        "echo 'Make ready to kill the controller in this step, right after its create of pods number 2, and start it again. "
        "Then press Enter.'",
        "echo 'Kill the controller. Then press Enter.'",
        "echo 'Start the controller again. Then press Enter.'",
        "echo 'Stop the controller'\"'\"'s process (kill -STOP). Then press Enter.'",
    ]


def test_what_is_done_to_external_systems_is_reported() -> None:
    window = Window(1, 2)
    faults: tuple[AnyFault, ...] = (
        RejectCall(system="db", window=window),
        SlowCall(by_seconds=1.0, window=window),
        LoseCallAnswer(nth=2, window=window),
        KillAtCall(system="db", window=window),
    )
    steps = (Drift(system="db", kind="roles"), AwaitRepair(seconds=30.0), TurnSystem(system="db", state="down"))
    echoes = [line for line in of(*steps, faults=faults).splitlines() if line.startswith("echo")]
    call = "to db that changes something"
    assert [line.removeprefix("echo '").removesuffix(" Then press Enter.'; read -r") for line in echoes] == [
        f"Have call number 1 {call} in this step refused, and not executed.",
        "Have call number 1 to external systems that changes something in this step executed at once, and answered 1 s late.",
        "Have call number 2 to external systems that changes something in this step executed, and its connection end before the "
        "answer.",
        f"Make ready to kill the controller in this step, when call number 1 {call} is executed and not answered yet, and start it "
        "again.",
        "See to it, past the controller, that another user has deleted number 1 of the roles in db.",
        "Wait until what drifted is repaired, for at most 30 s.",
        "See to it, past the controller, that db is down.",
    ]


def test_what_happens_to_notifications_is_reported() -> None:
    window = Window(1, 2)
    faults: tuple[AnyFault, ...] = (
        LoseNotification(system="db", times=None, window=window),
        LateNotification(by_seconds=2.0, times=2, window=window),
        RepeatNotification(system="db", window=window),
    )
    echoes = [line for line in of(Drift(system="db", kind="roles"), faults=faults).splitlines() if line.startswith("echo")]
    assert [line.removeprefix("echo '").removesuffix(" Then press Enter.'; read -r") for line in echoes[:3]] == [
        "Have notification number 1 of db, and those after it, in this step lost.",
        "Have notification number 1 of external systems, and 1 after it, in this step delivered 2 s late.",
        "Have notification number 1 of db in this step delivered twice.",
    ]


def test_what_the_sample_needs_is_applied_unless_its_contents_are_not_known() -> None:
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"n": "3"}}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "masked"}}
    header = Header(plan=Plan(scenario="x", steps=(Apply(object=WIDGET),), before=(settings, secret)), namespace="n")
    text = by_hand(History(header, ()), ())
    assert "put there what the sample needs: `Secret/s`." in text
    assert "kind: ConfigMap" in script(text)
    assert "masked" not in text
    restored = Restore(target=Target("v1", "ConfigMap", "settings"))
    assert of(Apply(object=WIDGET), restored, before=(settings,)).count("kind: ConfigMap") == 2, "it is put back as it was"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_names_never_become_markdown_or_commands(text: str) -> None:
    """A heading is a heading, the script is one block, and a comment in it ends with its line."""

    def page(of: str) -> str:
        named = {**WIDGET, "metadata": {"name": of}, "spec": {"title": of}}
        steps = (Apply(object=named), Delete(target=Target("example.com/v1", "Widget", of)))
        header = Header(plan=Plan(scenario="x", title=of, steps=steps), namespace="n", environment={"kubernetes": of})
        story = Story("no-duplicate-create", of, ((0.1, of),), "mend it", cause=of)
        return by_hand(History(header, ()), [story])

    def shape(of: str) -> list[str]:
        parsed = MarkdownIt("commonmark", {"html": True}).parse(page(of))
        inner = [child.type for token in parsed for child in token.children or () if child.type not in ("text", "text_special")]
        return [token.type for token in parsed] + inner

    plain = text.encode("utf-8", "replace").decode()  # no plan and no history has half a character
    assert shape(plain) == shape("harmless")
    assert not ACTIVE & set(map(ord, page(plain)))
    (lines,) = [token.content.splitlines() for token in MarkdownIt().parse(page(plain)) if token.info == "bash"]
    assert [line[:9] for line in lines if line.startswith("step ")] == ["step 1 # ", "step 2 # "]


@pytest.mark.io
def test_of_several_programs_the_one_that_is_held_back_is_started_behind_the_proxy() -> None:
    history = decode(gzip.decompress((HISTORIES / "mutants" / "overwriting_poller.jsonl.gz").read_bytes()))
    text = by_hand(history, stories(judge(history), history))
    assert "4. Start poller with `through-proxy.yaml` as its kubeconfig (`python -m" in text
    assert "   Start the controller with a kubeconfig of the cluster itself (`python -m" in text
    assert '"fault":"Hold"' in script(text)
    assert '"program"' not in script(text), "a proxy that no runner drives does not tell programs apart"
    restart = of(Rest(seconds=1.0), faults=(Restart(program="poller"),))
    assert "Kill poller, and start it again." in restart


def test_a_command_is_shown_as_it_is_and_an_image_by_its_name() -> None:
    def shown(controller: Subject) -> str:
        plan = Plan(scenario="x", title="t", steps=(), controller=controller)
        return by_hand(History(Header(plan=plan, namespace="ns"), ()), ())

    assert "as its kubeconfig (`sh -c 'cat x | ./m'`), and" in shown(Subject(command=("sh", "-c", "cat x | ./m")))
    assert "as its kubeconfig (`example.com/op:v1 --v=4`), and" in shown(Subject(image="example.com/op:v1", arguments=("--v=4",)))
    assert "as its kubeconfig, and" in shown(Subject())
