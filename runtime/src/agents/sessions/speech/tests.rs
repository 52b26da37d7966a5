//! What is told of what is said: nothing is lost, nothing comes out of order, and no secret comes at all.

use super::{Speech, mask};
use crate::agents::credentials::Masks;
use proptest::prelude::*;
use serde_json::{Value, json};

const SECRET: &str = "canary";

fn masks() -> Masks {
    let masks = Masks::default();
    masks.add(SECRET);
    masks
}

fn piece(role: &str, id: Option<&str>, text: &str) -> Value {
    let mut update = json!({"sessionUpdate": role, "content": {"type": "text", "text": text}});
    if let Some(id) = id {
        update["messageId"] = id.into();
    }
    update
}

fn agent(text: &str) -> Value {
    piece("agent_message_chunk", None, text)
}

/// What is told in short: the text of pieces, the names of all else.
fn told(updates: Vec<Value>) -> Vec<String> {
    let (masks, mut speech, mut told) = (masks(), Speech::default(), Vec::new());
    for update in updates {
        speech.hear(&masks, update, &mut told);
    }
    speech.end(&masks, &mut told);
    assert!(!speech.is_holding());
    let short = |update: &Value| match update["content"]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("<{}>", update["sessionUpdate"].as_str().unwrap()),
    };
    told.iter().map(short).collect()
}

#[test]
fn a_secret_over_two_pieces_is_one() {
    assert_eq!(told(vec![agent("it is can"), agent("ary, you see")]), ["it is ", "***, you see"]);
    assert_eq!(told(vec![agent("I can"), agent("not")]), ["I ", "cannot"]);
    assert_eq!(told(vec![agent("if I can")]), ["if I ", "can"]);
    assert_eq!(told(vec![agent("ca"), agent("na"), agent("ry")]), ["***"]);
}

#[test]
fn whatever_ends_a_message_comes_behind_all_of_it() {
    let call = |name: &str| json!({"sessionUpdate": name, "toolCallId": "t"});
    let plan = json!({"sessionUpdate": "plan", "entries": []});
    let image = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image"}});
    let thought = piece("agent_thought_chunk", None, "hm");
    let other = piece("agent_message_chunk", Some("m"), "x");
    for (ends, shown) in [
        (call("tool_call"), "<tool_call>"),
        (call("tool_call_update"), "<tool_call_update>"),
        (plan, "<plan>"),
        (image, "<agent_message_chunk>"),
        (thought, "hm"),
        (other, "x"),
    ] {
        assert_eq!(told(vec![agent("yes c"), ends, agent("anary")]), ["yes ", "c", shown, "anary"]);
    }
}

#[test]
fn a_message_goes_on_over_what_does_not_end_it() {
    let usage = json!({"sessionUpdate": "usage_update", "used": 1});
    assert_eq!(told(vec![agent("c"), usage, agent("anary")]), ["<usage_update>", "***"]);
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "t"});
    let news = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"});
    let shown = told(vec![call, agent("c"), news, agent("anary")]);
    assert_eq!(shown, ["<tool_call>", "<tool_call_update>", "***"]);
    // Messages of two roles side by side, each with an id.
    let said = |text| piece("agent_message_chunk", Some("a"), text);
    let thought = |text| piece("agent_thought_chunk", Some("b"), text);
    assert_eq!(
        told(vec![said("1 can"), thought("2 ca"), said("ary"), thought("nary")]),
        ["1 ", "2 ", "***", "***"]
    );
    // Another message of the same role is another message.
    let next = piece("agent_message_chunk", Some("c"), "ary");
    assert_eq!(told(vec![said("1 can"), next]), ["1 ", "can", "ary"]);
}

#[test]
fn what_else_a_piece_says_is_told_though_its_text_waits() {
    let mut update = agent("can");
    update["_meta"] = json!({"tokens": 3});
    let (masks, mut speech, mut heard) = (masks(), Speech::default(), Vec::new());
    speech.hear(&masks, update, &mut heard);
    let mut silent = agent("");
    silent["_meta"] = json!({"tokens": 3});
    assert_eq!(heard, [silent]);
}

#[test]
fn everything_but_the_text_of_a_piece_is_masked_at_once() {
    let mut params = json!({"canary": 1, "update": agent("the canary")});
    params["update"]["_meta"] = json!(["a canary"]);
    mask(&masks(), &mut params);
    let mut wanted = json!({"***": 1, "update": agent("the canary")});
    wanted["update"]["_meta"] = json!(["a ***"]);
    assert_eq!(params, wanted);
    let mut call =
        json!({"update": {"sessionUpdate": "tool_call", "content": {"type": "text", "text": "canary"}}});
    mask(&masks(), &mut call);
    assert_eq!(call["update"]["content"]["text"], "***");
}

proptest! {
    #[test]
    fn nothing_is_lost_or_told_twice(
        updates in prop::collection::vec(
            (0..4_u8, prop::option::of("[mn]"), "[canry x]{0,8}"), 0..20),
    ) {
        let roles = ["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"];
        let made: Vec<Value> = updates.iter().enumerate().map(|(n, (what, id, text))| match roles.get(usize::from(*what)) {
            Some(role) => piece(role, id.as_deref(), text),
            None => json!({"sessionUpdate": "tool_call", "toolCallId": n.to_string()}),
        }).collect();
        let (masks, mut speech, mut heard) = (masks(), Speech::default(), Vec::new());
        made.iter().for_each(|update| speech.hear(&masks, update.clone(), &mut heard));
        speech.end(&masks, &mut heard);
        // Each message, between two calls, says what it said, but for secrets.
        let messages = |updates: &[Value]| {
            let (mut all, mut part) = (std::collections::BTreeMap::<_, String>::new(), 0);
            for update in updates {
                match update["content"]["text"].as_str() {
                    Some(text) => {
                        let key = (part, update["sessionUpdate"].to_string(), update["messageId"].to_string());
                        all.entry(key).or_default().push_str(text);
                    }
                    None => part += 1,
                }
            }
            all.retain(|_, text| !text.is_empty());
            all
        };
        let (said, told) = (messages(&made), messages(&heard));
        prop_assert_eq!(said.keys().collect::<Vec<_>>(), told.keys().collect::<Vec<_>>());
        for (key, text) in said {
            if !text.contains(SECRET) {
                prop_assert_eq!(&told[&key], &text);
            }
        }
        let calls = |updates: &[Value]| updates.iter().filter(|update| update["toolCallId"].is_string()).cloned().collect::<Vec<_>>();
        prop_assert_eq!(calls(&made), calls(&heard));
    }
}
