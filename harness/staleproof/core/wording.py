"""Words that every message needs."""


def plural(number: int, noun: str) -> str:
    """The number with its noun: 1 pod, 2 policies, 3 ingresses."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith(("s", "x", "ch")):
        return f"{number} {noun}es"
    return f"{number} {noun[:-1]}ies" if noun.endswith("cy") or noun.endswith("ty") else f"{number} {noun}s"
