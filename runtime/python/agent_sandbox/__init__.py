"""What a sandbox template is written against. Everything is in `agent_sandbox.server`."""
