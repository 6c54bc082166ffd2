"""Bodies in the Kubernetes protobuf envelope, as the API machinery writes them: just enough of the wire format.

A field is a varint key (number and wire type) and its content; type 2 is a length and so many bytes, 0 a varint, 1 eight bytes,
5 four bytes.
"""


def varint(value: int) -> bytes:
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + varint(value >> 7)


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def number_field(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def fixed_field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | {8: 1, 4: 5}[len(content)]) + content


def envelope(obj: bytes, kind: str = "Pod") -> bytes:
    """`k8s`, and a runtime.Unknown: type, raw object, content encoding and type."""
    return b"k8s\x00" + field(1, field(1, b"v1") + field(2, kind.encode())) + field(2, obj) + field(3, b"") + field(4, b"")
