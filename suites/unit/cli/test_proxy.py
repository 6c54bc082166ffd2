"""`staleproof proxy`: what is refused before anything starts, and which files it makes and removes."""

import json
import socket
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from staleproof.cli.proxy import MARK, control_token, own_file, proxy, read_faults
from staleproof.cli.schema import schema
from staleproof.core.control import InstallPlan
from staleproof.core.engine.routes import openapi
from staleproof.core.fault import DropFrame, HoldStream
from staleproof.core.plan.manifest import Target as PlanTarget
from staleproof.core.plan.plan import Plan, encode
from staleproof.core.plan.step import Touch
from staleproof.drive.cluster.access import Access
from staleproof.drive.cluster.control_plane.credentials import make_credentials
from staleproof.drive.cluster.control_plane.plane import kubeconfig
from staleproof.errors import SetupError, UsageError

UPSTREAM = "--upstream=https://127.0.0.1:1"
HOLD = HoldStream(resource="pods")


def refused(*arguments: str) -> Exception:
    """What the command raises; it never gets as far as printing anything."""
    result = CliRunner().invoke(proxy, arguments)
    assert isinstance(result.exception, UsageError | SetupError), result.output
    assert result.stdout == ""
    return result.exception


@pytest.mark.io
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "either --upstream URL or --kubeconfig FILE"),
        ((UPSTREAM, "--kubeconfig=k"), "either --upstream URL or --kubeconfig FILE"),
        (("--kubeconfig=k", "--upstream-ca=ca"), "--upstream-ca goes with --upstream"),
        (("--upstream=http://127.0.0.1:8001",), "expected https://HOST:PORT"),
        (("--upstream=https://127.0.0.1:1/prefix",), "nothing behind it"),
        (("--upstream=127.0.0.1:6443",), "expected https://HOST:PORT"),
        ((UPSTREAM, "--upstream-ca=/nowhere/ca.crt"), "--upstream-ca: /nowhere/ca.crt cannot be used: No such file"),
        (("--kubeconfig=/nowhere/config",), "/nowhere/config cannot be used as a kubeconfig"),
        ((UPSTREAM, "--listen=8443"), "--listen: expected HOST:PORT"),
        ((UPSTREAM, "--listen=:8443"), "--listen: expected HOST:PORT"),
        ((UPSTREAM, "--listen=::1:8443"), "--listen: expected HOST:PORT"),
        ((UPSTREAM, "--control=127.0.0.1:65536"), "--control: expected HOST:PORT"),
        ((UPSTREAM, "--listen=192.0.2.1:0"), "cannot listen on 192.0.2.1:0"),
        ((UPSTREAM, "--listen=nowhere.invalid:0"), "cannot listen on nowhere.invalid:0"),
        ((UPSTREAM, "--plan=/nowhere/plan.json"), "--plan: cannot read /nowhere/plan.json: No such file"),
    ],
)
def test_bad_options_are_refused(arguments: tuple[str, ...], said: str) -> None:
    error = refused(*arguments)
    assert isinstance(error, UsageError)
    assert said in str(error)


@pytest.mark.io
@pytest.mark.parametrize("option", ["--listen", "--control"])
def test_a_port_that_is_taken_is_named(option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        error = refused(UPSTREAM, f"{option}=127.0.0.1:{taken.getsockname()[1]}")
    assert isinstance(error, SetupError)
    assert f"{option}: cannot listen on 127.0.0.1:" in str(error)
    assert "take another port" in str(error)


def test_a_cluster_elsewhere_needs_the_explicit_option(tmp_path: Path) -> None:
    access = Access(server="https://192.0.2.1:6443", ca_file=make_credentials(tmp_path, ["a"]).ca_file, token="t")
    (tmp_path / "kubeconfig").write_bytes(kubeconfig(access, user="u"))
    error = refused(f"--kubeconfig={tmp_path / 'kubeconfig'}")
    assert "https://192.0.2.1:6443, which is not this machine" in str(error)
    assert "--allow-remote-cluster" in str(error)


def test_the_document_of_the_control_api_is_printed() -> None:
    printed = CliRunner().invoke(schema, ["control"])
    assert json.loads(printed.stdout) == openapi()


# --- files ---------------------------------------------------------------------------------------------------------------------


def written(folder: Path, content: object) -> Path:
    path = folder / "faults.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_faults_come_from_a_plan_or_from_the_body_of_a_call(tmp_path: Path) -> None:
    target = PlanTarget("v1", "ConfigMap", "a")
    plan = Plan(scenario="x", steps=(Touch(target=target),), faults=(DropFrame(resource="pods"),), contract="hostile")
    (tmp_path / "plan.json").write_bytes(encode(plan))
    assert read_faults(tmp_path / "plan.json") == InstallPlan(plan.faults, contract="hostile")
    assert read_faults(written(tmp_path, {"faults": [{"fault": "Hold", "resource": "pods"}]})) == InstallPlan((HOLD,))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not JSON"),
        ([], "Expected `object`"),
        ({"faults": [{"fault": "Hodl", "resource": "pods"}]}, "there is no fault 'Hodl'; did you mean 'Hold'?"),
        ({"kind": "Plan"}, 'expected "apiVersion"'),
        ({"kind": "ConfigMap"}, 'expected an object with "kind": "Plan"'),
    ],
)
def test_a_bad_plan_is_reported_with_its_name(content: object, said: str, tmp_path: Path) -> None:
    path = written(tmp_path, content)
    error = refused(UPSTREAM, f"--plan={path}")
    assert isinstance(error, UsageError)
    assert str(error).startswith(f"--plan {path}: ")
    assert said in str(error)


def test_a_token_is_made_and_goes_with_us(tmp_path: Path) -> None:
    with control_token(None) as one, control_token(None) as other:
        assert len(one) >= 32
        assert one != other
    path = tmp_path / "token"
    with control_token(path) as made:
        assert path.read_text() == f"{made}\n"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not path.exists()


def test_a_token_that_is_there_is_taken_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("correct-horse\n")
    with control_token(path) as found:
        assert found == "correct-horse"
    assert path.exists()


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"short", b"two words of it", b"\xff\xfe\xff\xfe\xff\xfe\xff\xfe", "geheimn\u00efs".encode()]
)
def test_a_token_that_no_header_can_carry_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    assert "--token-file: " in str(refused(UPSTREAM, f"--token-file={path}"))
    assert path.read_bytes() == content


def test_a_kubeconfig_of_another_user_is_never_touched(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("apiVersion: v1\n")
    assert "name a new file" in str(refused(UPSTREAM, f"--client-kubeconfig={path}"))
    assert path.read_text() == "apiVersion: v1\n"


def test_a_kubeconfig_that_a_killed_proxy_left_is_ours(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_bytes(MARK + b"apiVersion: v1\n")
    with own_file(path):
        assert path.exists()
    assert not path.exists()
