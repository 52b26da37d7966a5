"""What a route's function is given, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, Optional


@dataclass
class ServerRequest:
    """One request. Credentials are not among its headers: who calls is in `identity`."""

    method: str
    path: str
    query: Dict[str, str] = field(default_factory=dict)
    headers: Dict[str, str] = field(default_factory=dict)
    """By lower-case name."""
    body: Any = None
    """The JSON object of the request; None where it had no body."""
    path_params: Dict[str, str] = field(default_factory=dict)
    identity: str = ""

    @property
    def query_params(self) -> Dict[str, str]:
        return self.query

    def header(self, name: str, default: Optional[str] = None) -> Optional[str]:
        """A header by its name, in any case."""
        return self.headers.get(name.lower(), default)


@dataclass
class ServerResponse:
    """An answer. The body is sent as JSON; bytes are sent as they are."""

    status: int = 200
    body: Any = None
    headers: Dict[str, str] = field(default_factory=dict)

    @classmethod
    def ok(cls, body: Any = None, status: int = 200, headers: Optional[Dict[str, str]] = None) -> "ServerResponse":
        """A success."""
        return cls(status=status, body={} if body is None else body, headers=dict(headers or {}))

    @classmethod
    def error(cls, status: int, message: str, error_type: str = "ValueError", **fields: Any) -> "ServerResponse":
        """A failure, of the shape that every error of the server has."""
        return cls(status=status, body={"error": message, "type": error_type, **fields})


@dataclass
class SSEResponse:
    """A stream of server-sent events. Each element is the text of one event, sent at once."""

    event_iterator: Iterable[str]
    status: int = 200
    headers: Dict[str, str] = field(default_factory=dict)
