"""Which lines of a log tell why a controller does not work, in the words of the loggers of several languages."""

import pytest

from staleproof.assess.doctor.controller_log import MOST_LINES, decisive, in_short, is_error, standing_error, usual_error

PAIR = "open /tmp/k8s-webhook-server/serving-certs/tls.crt: no such file or directory"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f'2026-01-02T10:00:00Z\tERROR\tsetup\tproblem running manager\t{{"error": "{PAIR}"}}', True),
        (f'{{"level":"error","ts":"2026-01-02T10:00:00Z","msg":"Reconciler error","error":"{PAIR}"}}', True),
        ('{"level":"info","ts":"2026-01-02T10:00:00Z","msg":"Starting workers","error":""}', False),
        ('E0102 10:00:00.000000       1 reflector.go:166] "Unhandled Error" err="failed to list *v1.Widget"', True),
        ("I0102 10:00:00.000000       1 leaderelection.go:257] attempting to acquire; error is none", False),
        ('time="2026-01-02T10:00:00Z" level=fatal msg="no namespace"', True),
        ("\x1b[31m2026-01-02 10:00:00 ERROR [io.jav.ope.Operator] (main) Could not start\x1b[0m", True),
        ("2026-01-02 10:00:00,000 INFO  [io.quarkus] (main) no error here", False),
        ("[2026-01-02 10:00:00,000] kopf.objects         [ERROR   ] [default/w] Handler 'create_fn' failed", True),
        ("2026-01-02T10:00:00Z  WARN controller: reconcile failed: not yet", True),
        ("2026-01-02T10:00:00Z  WARN controller: nothing to do", False),
        ('{"level":50,"time":1767348000000,"msg":"cannot get it"}', True),
        ('{"level":30,"time":1767348000000,"msg":"errors: 0"}', False),
        ("thread 'main' panicked at src/main.rs:10:5:", True),
        ("KeyError: 'POD_NAMESPACE'", True),
        ("2026-01-02 10:00:00,000 w/a: cannot get it; again in 0.05 s", True),
        ("\tat io.javaoperatorsdk.operator.OperatorException.main(Main.java:10)", False),
        ("", False),
        ("ready", False),
    ],
)
def test_an_error_by_its_level_or_else_by_its_words(line: str, expected: bool) -> None:  # noqa: FBT001
    assert is_error(in_short(line)) is expected


def test_what_is_known_and_errors_decide_each_once_in_their_order() -> None:
    stack = [f"main.main()\n\t/src/main.go:{number}" for number in range(30)]
    log = ["2026-01-02 INFO starts", "2026-01-02 ERROR first at 10:00:00", PAIR, "2026-01-02 ERROR first at 10:00:01", *stack]
    assert decisive(log) == (PAIR, "2026-01-02 ERROR first at 10:00:01")


def test_a_log_without_errors_is_shown_by_its_end() -> None:
    lines = [f"line {chr(97 + number)}" for number in range(20)]
    assert decisive(lines) == tuple(lines[-MOST_LINES:])
    assert decisive([]) == ()


def test_never_more_than_fit() -> None:
    errors = [f"ERROR {chr(97 + number)}" for number in range(20)]
    assert decisive(errors) == tuple(errors[-MOST_LINES:])
    assert decisive([PAIR, *errors]) == (PAIR, *errors[-3:])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            f'2026-01-02\tERROR\tsetup\tproblem running manager\t{{"error": "{PAIR}", "stacktrace": "main.main"}}',
            f"2026-01-02 ERROR setup problem running manager {PAIR}",
        ),
        ('{"level":"error","ts":1,"msg":"Reconciler error","error":"x","stacktrace":"y"}', "ERROR Reconciler error: x"),
        ('{"level":50,"time":1,"msg":"gone","err":{"type":"Error"}}', "ERROR gone: {'type': 'Error'}"),
        ("\x1b[31mERROR\x1b[0m {not JSON", "ERROR {not JSON"),
        ('{"a": 1}', '{"a": 1}'),
        ("[1]", "[1]"),
    ],
)
def test_json_is_read_as_people_read_it(line: str, expected: str) -> None:
    assert in_short(line) == expected


def reconciles(number: int, why: str) -> str:
    identity = f"{number}f7c0a2e-0000-4000-8000-00000000000{number}"
    return f"2026-01-02T10:00:0{number}Z ERROR Reconciler error of {identity}: {why}"


def test_an_error_that_comes_again_lasts() -> None:
    log = [reconciles(1, "no quorum"), "INFO goes on", reconciles(2, "no quorum"), reconciles(3, "other")]
    assert standing_error(log, is_kept_from_work=False) == (log[2], 2)


def test_one_that_came_once_lasts_only_where_it_is_known_or_nothing_was_done() -> None:
    once = [reconciles(1, "no quorum"), "INFO goes on"]
    assert standing_error(once, is_kept_from_work=False) is None
    assert standing_error(once, is_kept_from_work=True) == (once[0], 1)
    known = reconciles(2, "pod x-0 does not have a host assigned")
    assert standing_error([*once, known], is_kept_from_work=False) == (known, 1)


def test_conflicts_are_no_trouble() -> None:
    log = [reconciles(number, "the object has been modified; please apply your changes to the latest version") for number in (1, 2)]
    assert standing_error(log, is_kept_from_work=True) is None
    assert standing_error([], is_kept_from_work=True) is None


BAD = '{{"level":"error","msg":"Reconciler error","namespace":"staleproof-{:08x}","error":"no master URL"}}'
WELL = '{"level":"info","msg":"Starting workers"}'
KNOWN = f'{{"level":"error","msg":"problem running manager","error":"{PAIR}"}}'
LATE = '{"level":"error","msg":"Reconciler error","error":"the object has been modified; please apply your changes"}'


@pytest.mark.parametrize(
    ("logs", "expected"),
    [
        ([[WELL, BAD.format(7), BAD.format(1099)]] * 3, "ERROR Reconciler error: no master URL (6 times in 3 of 3 runs)"),
        ([[BAD.format(7)] * 2, [BAD.format(8)], [WELL]], "ERROR Reconciler error: no master URL (3 times in 2 of 3 runs)"),
        ([[WELL, BAD.format(7)]] * 3, ""),
        ([[KNOWN]] * 3, f"ERROR problem running manager: {PAIR} (3 times in 3 of 3 runs)"),
        ([[BAD.format(7)], [WELL], [WELL]], ""),
        ([[BAD.format(7)]] * 2, ""),
        ([[LATE]] * 3, ""),
        ([[WELL]] * 3, ""),
        ([], ""),
    ],
    ids=["each", "most", "once in each", "once, and known", "one", "too few runs", "a conflict", "none", "no log"],
)
def test_the_error_that_most_runs_without_faults_have(logs: list[list[str]], expected: str) -> None:
    assert usual_error(logs) == expected
