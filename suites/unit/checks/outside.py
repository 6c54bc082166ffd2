"""Scripts of controllers that keep something in an external system: `db`, in which `roles/w` belongs to widget `w`."""

from typing import Any, Literal, Self

import msgspec

from staleproof.checks.trial import Trial
from staleproof.core.declared import AnyDeclared, DeclaredPostgreSQL, Every, Within
from staleproof.core.fault import AnyFault
from staleproof.core.history.entry import (
    Called,
    CallEffect,
    CallId,
    Drifted,
    ExternalState,
    Held,
    Notified,
    Replied,
    SystemState,
    SystemTurned,
)
from staleproof.core.history.history import History, HistoryRole
from staleproof.core.plan.step import Step

from .draft import STEPS
from .script import NAMESPACE, WIDGETS, Script

NEVER = DeclaredPostgreSQL(name="db", repairs="never")
WITHIN_5 = DeclaredPostgreSQL(name="db", repairs=Within(within="5s"))
EVERY_5, EVERY_MINUTE = (DeclaredPostgreSQL(name="db", polls=Every(every=every)) for every in ("5s", "1m"))
NO_POLLS = DeclaredPostgreSQL(name="db", polls="never")


class Outside(Script):
    """`declared` is what the user says of the systems."""

    def __init__(
        self,
        *faults: AnyFault,
        declared: tuple[AnyDeclared, ...] = (),
        namespace: str = NAMESPACE,
        role: HistoryRole = "trial",
        steps: tuple[Step, ...] = STEPS,
    ) -> None:
        super().__init__(*faults, namespace=namespace, role=role, steps=steps)
        self.plan = msgspec.structs.replace(self.plan, external=declared)
        self._call = 0
        self._things: dict[tuple[str, str], Held] = {}
        self.reads()

    # --- the system

    def reads(self) -> Self:
        """The harness reads what the system holds."""
        return self.adds(ExternalState, system="db", objects=tuple(self._things[thing] for thing in sorted(self._things)))

    def has(self, external: str = "w", *, of: str = "w", **fields: Any) -> Self:  # noqa: ANN401  # JSON
        """A role is there from now on, or has other fields; it has not been read yet."""
        owner = {"resource": WIDGETS, "namespace": self.namespace, "name": of} if of else {}
        self._things["roles", external] = Held(
            kind="roles", external=external, digest=repr(sorted(fields.items())), fields=fields, **owner
        )
        return self

    def has_no(self, external: str = "w") -> Self:
        del self._things["roles", external]
        return self

    def drifts(self, external: str = "w", *, change: Literal["created", "changed", "deleted"] = "deleted", **fields: Any) -> Self:  # noqa: ANN401
        """Another user deletes, changes or makes a role; the system is read before and after."""
        self.reads()
        owner = self._things.get(("roles", external))
        of = owner.name if owner is not None else ""
        if change == "deleted":
            self.has_no(external)
        else:
            self.has(external, of=of, **fields)
        where = {"resource": WIDGETS, "namespace": self.namespace, "name": of} if of else {}
        return self.adds(Drifted, system="db", change=change, kind="roles", external=external, **where).reads()

    def turns(self, state: SystemState) -> Self:
        return self.adds(SystemTurned, system="db", state=state)

    def notifies(self, of: str = "w", **fields: Any) -> Self:  # noqa: ANN401
        where = {"resource": WIDGETS, "namespace": self.namespace, "name": of} if of else {}
        return self.adds(Notified, system="db", channel="roles", **where, **fields)

    # --- the controller

    def calls(self, verb: str = "SELECT", text: str = "SELECT 1 FROM pg_roles WHERE rolname = $1", *, of: str = "w") -> Self:
        """It calls, and has no answer yet."""
        self._call += 1
        where = {"resource": WIDGETS, "namespace": self.namespace, "name": of} if of else {}
        return self.adds(Called, call=CallId(self._call), system="db", client="controller", verb=verb, text=text, **where)

    def answered(
        self, outcome: Literal["ok", "fail", "unknown"] = "ok", *, code: str = "", effect: CallEffect | None = None, call: int = 0
    ) -> Self:
        """The last call, or this one, is answered."""
        executed = {"ok": True, "fail": False, "unknown": None}[outcome]
        return self.adds(
            Replied, call=CallId(call or self._call), system="db", outcome=outcome, code=code, executed=executed, effect=effect
        )

    def looks(self, *, of: str = "w") -> Self:
        return self.calls(of=of).answered()

    def writes(self, verb: str = "CREATE", *, of: str = "w") -> Self:
        return self.calls(verb, f"{verb} ROLE w", of=of).answered()

    def makes(self, external: str = "w", *, of: str = "w", **fields: Any) -> Self:  # noqa: ANN401
        """It makes a role, or changes it, and the harness reads that."""
        return self.writes(of=of).has(external, of=of, **fields).reads()

    def follows(self, note: int) -> Self:
        """It writes the ConfigMap that goes with the widget."""
        return self.updates("w-c", "configmaps", subresource="", data={"note": note})

    def polls(self, times: int, seconds: float, *, of: str = "w") -> Self:
        """It looks so many times, with so many seconds before each."""
        for _ in range(times):
            self.passes(seconds).looks(of=of)
        return self


def settled_role(script: Outside) -> Outside:
    """Widget `w` is applied, its role made and read, and the step is over."""
    return script.step(1, "apply").applied("w", spec=1).makes(limit=5).says(1, ready=1).idle(1).passes(3.0)


def fault_free(workload: Any, *, number: int = 1) -> History:  # noqa: ANN401  # of any script of this kind
    """A reference of this workload."""
    history: History = workload(Outside(namespace=f"ref-{number}", role="reference")).ends()
    return history


def beside(script: Outside, workload: Any) -> Trial:  # noqa: ANN401
    """A trial with two references of the same workload."""
    return Trial(script.ends(), (fault_free(workload), fault_free(workload, number=2)))
