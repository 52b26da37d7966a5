"""A template with commands, routes of its own, and a stream.

Served by `agent-sandbox-server serve --commands commands.py`, or as a script: `python commands.py`.
"""

import json

from agent_sandbox.server import (
    CapabilityGroup,
    ServerResponse,
    SSEResponse,
    command,
    default_table,
    start,
)

table = default_table()
table.enable_group(CapabilityGroup.DEV_TOOLS)


@command("hello", description="Say hello.")
def hello(name: str = "World") -> str:
    return f"Hello, {name}!"


@command("add", description="Add two numbers.", scopes=("system:read",))
def add(a: int, b: float = 0.5, negate: bool = False) -> float:
    return -(a + b) if negate else a + b


@command(hidden=True)
def _debug_info() -> dict:
    import platform

    return {"python": platform.python_version()}


@table.route("GET", "/hello/{name}", group=CapabilityGroup.COMMANDS)
def hello_route(request) -> ServerResponse:
    """Greet by path."""
    name = getattr(request, "path_params", {}).get("name", "World")
    return ServerResponse.ok({"greeting": f"Hello, {name}!"})


@table.route("POST", "/my/stream", group=CapabilityGroup.COMMANDS, streaming=True)
def my_stream(request):
    """Count in events."""
    count = (request.body or {}).get("count", 3)
    if not isinstance(count, int) or count <= 0:
        return ServerResponse.error(400, "Invalid 'count'", "ValueError")

    def events():
        for step in range(count):
            yield f"event: progress\ndata: {json.dumps({'step': step + 1})}\n\n"
        yield f"event: done\ndata: {json.dumps({'total': count})}\n\n"

    return SSEResponse(event_iterator=events())


@table.route("GET", "/public/status", group=CapabilityGroup.COMMANDS, auth_required=False)
def public_status(request) -> ServerResponse:
    """Tell that the template is there."""
    return ServerResponse.ok({"status": "running", "public": True})


start(9000)
