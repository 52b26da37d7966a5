//! What a caller says of a session that is to be opened.

use super::budget::Budget;
use super::details::{Details, Isolation};
use super::fault;
use crate::agents::rules::PermissionPolicy;
use crate::endpoint::JsonBody;
use crate::error::{ApiError, ErrorCode};
use serde_json::{Map, Value};

/// Labels of a session, and bytes of all of them.
const MOST_LABELS: (usize, usize) = (64, 16 * 1024);

/// The fields, checked as far as they can be without looking at anything else.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fields {
    /// The agent.
    pub agent_id: String,
    /// Where it is to work.
    pub cwd: String,
    /// What people call it.
    pub title: Option<String>,
    /// Texts by name.
    pub labels: Map<String, Value>,
    /// Further directories.
    pub additional_directories: Vec<String>,
    /// MCP servers: names, or whole definitions.
    pub mcp: Option<Vec<Value>>,
    /// Skills by name.
    pub skills: Option<Vec<String>>,
    /// Options by id or category.
    pub options: Map<String, Value>,
    /// What is decided without a person.
    pub policy: PermissionPolicy,
    /// Whether it gets a working tree of its own.
    pub isolation: Isolation,
    /// What may be used up.
    pub budget: Option<Budget>,
    /// Whether every frame is kept.
    pub trace: bool,
}

impl Fields {
    /// Reads them.
    ///
    /// # Errors
    /// 400 `missing_parameter`, `invalid_parameter` or `invalid_request`.
    pub fn read(body: &mut JsonBody) -> Result<Self, ApiError> {
        Ok(Self {
            agent_id: body.required_text("agent_id")?,
            cwd: body.required_text("cwd")?,
            title: title(body)?,
            labels: labels(body)?.unwrap_or_default(),
            additional_directories: body.texts("additional_directories")?.unwrap_or_default(),
            mcp: mcp(body)?,
            skills: body.texts("skills")?,
            options: options(body)?,
            policy: body.take("policy").map(fault::policy).transpose()?.unwrap_or_default(),
            isolation: body.typed("isolation", "none or worktree")?.unwrap_or_default(),
            budget: body.take("budget").map(fault::budget).transpose()?,
            trace: body.flag("trace", false)?,
        })
    }

    /// The details of a new session.
    #[must_use]
    pub fn details(&self) -> Details {
        Details {
            policy: self.policy.clone(),
            budget: self.budget.clone(),
            desired: self.options.clone(),
            additional_directories: self.additional_directories.clone(),
            mcp: self.mcp.clone(),
            skills: self.skills.clone(),
            isolation: self.isolation,
            trace: self.trace,
            ..Details::default()
        }
    }
}

/// A title, at most 500 characters.
///
/// # Errors
/// 400 `invalid_parameter`.
pub fn title(body: &mut JsonBody) -> Result<Option<String>, ApiError> {
    let title = body.text("title")?;
    match title {
        Some(title) if title.chars().count() > 500 => {
            Err(ApiError::invalid("title", "title must have at most 500 characters"))
        }
        title => Ok(title),
    }
}

/// Labels: an object of texts.
///
/// # Errors
/// 400 `invalid_parameter`.
pub fn labels(body: &mut JsonBody) -> Result<Option<Map<String, Value>>, ApiError> {
    let Some(labels) = body.text_map("labels")? else { return Ok(None) };
    let bytes: usize = labels.iter().map(|(name, value)| name.len() + value.len()).sum();
    if labels.len() > MOST_LABELS.0 || bytes > MOST_LABELS.1 {
        let message = format!("labels may be at most {} of {} bytes in all", MOST_LABELS.0, MOST_LABELS.1);
        return Err(ApiError::invalid("labels", message));
    }
    Ok(Some(labels.into_iter().map(|(name, value)| (name, value.into())).collect()))
}

/// MCP servers: names, or objects.
///
/// # Errors
/// 400 `invalid_parameter`.
pub fn mcp(body: &mut JsonBody) -> Result<Option<Vec<Value>>, ApiError> {
    let shape = "a list of names and server definitions";
    let given: Option<Vec<Value>> = body.typed("mcp", shape)?;
    match given {
        Some(given) if !given.iter().all(|one| one.is_string() || one.is_object()) => {
            Err(ApiError::invalid("mcp", format!("mcp must be {shape}")))
        }
        given => Ok(given),
    }
}

fn options(body: &mut JsonBody) -> Result<Map<String, Value>, ApiError> {
    let given: Map<String, Value> = body.typed("options", "an object")?.unwrap_or_default();
    match given.iter().find(|(_, value)| !value.is_string() && !value.is_boolean()) {
        Some((name, _)) => {
            let message = format!("options.{name} must be a string or a boolean");
            Err(ApiError::new(ErrorCode::InvalidRequest, message).with("parameter", "options"))
        }
        None => Ok(given),
    }
}
