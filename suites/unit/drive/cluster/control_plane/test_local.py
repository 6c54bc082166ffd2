import pytest

from staleproof.drive.cluster.control_plane.local import port_taken

ETCD = '{"level":"fatal","msg":"discovery failed","error":"listen tcp 127.0.0.1:2379: bind: address already in use"}'
APISERVER = 'err="failed to create listener: failed to listen on 127.0.0.1:6443: listen tcp: address already in use"'


@pytest.mark.parametrize(
    ("lines", "taken"), [(["starting", ETCD], True), ([APISERVER, "exit"], True), ([], False), (["unknown flag: --prot"], False)]
)
def test_the_logs_of_both_programs_say_that_a_port_is_taken(lines: list[str], taken: bool) -> None:  # noqa: FBT001  # a column
    assert port_taken(lines) is taken
