"""How a command that serves until it is told to stop is told."""

import asyncio
import signal


def cancel_on_signals() -> None:
    """Ctrl-C and TERM cancel the task that calls this; a second one also ends the wait for what it then closes."""
    task = asyncio.current_task()
    if task is not None:
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
