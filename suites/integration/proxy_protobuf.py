"""Just enough of Kubernetes' protobuf to write the bodies that a typed client-go client sends. It reads nothing.

Field numbers: generated.proto of apimachinery pkg/runtime, apimachinery pkg/apis/meta/v1 and api core/v1.
"""

from collections.abc import Mapping

MAGIC = b"k8s\0"
MEDIA_TYPE = "application/vnd.kubernetes.protobuf"


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, value: str | bytes) -> bytes:
    """A string, or a message."""
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def document(api_version: str, kind: str, raw: bytes) -> bytes:
    """runtime.Unknown: typeMeta=1 (apiVersion=1 kind=2) raw=2."""
    return MAGIC + field(1, field(1, api_version) + field(2, kind)) + field(2, raw)


def config_map(name: str, binary_data: Mapping[str, bytes]) -> bytes:
    """metadata=1 (name=1), binaryData=3: a map, so each entry is key=1 value=2."""
    entries = (field(3, field(1, key) + field(2, value)) for key, value in binary_data.items())
    return document("v1", "ConfigMap", field(1, field(1, name)) + b"".join(entries))


def delete_options(*, uid: str = "", revision: str = "") -> bytes:
    """preconditions=2 (uid=1 resourceVersion=2)."""
    wanted = (field(1, uid) if uid else b"") + (field(2, revision) if revision else b"")
    return document("v1", "DeleteOptions", field(2, wanted))
