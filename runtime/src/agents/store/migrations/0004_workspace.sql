-- Restore points of workspaces, MCP servers, and skills. The content of restore points is in shadow stores, one a
-- workspace, beside the database.

CREATE TABLE checkpoints (
    no INTEGER PRIMARY KEY,
    checkpoint_id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    -- auto, manual or safety.
    kind TEXT NOT NULL,
    label TEXT,
    turn_id TEXT,
    -- The topmost tree; none where the workspace could not be kept, and then the reason.
    tree TEXT,
    reason TEXT,
    files INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    -- JSON array of {path, why}.
    skipped TEXT NOT NULL DEFAULT '[]',
    created_at REAL NOT NULL
) STRICT;
CREATE INDEX checkpoints_by_session ON checkpoints (session, no);
CREATE INDEX checkpoints_by_turn ON checkpoints (turn_id) WHERE turn_id IS NOT NULL;

-- Stretches in which a session itself changed its workspace: its turns, and restores. What changes outside of them was
-- somebody else.
CREATE TABLE spans (
    no INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    -- None for a restore.
    turn_id TEXT UNIQUE,
    checkpoint INTEGER NOT NULL REFERENCES checkpoints (no) ON DELETE CASCADE,
    -- The workspace at its end; none while it goes on, and where it could not be kept.
    end_tree TEXT,
    ended_at REAL
) STRICT;
CREATE INDEX spans_by_session ON spans (session, no);
CREATE INDEX spans_by_checkpoint ON spans (checkpoint);

CREATE TABLE mcp_servers (
    name TEXT PRIMARY KEY,
    -- JSON object: transport, command, args, url, env, headers, env_from, headers_from, default_for.
    definition TEXT NOT NULL,
    -- JSON object of what the last check found.
    last_check TEXT,
    updated_at REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE skills (
    name TEXT PRIMARY KEY,
    description TEXT NOT NULL,
    -- JSON arrays: agents; directories.
    targets TEXT NOT NULL,
    cwds TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    updated_at REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE skill_files (
    skill TEXT NOT NULL REFERENCES skills (name) ON DELETE CASCADE,
    path TEXT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (skill, path)
) STRICT, WITHOUT ROWID;

-- Files that were put into the skills folder of an agent. They outlive the skill until the last session that uses them
-- is closed, and are taken away only where they still are what was put there.
CREATE TABLE skill_installs (
    session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
    skill TEXT NOT NULL,
    -- Absolute.
    path TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (session, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX skill_installs_by_path ON skill_installs (path);
