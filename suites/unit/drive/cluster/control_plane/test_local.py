import socket

from staleproof.drive.cluster.control_plane.local import free_port, port_taken


def test_the_logs_of_both_programs_say_that_a_port_is_taken() -> None:
    etcd = '{"level":"fatal","msg":"discovery failed","error":"listen tcp 127.0.0.1:2379: bind: address already in use"}'
    apiserver = 'err="failed to create listener: failed to listen on 127.0.0.1:6443: listen tcp: address already in use"'
    assert port_taken(["starting", etcd])
    assert port_taken([apiserver, "exit"])
    assert not port_taken([])
    assert not port_taken(["unknown flag: --secure-prot"])


def test_a_free_port_can_be_bound() -> None:
    with socket.socket() as listener:
        port = free_port()
        listener.bind(("127.0.0.1", port))
        assert listener.getsockname()[1] == port
