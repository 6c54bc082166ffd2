"""The few fields that we read in request bodies in the Kubernetes protobuf envelope. The bodies are passed on as they are.

The envelope is `k8s\\0` and a runtime.Unknown whose field 2 is the object (apimachinery pkg/runtime/generated.proto). Every kind
has `ObjectMeta metadata = 1`, every ObjectMeta `string name = 1` and `string resourceVersion = 6`; DeleteOptions has
`Preconditions preconditions = 2` with uid = 1 and resourceVersion = 2, and `repeated string dryRun = 5` (apimachinery
pkg/apis/meta/v1/generated.proto); an Eviction has `DeleteOptions deleteOptions = 2` (api policy/v1/generated.proto).
"""

ENVELOPE = b"k8s\x00"
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5  # wire types
_LONGEST_VARINT = 10


def is_protobuf(body: bytes) -> bool:
    return body.startswith(ENVELOPE)


def name_in(body: bytes) -> str:
    """metadata.name of an object; empty when it has none or cannot be read."""
    return _text(_object(body), 1, 1)


def revision_in(body: bytes) -> str:
    """metadata.resourceVersion of an object; empty when it has none or cannot be read."""
    return _text(_object(body), 1, 6)


def preconditions_in(body: bytes, *, evicts: bool = False) -> tuple[str, str]:
    """uid and resourceVersion that DeleteOptions, or those in an Eviction, insist on; empty where none can be read."""
    options = _options(body, evicts=evicts)
    return _text(options, 2, 1), _text(options, 2, 2)


def is_dry_run_in(body: bytes, *, evicts: bool = False) -> bool:
    """Whether DeleteOptions, or those in an Eviction, say `dryRun`."""
    return bool(_field(_options(body, evicts=evicts), 5))


def _options(body: bytes, *, evicts: bool) -> bytes:
    return _field(_object(body), 2) if evicts else _object(body)


def _object(body: bytes) -> bytes:
    return _field(body.removeprefix(ENVELOPE), 2)


def _text(message: bytes, *path: int) -> str:
    for number in path:
        message = _field(message, number)
    return message.decode(errors="replace")


def _field(message: bytes, wanted: int) -> bytes:
    """The first length-delimited field of this number; empty when there is none, or the message is broken."""
    at = 0
    try:
        while at < len(message):
            key, at = _varint(message, at)
            number, kind = key >> 3, key & 7
            if kind == _BYTES:
                size, at = _varint(message, at)
                if number == wanted:
                    return message[at : at + size]
                at += size
            elif kind == _VARINT:
                _, at = _varint(message, at)
            elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
                at += 8 if kind == _EIGHT_BYTES else 4
            else:
                return b""
    except IndexError:
        pass
    return b""


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(_LONGEST_VARINT):
        byte = message[at + shift]
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:
            return value, at + shift + 1
    raise IndexError("no end of a varint")
