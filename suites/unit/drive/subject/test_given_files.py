"""Configuration files that a controller's command names: their placeholders are replaced in a copy."""

from pathlib import Path

import pytest

from staleproof.core.plan.plan import Subject
from staleproof.drive.subject.given_files import texts_of, with_files
from staleproof.drive.subject.webhooks import webhooks_in

pytestmark = pytest.mark.io

VALUES = {"{metrics_port}": "8085", "{webhook_port}": "9443"}
TEXT = "metrics: {metrics_port}\nhost: '{host}'\n"


@pytest.mark.parametrize("flag", ["--config=", "-c=", ""])
def test_it_gets_a_copy_with_its_placeholders_replaced(flag: str, tmp_path: Path) -> None:
    file, copies = tmp_path / "config.yaml", tmp_path / "given"
    file.write_text(TEXT)
    subject = with_files(Subject(command=("./m", f"{flag}{file}"), arguments=(f"{flag}{file}",)), VALUES, copies)
    copy = copies / file.relative_to("/")
    assert subject == Subject(command=("./m", f"{flag}{copy}"), arguments=(f"{flag}{copy}",))
    assert copy.read_text() == "metrics: 8085\nhost: '{host}'\n"
    assert file.read_text() == TEXT


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.yaml", b"metrics: 8080\n"),
        ("operator.py", b"print(f'{metrics_port}')\n"),
        ("data.json", b"\xff{metrics_port}"),
        ("long.yaml", b"{metrics_port}" + b" " * (1 << 20)),
        ("folder.yaml", None),
    ],
)
def test_what_is_no_configuration_with_placeholders_is_left_as_it_is(name: str, content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / name
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    subject = Subject(
        command=("./m", f"--config={file}"), arguments=(str(tmp_path / "none.yaml"), "x" * 5000 + ".yaml", "a\0.yaml")
    )
    assert with_files(subject, VALUES, tmp_path / "given") == subject
    assert not (tmp_path / "given").exists()


def test_its_program_is_no_configuration(tmp_path: Path) -> None:
    program = tmp_path / "m.conf"
    program.write_text("{metrics_port}")
    subject = Subject(command=(str(program),))
    assert list(texts_of(subject)) == []
    assert with_files(subject, VALUES, tmp_path / "given") == subject


def test_a_file_may_ask_for_the_certificate_and_the_port_of_its_webhooks(tmp_path: Path) -> None:
    file, folder = tmp_path / "config.yaml", tmp_path / "its"
    file.write_text("webhook: {port: {webhook_port}, certDir: '{webhook_cert_dir}'}\n")
    subject = Subject(command=("./m", f"--config={file}"))
    hooks = webhooks_in(folder, subject)
    assert hooks is not None
    with_files(subject, hooks.values, tmp_path / "given")
    assert (tmp_path / "given" / file.relative_to("/")).read_text() == f"webhook: {{port: {hooks.port}, certDir: '{folder}'}}\n"
    file.write_text("webhook: {}\n")
    assert webhooks_in(tmp_path / "other", subject) is None
