"""What the proxy process leaves unloaded, and that a client that needs it gets it all the same."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.io

PRELUDE = "import sys; from staleproof.proxy_addons.unloaded import leave_unloaded; leave_unloaded(); "


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", PRELUDE + code], capture_output=True, text=True, check=True).stdout.strip()


def test_a_proxy_loads_no_web_server_and_no_addon_that_it_does_not_use() -> None:
    unused = ["flask", "ldap3", "passlib", "ruamel.yaml.main", "mitmproxy.addons.script", "mitmproxy.contentviews"]
    loaded = f"print([name for name in {unused} if name in sys.modules])"
    assert printed(f"import staleproof.proxy_addons.process; {loaded}") == "[]"


def test_a_client_that_asks_for_more_gets_it() -> None:
    code = "from mitmproxy.addons import default_addons; from mitmproxy.addons import script; import ruamel.yaml as yaml; "
    assert printed(code + "print(len(default_addons()) > 20, yaml.YAML(typ='safe').load('a: 1'))") == "True {'a': 1}"


def test_what_is_loaded_already_stays_as_it_is() -> None:
    code = "from staleproof.proxy_addons.unloaded import leave_unloaded; import mitmproxy.addons as before; leave_unloaded(); "
    done = subprocess.run(
        [sys.executable, "-c", f"{code}import sys; print(sys.modules['mitmproxy.addons'] is before)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "True"
