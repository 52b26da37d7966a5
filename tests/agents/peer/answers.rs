//! What the scripted agent answers to each method.

use crate::raw;
use crate::scenes;
use crate::state::{Conversation, Live, Peer, Shared};
use agent_client_protocol::v1::{ConnectionTo, Dispatch, Responder, schema};
use agent_client_protocol::{Client, Error, Result, UntypedMessage};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;

/// One message.
pub fn handle(
    peer: &Shared,
    message: Dispatch<UntypedMessage, UntypedMessage>,
    cx: &ConnectionTo<Client>,
) -> Result<()> {
    match message {
        Dispatch::Request(asked, responder) => request(peer, &asked, responder, cx),
        Dispatch::Notification(told) => {
            if told.method() == "session/cancel" {
                let cancel: schema::CancelNotification = read(told.params())?;
                if let Some(live) = peer.live().get(&cancel.session_id.to_string()) {
                    live.prompt.iter().for_each(|prompt| prompt.cancel());
                }
            }
            Ok(())
        }
        Dispatch::Response(outcome, router) => router.route_with_result(outcome),
    }
}

fn request(
    peer: &Shared,
    asked: &UntypedMessage,
    responder: Responder<Value>,
    cx: &ConnectionTo<Client>,
) -> Result<()> {
    let params = asked.params();
    if asked.method() == "session/prompt" {
        return match read::<schema::PromptRequest>(params) {
            Ok(_) => scenes::prompt(peer, params, responder, cx),
            Err(error) => responder.respond_with_error(error),
        };
    }
    responder.respond_with_result(answer(peer, asked.method(), params, cx))
}

fn answer(peer: &Shared, method: &str, params: &Value, cx: &ConnectionTo<Client>) -> Result<Value> {
    let setup = &peer.setup;
    let session = || params["sessionId"].as_str().unwrap_or_default().to_owned();
    let needed = |what: &str| if setup.can(what) { Ok(()) } else { Err(Error::method_not_found()) };
    match method {
        "initialize" => {
            read::<schema::InitializeRequest>(params)?;
            checked::<schema::InitializeResponse>(initialize(peer))
        }
        "authenticate" => {
            let asked: schema::AuthenticateRequest = read(params)?;
            match asked.method_id.to_string().as_str() {
                "agent" | "env" if setup.auth.contains(&asked.method_id.to_string()) => {
                    *peer.signed_in.lock().unwrap() = true;
                    Ok(json!({}))
                }
                "terminal" => Err(Error::invalid_params().data("a terminal method is never authenticated")),
                _ => Err(Error::invalid_params()),
            }
        }
        "logout" => {
            needed("logout")?;
            *peer.signed_in.lock().unwrap() = false;
            Ok(json!({}))
        }
        "session/new" => {
            read::<schema::NewSessionRequest>(params)?;
            signed_in(peer)?;
            let id = peer.fresh();
            open(peer, &id, params);
            early(peer, &id);
            checked::<schema::NewSessionResponse>(options(peer, &id, json!({"sessionId": id})))
        }
        "session/load" => {
            needed("load")?;
            read::<schema::LoadSessionRequest>(params)?;
            let known = known(peer, &session())?;
            for update in known.history {
                notify(cx, &session(), update)?;
            }
            take_up(peer, &session(), params);
            Ok(options(peer, &session(), json!({})))
        }
        "session/resume" => {
            needed("resume")?;
            read::<schema::ResumeSessionRequest>(params)?;
            known(peer, &session())?;
            take_up(peer, &session(), params);
            Ok(options(peer, &session(), json!({})))
        }
        "session/fork" => {
            needed("fork")?;
            let original = known(peer, &session())?;
            let id = peer.fresh();
            peer.change(&id, |fork| *fork = original);
            if !setup.sleepy {
                take_up(peer, &id, params);
            }
            early(peer, &id);
            Ok(options(peer, &id, json!({"sessionId": id})))
        }
        "session/list" => {
            needed("list")?;
            list(peer, params)
        }
        "session/close" => {
            needed("close")?;
            peer.live().remove(&session());
            Ok(json!({}))
        }
        "session/delete" => {
            needed("delete")?;
            if peer.remove(&session()) {
                Ok(json!({}))
            } else {
                Err(Error::new(-32002, "no such conversation"))
            }
        }
        "session/set_mode" if setup.offers("modes") => {
            let asked: schema::SetSessionModeRequest = read(params)?;
            let mode = asked.mode_id.to_string();
            if !["ask", "code", "bypass"].contains(&mode.as_str()) {
                return Err(Error::invalid_params());
            }
            peer.change(&session(), |conversation| conversation.mode = mode.clone());
            notify(cx, &session(), json!({"sessionUpdate": "current_mode_update", "currentModeId": mode}))?;
            Ok(json!({}))
        }
        "session/set_model" if setup.offers("models") => {
            let model = params["modelId"].as_str().unwrap_or_default().to_owned();
            peer.change(&session(), |conversation| conversation.model = model);
            Ok(json!({}))
        }
        "session/set_config_option" if setup.offers("config") => {
            let value = &params["value"];
            peer.change(&session(), |conversation| match params["configId"].as_str() {
                Some("model") => conversation.model = value.as_str().unwrap_or_default().to_owned(),
                _ => conversation.verbose = value.as_bool().unwrap_or_default(),
            });
            Ok(json!({"configOptions": config(&peer.get(&session()).unwrap_or_default())}))
        }
        "_session/steering" if setup.can("steering") => {
            let text = params["prompt"][0]["text"].as_str().unwrap_or_default().to_owned();
            let mut live = peer.live();
            match live.get_mut(&session()).filter(|live| live.prompt.is_some()) {
                Some(live) => {
                    live.steered.push(text);
                    Ok(json!({"outcome": "injected"}))
                }
                None => Ok(json!({"outcome": "failed"})),
            }
        }
        "_test/echo" => Ok(json!({"echo": params})),
        "_test/fail" => Err(Error::new(-32042, "failed as asked").data(json!({"why": "test"}))),
        "_test/exit" => std::process::exit(4),
        "_test/silence" => {
            std::thread::sleep(std::time::Duration::from_secs(600));
            Ok(json!({}))
        }
        "providers/list" => Ok(json!({"providers": []})),
        _ => Err(Error::method_not_found()),
    }
}

fn initialize(peer: &Peer) -> Value {
    let setup = &peer.setup;
    let mut sessions = serde_json::Map::new();
    for what in ["list", "delete", "resume", "close", "fork"] {
        if setup.can(what) {
            sessions.insert(what.to_owned(), json!({}));
        }
    }
    if setup.can("dirs") {
        sessions.insert("additionalDirectories".to_owned(), json!({}));
    }
    let mut answer = json!({
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": setup.can("load"),
            "promptCapabilities": {
                "image": setup.can("image"),
                "audio": setup.can("audio"),
                "embeddedContext": setup.can("embedded"),
            },
            "mcpCapabilities": {"http": setup.can("http"), "sse": setup.can("sse")},
            "sessionCapabilities": sessions,
        },
        "authMethods": auth_methods(peer),
        "agentInfo": {"name": setup.name, "title": "Scripted agent", "version": "1.2.3"},
    });
    if setup.can("logout") {
        answer["agentCapabilities"]["auth"] = json!({"logout": {}});
    }
    if setup.can("steering") {
        answer["_meta"] = json!({"steering": {"supported": true}});
    }
    answer
}

fn auth_methods(peer: &Peer) -> Vec<Value> {
    let method = |name: &String| match name.as_str() {
        "agent" => json!({"id": "agent", "name": "Sign in"}),
        "terminal" => json!({"id": "terminal", "name": "Terminal", "type": "terminal", "args": ["--login"]}),
        _ => json!({"id": "env", "name": "Key", "type": "env_var", "vars": [{"name": "SCRIPTED_KEY"}]}),
    };
    peer.setup.auth.iter().map(method).collect()
}

fn signed_in(peer: &Peer) -> Result<()> {
    if peer.setup.require_auth && !*peer.signed_in.lock().unwrap() {
        return Err(Error::auth_required());
    }
    Ok(())
}

fn open(peer: &Peer, id: &str, params: &Value) {
    peer.change(id, |conversation| {
        *conversation = Conversation {
            cwd: params["cwd"].as_str().unwrap_or_default().to_owned(),
            mode: "ask".to_owned(),
            model: "small".to_owned(),
            ..Conversation::default()
        };
    });
    take_up(peer, id, params);
}

/// The conversation is live from now on, with these servers.
fn take_up(peer: &Peer, id: &str, params: &Value) {
    peer.change(id, |conversation| {
        conversation.mcp = params["mcpServers"].clone();
        conversation.directories = params["additionalDirectories"].clone();
    });
    peer.live().insert(id.to_owned(), Live::default());
}

fn known(peer: &Peer, id: &str) -> Result<Conversation> {
    // A vague number, as real agents give.
    peer.get(id).ok_or_else(|| Error::internal_error().data("no such conversation"))
}

fn early(peer: &Peer, id: &str) {
    if peer.setup.early {
        let update = json!({"sessionUpdate": "session_info_update", "title": "Early"});
        raw(&json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": id, "update": update}})
            .to_string());
    }
}

fn list(peer: &Peer, params: &Value) -> Result<Value> {
    read::<schema::ListSessionsRequest>(params)?;
    let sessions: Vec<Value> = peer
        .all()
        .into_iter()
        .filter(|(_, conversation)| params["cwd"].as_str().is_none_or(|cwd| cwd == conversation.cwd))
        .map(|(id, conversation)| json!({"sessionId": id, "cwd": conversation.cwd, "title": "A talk"}))
        .collect();
    // Two a page.
    let from: usize = params["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
    let page: Vec<&Value> = sessions.iter().skip(from).take(2).collect();
    let mut answer = json!({"sessions": page});
    if from + 2 < sessions.len() {
        answer["nextCursor"] = (from + 2).to_string().into();
    }
    checked::<schema::ListSessionsResponse>(answer)
}

/// The answer with the options that are offered.
fn options(peer: &Peer, id: &str, mut answer: Value) -> Value {
    let conversation = peer.get(id).unwrap_or_default();
    let named = |id: &str| json!({"id": id, "name": id});
    if peer.setup.offers("modes") {
        let modes: Vec<Value> = ["ask", "code", "bypass"].map(named).into();
        answer["modes"] = json!({"currentModeId": conversation.mode, "availableModes": modes});
    }
    if peer.setup.offers("models") {
        let models = ["small", "large"].map(|id| json!({"modelId": id, "name": id}));
        answer["models"] = json!({"currentModelId": conversation.model, "availableModels": models});
    }
    if peer.setup.offers("config") {
        answer["configOptions"] = config(&conversation);
    }
    if peer.setup.offers("levels") {
        answer["configOptions"] = levels();
    }
    answer
}

fn config(conversation: &Conversation) -> Value {
    let choices = ["small", "large"].map(|value| json!({"value": value, "name": value}));
    json!([
        {
            "id": "model", "name": "Model", "category": "model", "type": "select",
            "currentValue": conversation.model, "options": choices,
        },
        {"id": "verbose", "name": "Verbose", "type": "boolean", "currentValue": conversation.verbose},
    ])
}

/// Choices in groups, and the categories that are rarer.
fn levels() -> Value {
    let group = json!([{"group": "deep", "name": "Deep", "options": [{"value": "high", "name": "High", "description": "Slow"}]}]);
    json!([
        {"id": "effort", "name": "Effort", "category": "thought_level", "type": "select", "currentValue": "high", "options": group},
        {"id": "window", "name": "Window", "category": "model_config", "type": "boolean", "currentValue": true},
        {"id": "colour", "name": "Colour", "category": "_own", "type": "boolean", "currentValue": false},
    ])
}

/// Reads parameters by the crate's own type.
pub fn read<T: DeserializeOwned>(params: &Value) -> Result<T> {
    serde_json::from_value(params.clone()).map_err(|error| Error::invalid_params().data(error.to_string()))
}

/// An answer that the crate's own type reads.
fn checked<T: DeserializeOwned>(answer: Value) -> Result<Value> {
    serde_json::from_value::<T>(answer.clone())
        .map_err(|error| Error::internal_error().data(error.to_string()))?;
    Ok(answer)
}

/// Sends an update.
pub fn notify(cx: &ConnectionTo<Client>, session: &str, update: Value) -> Result<()> {
    let params = json!({"sessionId": session, "update": update});
    cx.send_notification(UntypedMessage::new("session/update", params)?)
}

/// Sends an update, and keeps it for a replay.
pub fn tell(peer: &Arc<Peer>, cx: &ConnectionTo<Client>, session: &str, update: Value) -> Result<()> {
    peer.change(session, |conversation| conversation.history.push(update.clone()));
    notify(cx, session, update)
}
