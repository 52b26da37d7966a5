"""Starting the server.

In the worker of a running server there is nothing to start: `start` notes what is to be served and returns. Run as a
script, a template becomes the server: `start` executes `agent-sandbox-server serve --commands <the script>`.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import Any, Optional

from .commands import CommandRegistry, default_registry
from .routes import RouteTable, default_table

BINARY = "agent-sandbox-server"


class Served:
    """What the worker serves: the defaults, unless a server of the template's own says otherwise."""

    in_worker = False
    registry: CommandRegistry = default_registry()
    table: RouteTable = default_table()


class SandboxServer:
    """A server with its own registry or table."""

    def __init__(
        self,
        host: str = "0.0.0.0",
        registry: Optional[CommandRegistry] = None,
        route_table: Optional[RouteTable] = None,
        policy: Any = None,
    ) -> None:
        self.host = host
        self.registry = default_registry() if registry is None else registry
        self.route_table = default_table() if route_table is None else route_table
        self.policy = policy

    def serve(self, port: int = 9000) -> None:
        """Serves until the process is told to stop. Within a worker it returns at once."""
        self.registry.freeze()
        if Served.in_worker:
            Served.registry, Served.table = self.registry, self.route_table
            return
        program = os.environ.get("AGENT_SANDBOX_SERVER") or shutil.which(BINARY)
        if not program:
            raise RuntimeError(f"{BINARY} is not in PATH")
        script = os.path.abspath(sys.argv[0])
        words = [program, "serve", "--host", self.host, "--port", str(port), "--commands", script]
        environment = dict(os.environ)
        if isinstance(self.policy, (str, os.PathLike)):
            words += ["--policy", os.fspath(self.policy)]
        elif self.policy is not None:
            environment["ABX_SERVER_POLICY"] = json.dumps(self.policy)
        sys.stdout.flush()
        sys.stderr.flush()
        os.execve(program, words, environment)


def start(port: int = 9000, host: str = "0.0.0.0", policy: Any = None) -> None:
    """Serves the default registry and table."""
    SandboxServer(host=host, policy=policy).serve(port=port)
