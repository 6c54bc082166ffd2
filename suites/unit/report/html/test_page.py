"""One file: what is in its markup is ours alone."""

import base64
import hashlib
import re

from staleproof.checks.judge import judge
from staleproof.checks.story.narrative import stories
from staleproof.report.html.document import Page
from staleproof.report.html.of_trial import page_of_trial
from staleproof.report.html.page import packed, render, unpacked

from ...judged import result


def page(name: str = "naive-hidden-creates") -> Page:
    done = result(name)
    return page_of_trial("001", done.history, done.verdicts, stories(judge(done.history), done.history))


def test_the_policy_names_the_script_and_the_styles_and_allows_nothing_else() -> None:
    html = render(page()).decode()
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert found is not None
    policy = found[1]

    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        text = html.rpartition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy


def test_nothing_is_loaded_from_anywhere() -> None:
    html = render(page()).decode()
    markup = re.sub(r"<(script|style)\b[^>]*>.*?</\1>", "", html, flags=re.DOTALL)

    assert re.findall(r"\b(?:src|href)=", markup) == []
    assert "url(" not in html.partition("<style>")[2].partition("</style>")[0]
    assert "import(" not in html


def test_the_data_comes_back_and_one_page_gives_the_same_bytes() -> None:
    made = page()
    assert unpacked(packed(made)) == made
    assert render(made) == render(page())


def test_names_from_a_cluster_are_not_in_the_markup() -> None:
    html = render(page()).decode()
    assert "sample-klst5" not in html
    assert "staleproof-f26ae4ad" not in html


def test_the_licences_of_the_libraries_are_in_it() -> None:
    html = render(page()).decode()
    data = html.partition('id="data">')[2].partition("</script>")[0]
    assert "Copyright 2010-2021 Mike Bostock" in unpacked(data).licences
