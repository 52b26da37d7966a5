"""Commands and routes of a sandbox template.

A template's `commands.py` registers functions when it is imported. `agent-sandbox-server serve --commands commands.py`
imports it in a worker process, serves what it registered, and calls the functions; HTTP, tokens and policy are the
server's. Only the standard library is used.
"""

from .app import SandboxServer, start
from .commands import CommandArg, CommandRegistry, command, default_registry
from .routes import CapabilityGroup, Route, RouteTable, default_table
from .types import ServerRequest, ServerResponse, SSEResponse

__all__ = [
    "CapabilityGroup",
    "CommandArg",
    "CommandRegistry",
    "Route",
    "RouteTable",
    "SSEResponse",
    "SandboxServer",
    "ServerRequest",
    "ServerResponse",
    "command",
    "default_registry",
    "default_table",
    "start",
]
