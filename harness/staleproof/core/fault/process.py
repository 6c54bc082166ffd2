"""Legal faults about the controller's process: killed, restarted, paused. The runner does them; the proxy only keeps time.

Any program may be killed or stopped at any moment; the cluster around it goes on.
"""

from collections.abc import Iterator
from typing import ClassVar, Literal

from staleproof.core.fault.decision import PASS, AnswerDecision, RequestDecision, Stall
from staleproof.core.fault.effects import Effect, Twin
from staleproof.core.fault.model import ANY, CallFault, Fault, Misfit, Resource, Verb, unanswered
from staleproof.core.fault.need import Need, Tries
from staleproof.core.history.request import ApiRequest


class Kill(CallFault, frozen=True, kw_only=True, tag="Kill"):
    """Kill the controller (SIGKILL) at its nth write: `before` it is sent, or `after` it was committed and before it is answered.

    The controller is started again at once, or with `stays_down` when the fault closes.
    """

    row = "29, 30"
    does = ("kills", "restarts")
    says = "it was to be killed at a write to {}"
    tries: ClassVar[Tries] = {"stays_down": (False,)}
    often = 2
    needs_runner = True
    verb: Verb = "create"
    moment: Literal["before", "after"] = "after"
    stays_down: bool = False

    @property
    def twin(self) -> Twin:
        return Twin("restarts", "closing" if self.stays_down else "within")

    def on_request(self, request: ApiRequest, nth: int) -> RequestDecision:
        return Stall("reset") if self.moment == "before" and nth == self.nth else PASS

    def on_answer(self, request: ApiRequest, nth: int) -> AnswerDecision:
        return Stall("reset") if self.moment == "after" and nth == self.nth else PASS

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.times != 1:
            yield Misfit("times: one fault kills once; use several")
        if self.moment == "after":
            yield from unanswered(self.verb)


class _Process(Fault, frozen=True, kw_only=True):
    executed_by = "runner"
    needs_runner = True
    acts_on = "process"
    needs: ClassVar[Need] = "nothing"
    resource: Resource = ANY

    def misfits(self) -> Iterator[Misfit]:
        yield from super().misfits()
        if self.resource != ANY or self.namespace or self.name or self.stream is not None:
            yield Misfit('it concerns the whole process; leave resource ("*"), namespace, name and stream out')


class Restart(_Process, frozen=True, kw_only=True, tag="Restart"):
    """Stop the controller (SIGKILL, or with `gently` SIGTERM) and start it again: at once, or with `stays_down` when it closes."""

    row = "7"
    does = ("restarts",)
    says = "it was restarted"
    lasts = "rest"
    tries: ClassVar[Tries] = {"stays_down": (False,)}  # down it is for a step
    gently: bool = False
    stays_down: bool = False

    @property
    def effects(self) -> frozenset[Effect]:
        return super().effects | {"terminates"} if self.gently else super().effects

    @property
    def stops_work(self) -> bool:
        return self.stays_down

    @property
    def kind(self) -> str:
        return f"{self.tag} (down)" if self.stays_down else self.tag

    @property
    def twin(self) -> Twin:
        return Twin("restarts", "closing" if self.stays_down else "opening")


class Pause(_Process, frozen=True, kw_only=True, tag="Pause"):
    """Stop the controller's process (SIGSTOP) while the fault is open, as a starved node or a debugger does."""

    row = "8"
    does = ("pauses",)
    says = "its process was stopped"
    lasts = "step"
