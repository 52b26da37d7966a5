"""Named commands: functions that callers run by name."""

from __future__ import annotations

import inspect
import json
import typing
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence

TYPES = ("string", "integer", "float", "boolean")


@dataclass
class CommandArg:
    """One argument of a command."""

    name: str
    type: str = "string"
    required: bool = False
    default: Any = None
    description: str = ""

    def __post_init__(self) -> None:
        if self.type not in TYPES:
            raise ValueError(f"type of argument {self.name!r} must be one of {', '.join(TYPES)}, not {self.type!r}")


@dataclass
class Command:
    """A registered function."""

    name: str
    function: Callable[..., Any]
    description: str
    args: List[CommandArg]
    hidden: bool
    scopes: Sequence[str]

    def manifest(self) -> Dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "args": [
                {
                    "name": arg.name,
                    "type": arg.type,
                    "required": bool(arg.required),
                    "default": _plain(arg.default),
                    "description": arg.description,
                }
                for arg in self.args
            ],
            "hidden": bool(self.hidden),
            "scopes": list(self.scopes),
        }


class CommandRegistry:
    """Commands by name. Frozen when the server starts."""

    def __init__(self) -> None:
        self._commands: Dict[str, Command] = {}
        self._frozen = False

    def register(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        description: str = "",
        args: Optional[Sequence[CommandArg]] = None,
        hidden: bool = False,
        scopes: Sequence[str] = (),
    ) -> None:
        """Adds a command. Without `args` they are inferred from the function's signature."""
        if self._frozen:
            raise RuntimeError(f"the registry is frozen: register {name!r} when the module is imported")
        if name in self._commands:
            raise ValueError(f"command {name!r} is registered twice")
        if isinstance(scopes, str):
            scopes = (scopes,)
        taken = infer(function) if args is None else list(args)
        if not description and function.__doc__:
            description = inspect.cleandoc(function.__doc__).splitlines()[0]
        self._commands[name] = Command(name, function, description, taken, hidden, tuple(scopes))

    def command(self, name: Any = None, **options: Any) -> Any:
        """Registers the decorated function, under its own name where none is given."""
        if callable(name):
            self.register(name.__name__, name)
            return name

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self.register(name or function.__name__, function, **options)
            return function

        return register

    def freeze(self) -> None:
        self._frozen = True

    def get(self, name: str) -> Optional[Command]:
        return self._commands.get(name)

    def all(self) -> List[Command]:
        return list(self._commands.values())

    def __contains__(self, name: object) -> bool:
        return name in self._commands

    def __len__(self) -> int:
        return len(self._commands)


def infer(function: Callable[..., Any]) -> List[CommandArg]:
    """The arguments that a signature tells: int is integer, float is float, bool is boolean, all else string."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # A name in an annotation may not exist where the function runs; then it tells nothing.
        hints = {}
    args = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise ValueError(f"argument {parameter.name!r} is positional only; commands are called by name")
        required = parameter.default is parameter.empty
        hint = hints.get(parameter.name, parameter.annotation)
        default = None if required else parameter.default
        args.append(CommandArg(parameter.name, _type(hint), required, default))
    return args


def _type(hint: Any) -> str:
    inner = [one for one in typing.get_args(hint) if one is not type(None)]
    if typing.get_origin(hint) is not None and len(inner) == 1:
        hint = inner[0]
    return {bool: "boolean", int: "integer", float: "float"}.get(hint, "string")


def _plain(value: Any) -> Any:
    """The value if JSON can carry it; the function has its own default either way."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return None
    return value


_default = CommandRegistry()


def default_registry() -> CommandRegistry:
    """The registry of the module-level decorator."""
    return _default


def command(name: Any = None, **options: Any) -> Any:
    """Registers the decorated function as a command of the default registry.

    Options: `description`, `args`, `hidden`, `scopes`.
    """
    return _default.command(name, **options)
