"""What the controller asks for and may not do, as its ServiceAccount: counted over all of its lives, reported at the end of a run.

A 403 has other reasons, too (a namespace that ends, a quota, a webhook), so the API server is asked whether it was its rights.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

from staleproof.core.history.entry import Answered, Asked, Entry, Listed, Refused, RequestId
from staleproof.core.history.request import not_allowed
from staleproof.drive.cluster.api import Api
from staleproof.drive.cluster.control_plane.credentials import account_groups, account_user

_FORBIDDEN = 403
_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


@dataclass(frozen=True, slots=True)
class _Act:
    """What a user may do or not."""

    verb: str
    resource: str
    subresource: str
    namespace: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}{f'/{self.subresource}' if self.subresource else ''}"

    @property
    def attributes(self) -> dict[str, str]:
        name, _, group = self.resource.partition(".")
        given = {"namespace": self.namespace, "subresource": self.subresource, "name": self.name}
        return {"verb": self.verb, "group": group, "resource": name, **{key: text for key, text in given.items() if text}}


@dataclass(slots=True)
class Refusals:
    """Of one ServiceAccount (`namespace/name`); empty: there are none.

    `counts`: how often it asked for each thing that it may not do, as of the last call of `missing_rights`.
    """

    account: str
    counts: Counter[str] = field(default_factory=Counter)
    _pending: dict[RequestId, _Act] = field(default_factory=dict)
    _unsorted: Counter[_Act] = field(default_factory=Counter)

    def see(self, entry: Entry) -> None:
        """Entries of all trials, and of what is between them, as they happen."""
        if not self.account:
            return
        match entry:
            case Asked():
                self._pending[entry.request] = _Act(entry.verb, entry.resource, entry.subresource, entry.namespace, entry.name)
            case Listed():
                self._pending.pop(entry.request, None)
            case Answered():
                act = self._pending.pop(entry.request, None)
                if act is not None and entry.code == _FORBIDDEN and entry.fault is None:
                    self._unsorted[act] += 1
            case Refused(code=code, fault=None) if code == _FORBIDDEN:
                self._unsorted[_Act("watch", entry.resource, "", entry.namespace)] += 1

    async def missing_rights(self, api: Api) -> str:
        """What it asked for and may not do, in words; empty when there is nothing. Counts what was refused since the last time, if
        the ServiceAccount has no right to it."""
        while self._unsorted:
            act, times = self._unsorted.popitem()
            # To all objects, or else, as a Role with `resourceNames` says, to that one.
            may = await self._reviewed(replace(act, name=""), api) or (bool(act.name) and await self._reviewed(act, api))
            if not may:
                self.counts[str(act)] += times
        return "; ".join(not_allowed(self.counts))

    async def _reviewed(self, act: _Act, api: Api) -> bool:
        groups = [*account_groups(self.account), "system:authenticated"]
        spec = {"user": account_user(self.account), "groups": groups, "resourceAttributes": act.attributes}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
        return bool((await api.call("POST", _REVIEWS, review))["status"]["allowed"])
