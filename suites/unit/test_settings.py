"""Settings: what a text means for each option, and what is refused."""

from pathlib import Path
from typing import get_args

import pytest

from staleproof.core.operator.group_kind import GroupKind
from staleproof.draw.profile import PROFILES
from staleproof.drive.cluster.options import ProviderName
from staleproof.errors import UsageError
from staleproof.settings import OPTIONS, Given, Settings, parse


def parsed(**texts: str) -> Settings:
    return parse({name: Given((text,), f"--{name}") for name, text in texts.items()})


@pytest.mark.parametrize(
    ("name", "flag", "variable"),
    [
        ("controller_cmd", "--controller-cmd", "STALEPROOF_CONTROLLER_CMD"),
        ("controller_start_seconds", "--controller-start-seconds", "STALEPROOF_CONTROLLER_START_SECONDS"),
        ("kube_provider", "--staleproof-kube-provider", "STALEPROOF_KUBE_PROVIDER"),
        ("dir", "--staleproof-dir", "STALEPROOF_DIR"),
        ("conformance_report", "--conformance-report", "STALEPROOF_CONFORMANCE_REPORT"),
        ("implementation_organization", "--implementation-organization", "STALEPROOF_IMPLEMENTATION_ORGANIZATION"),
    ],
)
def test_flag_and_variable_follow_from_the_name(name: str, flag: str, variable: str) -> None:
    (option,) = (option for option in OPTIONS if option.name == name)
    assert (option.flag, option.variable) == (flag, variable)


def test_no_two_options_share_a_flag_or_a_variable() -> None:
    for name in ("flag", "variable"):
        assert len({getattr(option, name) for option in OPTIONS}) == len(OPTIONS)


def test_what_is_not_given_has_its_default() -> None:
    settings = parse({})
    assert (settings.controller_cmd, settings.controller_env, settings.kubeconfig) == ((), (), None)
    assert (settings.controller_start_seconds, settings.max_examples, settings.release_leases) == (30.0, None, True)
    assert (settings.kube_provider, settings.profile, settings.dir) == ("auto", "standard", Path(".staleproof"))


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("controller_cmd", "", ()),
        ("controller_cmd", "./bin/manager --kubeconfig={kubeconfig}", ("./bin/manager", "--kubeconfig={kubeconfig}")),
        ("controller_cmd", "m '--name=a b' \"$HOME\"", ("m", "--name=a b", "$HOME")),
        ("controller_cmd", "m a\\ b; rm x | y", ("m", "a b;", "rm", "x", "|", "y")),
        ("controller_args", "  ", ()),
        ("controller_env", "A=", (("A", ""),)),
        ("controller_env", "B=d=e", (("B", "d=e"),)),
        ("controller_start_seconds", "5", 5.0),
        ("controller_start_seconds", "0.25", 0.25),
        ("controller_start_seconds", " 7 ", 7.0),
        ("controller_metrics", "https://[::1]:{metrics_port}/metrics", "https://[::1]:{metrics_port}/metrics"),
        ("crds", "a/b.yaml", (Path("a/b.yaml"),)),
        ("controller_manifests", "config/default", (Path("config/default"),)),
        ("before", "a/b.yaml", (Path("a/b.yaml"),)),
        ("primary", "Widget.staleproof.dev", (GroupKind("Widget", "staleproof.dev"),)),
        ("primary", "Pod", (GroupKind("Pod"),)),
        ("kubeconfig", "", None),
        ("allow_remote_cluster", "true", True),
        ("allow_remote_cluster", "", False),
        ("companions", "kwok, garbage-collector-controller,kwok", ("kwok", "garbage-collector")),
        ("companions", "auto", ("auto",)),
        ("companions", "none", ()),
        ("max_examples", "0", 0),
        ("max_examples", "", None),
        ("inconclusive", "ok", "ok"),
        ("release_leases", "no", False),
        ("conformance_report", "", None),
        ("report", "sarif, junit,sarif", ("sarif", "junit")),
        ("report", "", ()),
        ("controller_source", "internal/controller/widget.go:7", "internal/controller/widget.go:7"),
        *(("kube_provider", name, name) for name in get_args(ProviderName)),
        *(("profile", name, name) for name in PROFILES),
    ],
)
def test_a_text_becomes_a_value(name: str, text: str, value: object) -> None:
    assert getattr(parsed(**{name: text}), name) == value


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("controller_cmd", "manager 'x", "words as a shell would split them (No closing quotation)"),
        ("controller_cmd", " ", "a command"),
        ("controller_args", "'", "words as a shell would split them (No closing quotation)"),
        *(("controller_start_seconds", text, "a positive number of seconds") for text in ("0", "-1", "soon", "", "nan", "inf")),
        ("controller_metrics", "localhost:8080/metrics", "a URL as http://127.0.0.1:{metrics_port}/metrics"),
        ("crds", "", "a path"),
        ("crds", "config/\udcff", "text in UTF-8"),
        ("controller_cmd", "./manager --name=\udce9", "text in UTF-8"),
        (
            "report",
            "junit,html5",
            "formats, with commas, of these: junit, summary, sarif, badge, badge-json, trace, results, html (there is no 'html5')",
        ),
        *(
            ("controller_source", text, "a path in the controller's repository")
            for text in ("/a.go", "../a.go", "a/../b.go", "a.go:x", "a.go:00", ":1")
        ),
        ("dir", "", "a path"),
        ("before", "", "a path"),
        ("primary", "widgets", "Kind.group, as Widget.example.com"),
        ("kube_provider", "minikube", "one of auto, existing, attach, assets, cache, container, build"),
        ("allow_remote_cluster", "maybe", "one of yes, no, true, false, 1, 0"),
        ("profile", "quick", "one of smoke, standard, thorough, slow"),
        *(("max_examples", text, "a whole number, 0 or more") for text in ("abc", "-1", "1.5")),
        ("inconclusive", "nope", "one of ok, fail"),
        ("release_leases", "maybe", "one of yes, no"),
        ("companions", "none,kwok", "names of companions, with commas ('none' stands alone; leave it out, or the others)"),
        (
            "companions",
            "kwok,garbagecollector",
            "names of companions, with commas (there is no companion 'garbagecollector' (did you mean 'garbage-collector'?)",
        ),
    ],
)
def test_what_is_malformed_is_refused_by_the_name_it_was_given(name: str, text: str, expected: str) -> None:
    with pytest.raises(UsageError) as refused:
        parsed(**{name: text})
    assert str(refused.value).startswith(f"--{name}: expected {expected}")
    assert str(refused.value).endswith(f", found {text!r}")


def test_two_controllers_are_one_too_many() -> None:
    with pytest.raises(UsageError, match="were both given; name one controller"):
        parsed(controller_cmd="./m", controller_image="example.com/m")


def test_only_a_container_has_a_network() -> None:
    assert parsed(controller_image="example.com/m", controller_network="host").controller_network == "host"
    with pytest.raises(UsageError, match="--controller-network is about --controller-image"):
        parsed(controller_cmd="./m", controller_network="host")


def test_an_option_may_be_given_several_times() -> None:
    settings = parse({"controller_env": Given(("A=1", "B=2:3"), "x"), "samples": Given(("b", "a"), "x")})
    assert (settings.controller_env, settings.samples) == ((("A", "1"), ("B", "2:3")), (Path("b"), Path("a")))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("controller_env", "hunter2-secret"),
        ("controller_env", "=hunter2-secret"),
        ("controller_env", "[hunter2-secret=1"),
        ("controller_also", "{name: poller, env: {KEY: hunter2-secret}"),
        ("controller_also", "{name: poller, env: {KEY: hunter2-secret}}"),
        ("external", "{name: db, kind: http, env: URL, url: 'http://root:hunter2-secret@127.0.0.1"),
        ("external", "{name: db, kind: http, env: URL, url: 'http://root:hunter2-secret@127.0.0.1:80'}"),
    ],
)
def test_what_may_be_secret_is_in_no_message(name: str, text: str) -> None:
    with pytest.raises(UsageError, match=f"--{name}: expected .*found something else .not shown here") as refused:
        parsed(**{name: text})
    assert "hunter2" not in str(refused.value)
