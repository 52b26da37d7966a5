//! Where each agent looks for skills, from the top of a workspace.

/// Agents with a folder of their own. Others look in [`USUAL`].
const OWN: [(&str, &str); 8] = [
    ("claude", ".claude/skills"),
    ("codex", ".agents/skills"),
    ("copilot", ".github/skills"),
    ("gemini", ".gemini/skills"),
    ("kimi", ".kimi/skills"),
    ("opencode", ".opencode/skills"),
    ("qoder", ".qoder/skills"),
    ("qwen", ".qwen/skills"),
];

/// The folder that has no agent's name.
pub const USUAL: &str = ".agents/skills";

/// The folder of an agent.
#[must_use]
pub fn of(agent_id: &str) -> &'static str {
    OWN.iter().find(|(agent, _)| *agent == agent_id).map_or(USUAL, |(_, folder)| folder)
}

/// Every folder, each once, with the agents that look there by their own choice.
pub fn all() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let mut folders: Vec<&str> = OWN.iter().map(|(_, folder)| *folder).collect();
    folders.push(USUAL);
    folders.sort_unstable();
    folders.dedup();
    folders.into_iter().map(|folder| {
        (folder, OWN.iter().filter(|(_, own)| *own == folder).map(|(agent, _)| *agent).collect())
    })
}
