"""One HTML file. Nothing in it comes from a network, and nothing from a cluster is part of its markup.

The script and the styles are ours; the policy names them by their digests: no other script runs, and no request leaves the page.
What is shown is data: JSON, compressed, in base64, whose letters mean nothing to HTML.
"""

import base64
import gzip
import hashlib
from functools import cache
from pathlib import Path

import msgspec

from staleproof.report.html.document import Page

_HERE = Path(__file__).parent
_TEMPLATE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>staleproof report</title>
<style>{style}</style>
</head>
<body>
<noscript>This report is drawn by the script in this file. Without it, report.json beside it says the same.</noscript>
<script type="text/plain" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def render(page: Page) -> bytes:
    """The file, in UTF-8. The same page gives the same bytes."""
    script, style = _asset("report.js"), _asset("report.css")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'; img-src 'none'; connect-src 'none'"
    )
    complete = msgspec.structs.replace(page, licences=_asset("licences.txt"))
    return _TEMPLATE.format(policy=policy, style=style, script=script, data=packed(complete)).encode()


def packed(page: Page) -> str:
    """The data in the file."""
    return base64.b64encode(gzip.compress(msgspec.json.encode(page), mtime=0)).decode()


def unpacked(data: str) -> Page:
    """The page of such data."""
    return msgspec.json.decode(gzip.decompress(base64.b64decode(data)), type=Page)


@cache
def _asset(name: str) -> str:
    return (_HERE / name).read_text()


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
