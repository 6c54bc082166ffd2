"""Whether a new life of the controller has come to the proxy at all: what is said when it opens no watch.

A fold over entries. It decides what is said, and starts and waits for nothing.
"""

from staleproof.core.history.entry import Answered, Asked, Entry, Refused

_PROGRAM = "Does it use the kubeconfig it is given (KUBECONFIG, or {kubeconfig} in its command)?"
_IMAGE = (
    "Its program must use what a pod finds (KUBERNETES_SERVICE_HOST, files in /var/run/secrets/kubernetes.io/serviceaccount), "
    "or the kubeconfig that it is given (KUBECONFIG, or {kubeconfig} in --controller-args)."
)


class FirstContact:
    """What the present life has asked the API server."""

    def __init__(self) -> None:
        self._requests = 0
        self._refused = ""

    def begin_life(self) -> None:
        """Note that a new life begins, which has asked nothing."""
        self._requests, self._refused = 0, ""

    def see(self, entry: Entry) -> None:
        match entry:
            case Asked():
                self._requests += 1
            case Answered(code=code) if code >= 400:
                self._refused = f"; the last that was refused got {code} {entry.reason}".rstrip()
            case Refused(code=code):
                self._refused = f"; its watch of {entry.resource} got {code}"

    def no_watch(self, *, is_image: bool, obstacle: str = "") -> str:
        """What is known of why it opened no watch. `obstacle`: what may keep it from getting here."""
        what = _IMAGE if is_image else _PROGRAM
        if not self._requests and not self._refused:
            return " ".join(filter(None, (f"It has asked for nothing through the proxy: no traffic was seen. {what}", obstacle)))
        made = "1 request that is no watch" if self._requests == 1 else f"{self._requests} requests that are no watches"
        return f"It made {made}{self._refused}."
