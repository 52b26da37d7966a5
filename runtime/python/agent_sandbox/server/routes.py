"""Routes beside the server's own, and the switches of its groups."""

from __future__ import annotations

import enum
import inspect
import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union


class CapabilityGroup(str, enum.Enum):
    """A name for a group of endpoints."""

    CORE = "core"
    COMMANDS = "commands"
    FILE_OPS = "file_ops"
    PROCESS = "process"
    TERMINAL = "terminal"
    SYSTEM = "system"
    DEV_TOOLS = "dev_tools"
    BROWSER = "browser"
    AGENTS = "agents"


@dataclass
class Route:
    """A registered function."""

    method: str
    path: str
    handler: Callable[..., Any]
    group: CapabilityGroup
    auth_required: bool
    streaming: bool
    name: str
    scopes: Optional[Sequence[str]]

    def manifest(self) -> Dict[str, Any]:
        document = inspect.getdoc(self.handler) or ""
        return {
            "method": self.method,
            "path": self.path,
            "group": self.group.value,
            "auth_required": self.auth_required,
            "streaming": self.streaming,
            "name": re.sub("[^a-z0-9]+", "_", self.name.lower()).strip("_"),
            "scopes": None if self.scopes is None else list(self.scopes),
            "summary": document.splitlines()[0] if document else "",
        }


class RouteTable:
    """Routes in the order of their registration, and the switches of groups."""

    def __init__(self) -> None:
        self._routes: List[Route] = []
        self._switches: List[Tuple[CapabilityGroup, bool]] = []

    def register(
        self,
        method: str,
        path: str,
        handler: Callable[..., Any],
        *,
        group: Union[CapabilityGroup, str],
        auth_required: bool = True,
        streaming: bool = False,
        name: Optional[str] = None,
        scopes: Optional[Sequence[str]] = None,
    ) -> None:
        """Adds a route. `{param}` in the path is one segment, found in `request.path_params`.

        In a policy its id is `custom:` and its name, lower case with `_` for all but letters and digits.
        """
        method = method.upper()
        if isinstance(scopes, str):
            scopes = (scopes,)
        named = name or f"{method} {path}"
        group = CapabilityGroup(group)
        self._routes.append(Route(method, path, handler, group, auth_required, streaming, named, scopes))

    def route(self, method: str, path: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Registers the decorated function."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self.register(method, path, function, **options)
            return function

        return register

    def enable_group(self, group: Union[CapabilityGroup, str]) -> None:
        """Opens a group, unless a preset or a policy says otherwise."""
        self._switches.append((CapabilityGroup(group), True))

    def disable_group(self, group: Union[CapabilityGroup, str]) -> None:
        """Closes a group, unless a preset or a policy says otherwise."""
        if CapabilityGroup(group) is CapabilityGroup.CORE:
            raise ValueError("the group 'core' cannot be disabled: liveness and discovery stay open")
        self._switches.append((CapabilityGroup(group), False))

    @property
    def routes(self) -> List[Route]:
        return list(self._routes)

    @property
    def switches(self) -> List[Tuple[CapabilityGroup, bool]]:
        return list(self._switches)


_default = RouteTable()


def default_table() -> RouteTable:
    """The table that `start` serves."""
    return _default
