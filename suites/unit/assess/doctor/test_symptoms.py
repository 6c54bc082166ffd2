"""Each symptom is recognised by each of its signs, and by the right row; its cure names what there is."""

import re

import pytest

from staleproof.assess.doctor.symptom import Sign, Symptom
from staleproof.assess.doctor.symptoms import SYMPTOMS, explained, table
from staleproof.settings import OPTIONS

SIGNS = [(symptom, sign) for symptom in SYMPTOMS for sign in symptom.signs]
PLACEHOLDERS = {"{kubeconfig}", "{metrics_port}", "{webhook_port}", "{webhook_cert_dir}"}


def in_order(text: str) -> re.Pattern[str]:
    """The sentence with anything in place of its names."""
    return re.compile(re.sub(r"<\w+>", ".+", re.sub(r"([().?*{}])", r"\\\1", text)))


@pytest.mark.parametrize(("symptom", "sign"), SIGNS, ids=[sign.example[:60] for _, sign in SIGNS])
def test_a_sign_is_explained_by_its_own_row(symptom: Symptom, sign: Sign) -> None:
    (found,) = explained([sign.example], sign.source)
    assert in_order(symptom.cause).fullmatch(found.cause)
    assert in_order(symptom.cure).fullmatch(found.cure)
    assert "<" not in found.cause + found.cure


@pytest.mark.parametrize("symptom", SYMPTOMS, ids=[symptom.cause[:60] for symptom in SYMPTOMS])
def test_a_cure_names_options_and_placeholders_that_there_are(symptom: Symptom) -> None:
    known = {option.flag.replace("--staleproof-", "--") for option in OPTIONS}
    own = {"--kubeconfig", "--webhook-cert-path", "--leader-elect", "--leader-election-namespace", "--metrics-bind-address"}
    said = set(re.findall(r"--[a-z-]+[a-z]", symptom.cure))
    assert said <= known | own | {"--health-probe-bind-address"}
    assert set(re.findall(r"\{\w+\}", symptom.cure)) <= PLACEHOLDERS


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ('{"level":"error","error":"open /certs/tls.key: no such file or directory"}', "certificate for its webhooks"),
        (f'{{"error":"open {"/var/run/secrets/kubernetes.io/serviceaccount"}/ca.crt: no such file"}}', "mounted into every pod"),
        ('{"error":"no matches for kind \\"Certificate\\" in version \\"cert-manager.io/v1\\""}', "does not know Certificate"),
        ("NAMESPACE_LIST is required", "the variable NAMESPACE_LIST"),
        ("dial tcp 172.17.0.4:8080: i/o timeout", "calls 172.17.0.4:8080"),
        ("ERROR: something was not found", ""),
        ("widgets.example.com w not found", ""),
        ("dial tcp 127.0.0.1:34567: connect: connection refused", ""),
        ("Starting workers", ""),
    ],
)
def test_lines_as_operators_write_them(line: str, cause: str) -> None:
    found = explained([line])
    assert (cause in found[0].cause) if cause else not found


def test_each_cause_is_reported_once_and_answers_are_not_looked_for_in_logs() -> None:
    taken = ["listen tcp :8080: bind: address already in use", "listen tcp :8081: bind: address already in use"]
    assert len(explained(taken)) == 1
    assert not explained(["list widgets.example.com: 404 NotFound"])


def test_the_table_has_every_sign_and_no_html() -> None:
    printed = table()
    assert len(printed.splitlines()) == 2 + len(SYMPTOMS)
    assert all(sign.example.replace("`", "'").replace("|", "\\|") in printed for _, sign in SIGNS)
    assert "in the namespace NAMESPACE, which" in printed
