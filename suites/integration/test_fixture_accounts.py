"""The controllers of Accounts on a real API server and a real PostgreSQL server: the honest ones notice what changes outside, each
in its way, and repair it; their twins do not.

Nothing goes wrong here but that: what they do under faults is for trials.
"""

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from staleproof.core.external import CallFault
from staleproof.drive.cluster.api import Api
from staleproof.drive.cluster.control_plane import Silent
from staleproof.drive.programs.go_program import GoProgram, ensure_go_program

from .account_stage import ACCOUNTS, EVERY_SECONDS, OBVIOUS_SECONDS, AccountStage, Roles, accounts, roles_behind_a_relay
from .widget_stage import ROOT
from .widget_stage import kubeconfig as kubeconfig

POLLING = ["periodic", "inline_poll", "side_poller", "status_poller", "go-account"]
NOTIFIED = ["listening", "decoding"]
IN_CHECK = ("inline_poll", "compares_existence")
"""One honest, one guilty; the others are for ci/live."""
ROLE, CHILD = "sample", "sample-role"


def some(*names: str) -> list[object]:
    return [name if name in IN_CHECK else pytest.param(name, marks=pytest.mark.live) for name in names]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Roles]:
    async with roles_behind_a_relay(tmp_path_factory.mktemp("system")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def stage(api: Api, kubeconfig: Path, tmp_path: Path, system: Roles) -> AsyncIterator[AccountStage]:
    yield await AccountStage(api, kubeconfig, tmp_path, system).begin()
    await system.install([])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def go_account(go: Path) -> Path:
    return await ensure_go_program(GoProgram("go-account", ROOT / "fixtures" / "go-account"), Silent())


@pytest.fixture
def argv(request: pytest.FixtureRequest, name: str) -> tuple[str, ...]:
    """The command of the controller that the test is about."""
    if name.startswith("go-account"):
        program: Path = request.getfixturevalue("go_account")
        return (str(program), *name.split()[1:])
    return accounts(name)


async def begun(stage: AccountStage) -> None:
    await stage.create_sample("account-sample.yaml")
    await stage.kept()


@pytest.mark.parametrize("name", some(*POLLING, *NOTIFIED))
async def test_a_role_follows_its_account_and_is_repaired_and_goes_with_it(stage: AccountStage, argv: tuple[str, ...]) -> None:
    async with stage.keeping(*argv):
        await begun(stage)
        await stage.change_spec(connectionLimit=9, login=False)
        await stage.kept(connectionLimit=9)
        await stage.change_role()
        await stage.kept(connectionLimit=9)
        await stage.drop_role()
        await stage.kept(connectionLimit=9)
        await stage.delete(ROLE, ACCOUNTS)
        async with stage.patient("gone"):
            while await stage.stored(ROLE, ACCOUNTS):
                await asyncio.sleep(0.05)
        assert await stage.role() is None


@pytest.mark.parametrize("name", some(*POLLING, *NOTIFIED))
async def test_what_changes_while_the_controller_is_down_is_repaired_afterwards(stage: AccountStage, argv: tuple[str, ...]) -> None:
    async with stage.keeping(*argv):
        await begun(stage)
    await stage.drop_role()
    async with stage.keeping(*argv):
        await stage.kept()


@pytest.mark.parametrize("name", some(*POLLING, *NOTIFIED))
async def test_the_status_tells_of_an_outage_and_of_its_end(stage: AccountStage, argv: tuple[str, ...]) -> None:
    async with stage.keeping(*argv):
        await begun(stage)
        await stage.system.stop()
        await stage.change_spec(connectionLimit=3)
        async with stage.patient("the status tells of the outage"):
            while await stage.reported() != ("False", "Unreachable", 1):
                await asyncio.sleep(0.05)
        await stage.system.start()
        await stage.kept(connectionLimit=3)
        await stage.drop_role()
        await stage.kept(connectionLimit=3)


@pytest.mark.parametrize("name", some("periodic", "inline_poll", "go-account"))
async def test_neither_touches_nor_a_restart_make_more_calls_than_there_are_periods(
    stage: AccountStage, argv: tuple[str, ...]
) -> None:
    loop = asyncio.get_running_loop()
    async with stage.keeping(*argv):
        await begun(stage)
        before, began = await stage.calls(), loop.time()
        for number in range(10):
            await stage.change(ROLE, ACCOUNTS, metadata={"annotations": {"touched": str(number)}})
            await asyncio.sleep(EVERY_SECONDS / 4)
    async with stage.keeping(*argv):
        await asyncio.sleep(EVERY_SECONDS)
        made, periods = await stage.calls() - before, (loop.time() - began) / EVERY_SECONDS
    assert 2 <= made <= periods + 1


@pytest.mark.live
@pytest.mark.parametrize("name", NOTIFIED)
async def test_a_change_that_is_reported_is_repaired_long_before_the_next_poll(
    stage: AccountStage, argv: tuple[str, ...], name: str
) -> None:
    async with stage.keeping(*argv, every_seconds=20.0 if name == "listening" else 5.0):
        await begun(stage)
        await asyncio.sleep(EVERY_SECONDS)  # it has begun to listen
        began = asyncio.get_running_loop().time()
        await stage.drop_role(tell=True)
        await stage.kept()
        assert asyncio.get_running_loop().time() - began < 2 * EVERY_SECONDS


@pytest.mark.live
async def test_a_new_password_each_period_and_the_same_one_for_ever(stage: AccountStage) -> None:
    async with stage.keeping(*accounts("periodic")):
        await begun(stage)
        before = await stage.role()
        await stage.change_role()
        await stage.kept()
        assert await stage.role() == before
        secret = await stage.stored("sample-password", "secrets")
        assert secret is not None
        await stage.logs_in(base64.b64decode(secret["data"]["password"]).decode())
    async with stage.keeping(*accounts("new_passwords")), stage.patient("another password"):
        while await stage.role() == before:
            await asyncio.sleep(0.05)


@pytest.mark.live
@pytest.mark.parametrize("name", ["periodic", "only_after_success"])
async def test_an_error_ends_the_period_of_the_twin(stage: AccountStage, argv: tuple[str, ...], name: str) -> None:
    async with stage.keeping(*argv):
        await begun(stage)
        await stage.system.stop()
        async with stage.patient("the status tells of the outage"):
            while await stage.reported() != ("False", "Unreachable", 1):
                await asyncio.sleep(0.05)
        await asyncio.sleep(EVERY_SECONDS)
        await stage.system.start()
        await stage.drop_role()
        if name == "periodic":
            await stage.kept()
        else:
            await stage.stays_otherwise()
            await stage.change(ROLE, ACCOUNTS, metadata={"annotations": {"touched": "yes"}})
            await stage.kept()


@pytest.mark.parametrize("name", some("compares_existence", "go-account --bug=compares-existence"))
async def test_the_twin_compares_existence_only(stage: AccountStage, argv: tuple[str, ...]) -> None:
    async with stage.keeping(*argv):
        await begun(stage)
        await stage.change_role()
        await stage.stays_otherwise()
        await stage.drop_role()
        await stage.kept()


@pytest.mark.live
async def test_the_twin_asks_when_an_event_wakes_it_and_at_no_other_time(stage: AccountStage) -> None:
    async with stage.keeping(*accounts("on_events")):
        await begun(stage)
        await stage.drop_role()
        await stage.stays_otherwise()
        await stage.change(ROLE, ACCOUNTS, metadata={"annotations": {"touched": "yes"}})
        await stage.kept()


@pytest.mark.live
async def test_the_twins_list_is_lost_at_a_restart(stage: AccountStage) -> None:
    async with stage.keeping(*accounts("forgetful_poller")):
        await begun(stage)
        await stage.change_role()
        await stage.kept()
    async with stage.keeping(*accounts("forgetful_poller")):
        await stage.change_role()
        await stage.stays_otherwise()


@pytest.mark.live
async def test_the_twin_never_finds_out_what_it_was_not_notified_of(stage: AccountStage) -> None:
    async with stage.keeping(*accounts("notify_only")):
        await begun(stage)
        await asyncio.sleep(EVERY_SECONDS)  # it has begun to listen
        await stage.change_role(tell=True)
        await stage.kept()
        await stage.change_role()
        await stage.stays_otherwise()


@pytest.mark.live
@pytest.mark.parametrize("name", ["decoding", "lost_slot"])
async def test_the_twin_makes_a_lost_slot_anew_and_looks_at_nothing(stage: AccountStage, argv: tuple[str, ...], name: str) -> None:
    async with stage.keeping(*argv):
        await begun(stage)
        await asyncio.sleep(EVERY_SECONDS)
        await stage.change_role(tell=True)
        await stage.kept()
    await stage.change_role(tell=True)
    await stage.sql("SELECT pg_drop_replication_slot('staleproof_accounts')")
    async with stage.keeping(*argv):
        if name == "decoding":
            await stage.kept()
        else:
            await stage.stays_otherwise()


@pytest.mark.live
@pytest.mark.parametrize(("name", "again"), [("decoding", 0), ("old_position", 1)])
async def test_the_twin_goes_through_all_changes_again_after_a_restart(
    stage: AccountStage, argv: tuple[str, ...], again: int
) -> None:
    await stage.sql("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots")
    async with stage.keeping(*argv):
        await begun(stage)
        await asyncio.sleep(EVERY_SECONDS)
        await stage.change_role(tell=True)
        await stage.kept()
        await asyncio.sleep(EVERY_SECONDS)
    before = await stage.calls_about()
    async with stage.keeping(*argv):
        await asyncio.sleep(OBVIOUS_SECONDS)
    assert await stage.calls_about() - before == again


@pytest.mark.live
@pytest.mark.parametrize("name", ["in_cluster", "unwatching"])
async def test_what_is_in_the_cluster_comes_back_if_it_is_watched(stage: AccountStage, argv: tuple[str, ...], name: str) -> None:
    async with stage.keeping(*argv):
        await stage.create_sample("account-sample.yaml")
        async with stage.patient("ready"):
            while (await stage.reported())[0] != "True":
                await asyncio.sleep(0.05)
        await stage.delete(CHILD)
        end = asyncio.get_running_loop().time() + OBVIOUS_SECONDS
        while (is_gone := await stage.stored(CHILD) is None) and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(0.05)
        assert is_gone is (name == "unwatching")


@pytest.mark.live
@pytest.mark.parametrize("name", ["status_poller", "overwriting"])
async def test_two_programs_write_one_status(stage: AccountStage, argv: tuple[str, ...], name: str) -> None:
    """The poller has read the account, and waits for the roles; meanwhile the account changes, and the controller reports."""
    async with stage.keeping(*argv):
        await begun(stage)
        await stage.system.install([CallFault(effect="delay", seconds=2.0, mentions="FROM pg_roles", count=1)])
        await stage.change_role()
        await asyncio.sleep(EVERY_SECONDS * 1.2)
        await stage.change_spec(connectionLimit=9)
        observed = []
        end = asyncio.get_running_loop().time() + OBVIOUS_SECONDS
        while asyncio.get_running_loop().time() < end:
            observed.append((await stage.reported())[2] or 0)
            await asyncio.sleep(0.005)
        await stage.kept(connectionLimit=9)
    assert 2 in observed
    assert (observed == sorted(observed)) is (name == "status_poller")
