"""Thirty errors of one line, as people make them, each with the tests of `ci/check` that should find it.

Where unit tests know nothing of what a line does, because it talks to processes or to an API server, a live test has to find the
error. Those, and unit tests that start processes, are named one by one, because a whole file takes a minute; none is in a file
that `ci/check` leaves to the night.
"""

from dataclasses import dataclass
from pathlib import Path

_PACKAGES = "harness/staleproof"


@dataclass(frozen=True, slots=True)
class Slip:
    """One error: in this file, the old text, which is there once, becomes the new text, within a line. `tests`: files of tests, or
    the ids of single ones, as pytest takes them."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def is_live(self) -> bool:
        """Whether it takes processes to find it."""
        return any(test.startswith("suites/integration/") for test in self.tests)


def unit(*tests: str) -> tuple[str, ...]:
    """Of suites/unit: files, as `draw/family`, or single tests, as `plugin/fail::what_is_known_fails_no_test`."""
    return tuple(_id("unit", test) for test in tests)


def live(test: str) -> tuple[str, ...]:
    """One of suites/integration, as `truth::who_made_each_change_is_reported`."""
    return (_id("integration", test),)


def _id(suite: str, said: str) -> str:
    """As pytest spells it."""
    file, colons, name = said.partition("::")
    path = Path("suites", suite, file)
    return f"{path.with_name(f'test_{path.name}.py')}{colons}{f'test_{name}' if name else ''}"


SLIPS = (
    # --- draw
    Slip(
        "fresh-for-no-reason",
        f"{_PACKAGES}/draw/family.py",
        "fresh=draft.turns_away and not observed.relists_at_once",
        "fresh=draft.turns_away or not observed.relists_at_once",
        unit("draw/family"),
    ),
    Slip(
        "short-plans-all-alike",
        f"{_PACKAGES}/draw/order.py",
        "max(seconds[number], LEAST_PLAN_SECONDS)",
        "min(seconds[number], LEAST_PLAN_SECONDS)",
        unit("draw/order"),
    ),
    Slip(
        "exclusive-maximum-exceeded",
        f"{_PACKAGES}/draw/mutations/schema.py",
        'return found - (1 if is_integer else 0.5) * bool(self.own.get("exclusiveMaximum"))',
        'return found + (1 if is_integer else 0.5) * bool(self.own.get("exclusiveMaximum"))',
        unit("draw/mutations/schema", "draw/mutations/texts", "draw/mutations/sample_moves"),
    ),
    Slip(
        "window-ends-where-it-ended",
        f"{_PACKAGES}/draw/shrink.py",
        "Window(now(window.from_step), until, window.seconds)",
        "Window(now(window.from_step), window.until_step, window.seconds)",
        unit("draw/shrink"),
    ),
    Slip(
        "one-step-too-few",
        f"{_PACKAGES}/draw/mutations/trials.py",
        "if cost <= left and",
        "if cost < left and",
        unit("draw/mutations/trials"),
    ),
    Slip(
        "forbidden-field-changed-as-a-whole",
        f"{_PACKAGES}/draw/mutations/allowed.py",
        "any(_is_within(path, each) or _is_within(each, path) for",
        "any(_is_within(path, each) and _is_within(each, path) for",
        unit("draw/mutations/allowed"),
    ),
    # --- assess
    Slip(
        "wrong-one-blamed",
        f"{_PACKAGES}/assess/run/blame.py",
        "for kind in (HarnessBug, SetupError, UsageError):",
        "for kind in (HarnessBug, UsageError, SetupError):",
        unit("assess/run/blame"),
    ),
    Slip(
        "probe-of-a-silent-controller",
        f"{_PACKAGES}/assess/learn/patience.py",
        "if not steps or len(found) < len(firsts):",
        "if not steps and len(found) < len(firsts):",
        unit("assess/learn/patience"),
    ),
    Slip(
        "begun-plan-never-taken-over",
        f"{_PACKAGES}/assess/store/claims.py",
        "if helps and begun.exists():",
        "if helps or begun.exists():",
        unit("assess/store/claims"),
    ),
    Slip(
        "baseline-written-unasked",
        f"{_PACKAGES}/assess/store/known_findings.py",
        "if settings.baseline is None or not settings.update_baseline:",
        "if settings.baseline is None and not settings.update_baseline:",
        unit("assess/store/known_findings"),
    ),
    Slip(
        "crash-of-another-plan-removed",
        f"{_PACKAGES}/assess/store/crashes.py",
        "if fingerprint(crash.plan) != fingerprint(result.plan) or not",
        "if fingerprint(crash.plan) != fingerprint(result.plan) and not",
        unit("assess/store/crashes"),
    ),
    Slip(
        "untouched-controller-blames-a-trial",
        f"{_PACKAGES}/assess/learn/lives.py",
        "if exited is None or not harmed_by or lost_its_lease(exited):",
        "if exited is None or lost_its_lease(exited):",
        unit("assess/learn/lives"),
    ),
    # --- plugin
    Slip(
        "short-run-keeps-half-a-minute",
        f"{_PACKAGES}/assess/run/budget.py",
        "- min(CLOSING_SECONDS, CLOSING_FACTOR * seconds)",
        "- max(CLOSING_SECONDS, CLOSING_FACTOR * seconds)",
        unit("assess/run/budget"),
    ),
    Slip(
        "no-examples-taken-for-the-default",
        f"{_PACKAGES}/plugin/options.py",
        "profile.examples if settings.max_examples is None else",
        "profile.examples if not settings.max_examples else",
        unit("plugin/options::how_thorough_a_run_is"),
    ),
    Slip(
        "reserve-spent",
        f"{_PACKAGES}/assess/run/queue.py",
        "left = ends - time.monotonic() - job.seconds - reserve",
        "left = ends - time.monotonic() - job.seconds + reserve",
        unit("assess/run/queue::what_a_plan_took_longer_than_expected_is_kept_in_reserve"),
    ),
    Slip(
        "every-run-interrupted",
        f"{_PACKAGES}/plugin/signals.py",
        "return found is not None and found.interrupts.happened",
        "return found is not None",
        unit("plugin/signals::a_worker_that_is_interrupted_ends_the_run"),
    ),
    Slip(
        "cause-told-again",
        f"{_PACKAGES}/plugin/fail.py",
        "known |= {story.cause for story in result.stories}",
        "known = {story.cause for story in result.stories}",
        unit("plugin/fail"),
    ),
    # --- drive
    Slip(
        "short-secret-masked-first",
        f"{_PACKAGES}/drive/process/logs.py",
        "sorted(filter(None, secrets), key=len, reverse=True)",
        "sorted(filter(None, secrets), key=len)",
        unit("drive/process/logs"),
    ),
    Slip(
        "token-sent-in-the-clear",
        f"{_PACKAGES}/drive/subject/metrics.py",
        'token if urlsplit(placed).scheme == "https" and is_loopback(placed) else ""',
        'token if urlsplit(placed).scheme == "https" or is_loopback(placed) else ""',
        unit("drive/subject/metrics"),
    ),
    Slip(
        "secret-kept-in-an-annotation",
        f"{_PACKAGES}/drive/cluster/truth.py",
        ".items() if k != _LAST_APPLIED}",
        ".items() if k == _LAST_APPLIED}",
        live("truth::the_data_of_a_secret_is_digested_and_never_raw"),
    ),
    Slip(
        "killed-controller-comes-back-at-once",
        f"{_PACKAGES}/drive/trial/process_faults.py",
        "if not stays_down:",
        "if stays_down:",
        live("lives::a_controller_that_stays_down_does_nothing_until_the_fault_closes"),
    ),
    Slip(
        "next-child-removed",
        f"{_PACKAGES}/drive/trial/workload.py",
        "children[step.nth - 1 if step.nth > 0 else step.nth]",
        "children[step.nth if step.nth > 0 else step.nth]",
        live("runner_extras::a_child_is_removed_behind_the_controllers_back_and_made_again"),
    ),
    Slip(
        "lease-released-unasked",
        f"{_PACKAGES}/drive/trial/lives.py",
        "if self.release_leases and self.number and not self.bus.dead:",
        "if self.release_leases or self.number and not self.bus.dead:",
        live("runner_extras::a_leader_that_was_killed_works_again_without_waiting_for_its_own_lease"),
    ),
    # --- proxy_addons
    Slip(
        "entries-forgotten-too-early",
        "proxy_addons/journal.py",
        "self._forget(min(self._readers.values()) - self.first, keep=_KEPT)",
        "self._forget(max(self._readers.values()) - self.first, keep=_KEPT)",
        unit("proxy_addons/journal"),
    ),
    Slip(
        "last-byte-awaited",
        "proxy_addons/wire.py",
        "if len(data) >= size else None",
        "if len(data) > size else None",
        unit("proxy_addons/wire"),
    ),
    Slip(
        "rejected-write-told-as-executed",
        "proxy_addons/request_faults.py",
        "exchange.executed, exchange.client_status = flow.response is not None, answer",
        "exchange.executed, exchange.client_status = flow.response is None, answer",
        live("faults_calls::a_rejected_request_is_not_executed"),
    ),
    Slip(
        "streams-of-all-resources-severed",
        "proxy_addons/proxy_state.py",
        "watch.gate.sever(how), resource)",
        "watch.gate.sever(how))",
        live("proxy_faults::an_expire_command_ends_every_stream_of_the_resource"),
    ),
    Slip(
        "own-header-sent-upstream",
        "proxy_addons/relay.py",
        'b"host", b"content-length", b"accept-encoding", _FLOW_FIELD,',
        'b"host", b"content-length", b"accept-encoding",',
        live("proxy_upstream_watches::a_watch_asks_upstream_for_plain_json"),
    ),
    Slip(
        "reset-that-is-none",
        "proxy_addons/connections.py",
        '_LINGER_RESET = struct.pack("ii", 1, 0)',
        '_LINGER_RESET = struct.pack("ii", 0, 0)',
        live("faults_streams::every_open_stream_ends_at_once"),
    ),
    Slip(
        "fault-behind-the-last-removed",
        "proxy_addons/control.py",
        "if number >= count:",
        "if number > count:",
        live("control_api::a_parameter_that_makes_no_sense_changes_nothing"),
    ),
)
