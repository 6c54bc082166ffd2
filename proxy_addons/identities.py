"""Who is who: clients by their bearer tokens, and programs of the subject, of which the API server knows nothing."""

from collections.abc import Mapping


class Identities:
    """Which client a request comes from, by its bearer token. A single nameless client is allowed (client certificates)."""

    def __init__(
        self, tokens: Mapping[str, str], default: str, programs: Mapping[str, str] | None = None, onward_token: str = ""
    ) -> None:
        self._tokens, self._default, self._programs = tokens, default, programs or {}
        self._onward = f"Bearer {onward_token}" if onward_token else ""

    def of(self, authorization: str) -> str:
        scheme, _, token = authorization.partition(" ")
        name = token.strip()
        known = self._programs.get(name) or self._tokens.get(name, "unknown")
        return known if scheme.lower() == "bearer" else self._default

    def onward(self, authorization: str) -> tuple[str, str]:
        """Which further program of the subject it is, and the header that the API server gets; the name is empty for the controller
        itself, or any other client, whose header stays what it is."""
        scheme, _, token = authorization.partition(" ")
        program = self._programs.get(token.strip(), "") if self._programs and scheme.lower() == "bearer" else ""
        return (program, self._onward) if program else ("", authorization)
