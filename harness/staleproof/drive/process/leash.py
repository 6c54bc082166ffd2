"""The parent of one program, so that nothing outlives the harness. A script, never imported; standard library only.

It decides when the program must go: when a signal says so, which is forwarded, and when the leash's own standard input ends. Only
the harness holds the other end, so that happens when the harness dies in any way, SIGKILL included. It does not decide what a death
means. One line on standard output says `pid N` or `errno N`; standard error is the log that the program writes to. A descendant
that leaves the program's process group on purpose (a daemon) is out of its reach.

    python -I -S leash.py PROGRAM ARGUMENT…
"""

import contextlib
import os
import select
import signal
import sys
import time

GRACE_SECONDS = 2.0
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT)


def _wake_on_signals() -> int:
    reader, writer = os.pipe()  # neither is inherited (PEP 446)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for number in (signal.SIGCHLD, *FORWARDED):
        signal.signal(number, lambda *_: None)
    return reader


def _spawn(argv: list[str]) -> int:
    """Into its own process group, with no descriptor but /dev/null and the log, and with the default signals."""
    actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, 2, 1)]
    default = [signal.SIGPIPE, signal.SIGXFSZ, *FORWARDED]
    return os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions, setpgroup=0, setsigmask=[], setsigdef=default)


def _send_group(group: int, *numbers: int) -> None:
    for number in numbers:
        try:
            os.killpg(group, number)
        except (ProcessLookupError, PermissionError):  # empty, or (on macOS) nothing but zombies
            return


def _watch(pid: int, signals: int) -> None:
    """Return when the program has exited; it is not reaped yet, so its process group cannot be another's."""
    poll = select.poll()
    poll.register(signals, select.POLLIN)
    poll.register(0, select.POLLIN | select.POLLHUP)
    deadline = None
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        ready = [descriptor for descriptor, _ in poll.poll(left)]
        if signals in ready:
            for number in os.read(signals, 64):
                if number != signal.SIGCHLD:
                    os.kill(pid, number)
        if 0 in ready and not os.read(0, 4096):
            poll.unregister(0)
            _send_group(pid, signal.SIGTERM, signal.SIGCONT)  # a stopped program does not see TERM before CONT
            deadline = time.monotonic() + GRACE_SECONDS
        if deadline is not None and time.monotonic() >= deadline:
            _send_group(pid, signal.SIGKILL)
            deadline = None


def main(argv: list[str]) -> int:
    signals = _wake_on_signals()
    try:
        pid = _spawn(argv)
    except OSError as err:
        os.write(1, b"errno %d\n" % (err.errno or 0))
        return 127
    with contextlib.suppress(BrokenPipeError):  # the harness died first; its end of standard input says so as well
        os.write(1, b"pid %d\n" % pid)
    try:
        _watch(pid, signals)
    finally:
        _send_group(pid, signal.SIGKILL)  # what the program left behind in its group
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # only os.write was used: nothing to flush
