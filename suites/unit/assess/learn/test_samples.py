"""What the samples of a run are taken for, and what each primary among them needs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from staleproof.assess.learn.observations import keep, keep_roles
from staleproof.assess.learn.samples import Samples, may_need, recall_all
from staleproof.core.plan.manifest import Manifest
from staleproof.core.plan.plan import Subject
from staleproof.draw.mutations.allowed import Mutations
from staleproof.errors import UsageError

from ...draw.seen import widgets

CONTROLLER = Subject(command=("./bin/manager",))


def obj(kind: str, name: str, **spec: Any) -> Manifest:  # noqa: ANN401  # JSON
    return {"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "stringData": {"password": "hunter2xyz"}}
WIDGET, ISSUER, STORE = obj("Widget", "w", issuerRef={"name": "i"}), obj("Issuer", "i"), obj("Store", "s")
SAMPLES = Samples(primaries=(WIDGET, ISSUER, STORE), before=(SECRET,))


def test_what_the_controller_does_not_watch_all_others_need() -> None:
    assert SAMPLES.of(["primary", "primary", "before"]) == [(WIDGET, (SECRET, STORE, ISSUER)), (ISSUER, (SECRET, STORE))]


def test_what_was_left_out_is_there_for_those_that_mention_it() -> None:
    assert SAMPLES.of(["primary", "left out", "left out"]) == [(WIDGET, (SECRET, ISSUER))]


def test_what_has_no_order_is_the_users_to_mend() -> None:
    circle = (obj("Store", "a", storeRef={"name": "b"}), obj("Store", "b", storeRef={"name": "a"}))
    with pytest.raises(UsageError, match="in a circle: Store/"):
        Samples(primaries=(WIDGET, *circle)).of(["primary", "before", "before"])


def test_a_dry_run_knows_what_an_earlier_run_has_shown(tmp_path: Path) -> None:
    seen = replace(widgets(), sample=WIDGET, before=(SECRET, STORE, ISSUER))
    keep(tmp_path, CONTROLLER, seen, Mutations())
    assert recall_all(tmp_path, CONTROLLER, SAMPLES, Mutations()) == ([], ["Widget/w", "Issuer/i", "Store/s"])
    keep_roles(tmp_path, CONTROLLER, SAMPLES.written, ["primary", "left out", "before"])
    assert recall_all(tmp_path, CONTROLLER, SAMPLES, Mutations()) == ([seen], [])
    assert not [file for file in (tmp_path / "observed").iterdir() if b"hunter2xyz" in file.read_bytes()]


def test_what_a_sample_may_need_and_does_not_name_is_reported_with_the_cure() -> None:
    hint = may_need(WIDGET, (SECRET, ISSUER), (WIDGET, obj("Widget", "v"), ISSUER, STORE))
    cure = "--staleproof-primary=Widget.example.com (or --primary) has them all applied before it"
    assert hint == f". If it needs other samples (Store/s), {cure}"
    assert may_need(WIDGET, (ISSUER,), (WIDGET, obj("Widget", "v"), ISSUER)) == ""
    assert "(K0/o, K1/o, K2/o, K3/o, K4/o, …)" in may_need(WIDGET, (), [obj(f"K{number}", "o") for number in range(9)])
