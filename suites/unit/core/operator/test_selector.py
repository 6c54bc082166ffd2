"""Which objects fit a selector."""

import pytest

from staleproof.core.operator.selector import fits

LABELLED = {"metadata": {"name": "a", "namespace": "ns", "labels": {"app": "x", "example.com/tier.of": "one", "empty": ""}}}
BARE = {"metadata": {"name": "kube-system/b", "labels": None}}

CASES = {
    # selector: whether (labelled, bare) fit
    "": (True, True),
    "app=x": (True, False),
    "app==x": (True, False),
    "app = y": (False, False),
    "app!=x": (False, True),
    "app": (True, False),
    "!app": (False, True),
    "empty=": (True, False),
    "app in (y, x)": (True, False),
    "app in (y)": (False, False),
    "app notin (x,y)": (False, True),
    "empty in (,z)": (True, False),
    "app=x,example.com/tier.of=one": (True, False),
    "app in (x,y),example.com/tier.of!=one": (False, False),
    "metadata.name=a": (True, False),
    "metadata.name=b": (False, True),  # its name has the namespace before it
    "metadata.name!=a,metadata.namespace=": (False, True),
    "metadata.namespace=ns": (True, False),
    "app=x&metadata.name=a": (True, False),
    # --- not read
    "spec.nodeName=n": (None, None),
    "app=x&spec.nodeName=n": (None, False),
    "status.phase!=Running": (None, None),
    "type=Opaque": (None, None),
    "type=kubernetes.io/tls": (None, None),
    "metadata.name": (None, None),
    "app>1": (None, None),
    "0/2": (None, None),
    "shardRange(object.metadata.uid, '0x0', '0x8')": (None, None),
    r"spec.of=a\,app=y": (None, None),
}


@pytest.mark.parametrize(("selector", "expected"), CASES.items(), ids=CASES)
def test_what_fits(selector: str, expected: tuple[bool | None, bool | None]) -> None:
    assert (fits(selector, LABELLED), fits(selector, BARE)) == expected
