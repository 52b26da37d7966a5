-- Agents that callers have registered, and what is known of each agent, registered or built in.

CREATE TABLE agents (
    agent_id TEXT PRIMARY KEY,
    -- JSON: the launch recipe. Holds no secret.
    definition TEXT NOT NULL,
    -- The identity that registered it.
    registered_by TEXT NOT NULL,
    updated_at REAL NOT NULL
) STRICT;

CREATE TABLE agent_facts (
    agent_id TEXT PRIMARY KEY,
    -- JSON: the last handshake, with the agent's answer as it came.
    handshake TEXT,
    -- JSON: what is installed in the private folder.
    install TEXT,
    -- Whether it was last signed in or out through this server.
    signed_in INTEGER
) STRICT;
