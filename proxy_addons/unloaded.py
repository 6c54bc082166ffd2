"""What mitmproxy imports and this proxy has no use for: half of the time that it takes to load.

`mitmproxy.addons` imports every addon there is, with a web server and LDAP; ruamel.yaml reads option files, and there are none.
Such a package is put in place empty. A client that asks for something in it gets all of it then, so no version of mitmproxy misses
anything.
"""

import importlib.util
import sys
from typing import Any

_ONLY_ITS_MODULES = "mitmproxy.addons"
_NOTHING = "ruamel.yaml"


def leave_unloaded() -> None:
    """Call it before anything imports mitmproxy."""
    _put_empty(_NOTHING)
    _put_empty(_ONLY_ITS_MODULES, with_modules=True)


def _put_empty(name: str, *, with_modules: bool = False) -> None:
    """Have this package loaded only when an attribute of it is asked for; `with_modules`: that is not one of its modules, which
    are imported by themselves."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None or name in sys.modules:
        return
    package, load = importlib.util.module_from_spec(spec), spec.loader.exec_module

    def missing(attribute: str) -> Any:  # noqa: ANN401  # whatever the package has
        if attribute.startswith("__") or (with_modules and importlib.util.find_spec(f"{name}.{attribute}")):
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        del package.__getattr__
        load(package)
        return getattr(package, attribute)

    package.__getattr__ = missing  # type: ignore[method-assign]
    sys.modules[name] = package
    parent, _, child = name.rpartition(".")
    setattr(sys.modules[parent], child, package)
