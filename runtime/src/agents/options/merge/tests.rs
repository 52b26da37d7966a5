//! What three ways of telling options come to.

use super::{Options, Via};
use serde_json::{Value, json};

fn told() -> Value {
    json!({
        "configOptions": [
            {"id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "a", "options": [
                {"group": "big", "name": "Big", "options": [{"value": "a", "name": "A", "description": "first"}]},
                {"value": "b", "name": "B"},
            ]},
            {"id": "fast", "name": "Fast", "category": "_own", "type": "boolean", "currentValue": false},
            {"name": "without an id"},
        ],
        "modes": {"currentModeId": "ask", "availableModes": [
            {"id": "ask", "name": "Ask"}, {"id": "bypassPermissions", "name": "Free"}, {"id": "x", "name": "YOLO"},
        ]},
        "models": {"currentModelId": "old", "availableModels": [{"modelId": "old", "name": "Old"}]},
    })
}

fn options() -> Options {
    let mut options = Options::default();
    options.opened(&told());
    options
}

#[test]
fn configuration_stands_for_models_and_modes_stay() {
    assert_eq!(
        serde_json::to_value(options().views()).unwrap(),
        json!([
            {"option_id": "m", "name": "Model", "category": "model", "type": "select", "value": "a", "via": "config",
             "choices": [{"value": "a", "name": "A", "description": "first", "group": "Big"},
                         {"value": "b", "name": "B"}]},
            {"option_id": "fast", "name": "Fast", "category": "other", "type": "boolean", "value": false,
             "via": "config", "choices": []},
            {"option_id": "mode", "name": "Mode", "category": "mode", "type": "select", "value": "ask", "via": "mode",
             "choices": [{"value": "ask", "name": "Ask"}, {"value": "bypassPermissions", "name": "Free"},
                         {"value": "x", "name": "YOLO"}]},
        ])
    );
}

#[test]
fn each_way_has_its_own_setter() {
    let mut options = options();
    let setter = |options: &Options, key: &str, value: Value| options.find(key).unwrap().setter(&value);
    assert_eq!(
        setter(&options, "model", json!("b")),
        ("session/set_config_option", json!({"configId": "m", "value": "b"}))
    );
    assert_eq!(
        setter(&options, "fast", json!(true)),
        ("session/set_config_option", json!({"configId": "fast", "type": "boolean", "value": true}))
    );
    assert_eq!(setter(&options, "mode", json!("x")), ("session/set_mode", json!({"modeId": "x"})));
    options.config.clear();
    assert_eq!(setter(&options, "model", json!("old")), ("session/set_model", json!({"modelId": "old"})));
    assert_eq!(options.find("fast"), None);
}

#[test]
fn values_that_can_be_chosen() {
    let options = options();
    for (key, value, takes) in [
        ("m", json!("b"), true),
        ("m", json!("c"), false),
        ("m", json!(1), false),
        ("fast", json!(true), true),
        ("fast", json!("true"), false),
    ] {
        assert_eq!(options.find(key).unwrap().takes(&value), takes, "{key} {value}");
    }
    let mode = options.find("mode").unwrap();
    for (value, bypasses) in [("ask", false), ("bypassPermissions", true), ("x", true)] {
        assert_eq!(mode.bypasses(&json!(value)), bypasses, "{value}");
    }
}

#[test]
fn what_is_set_and_what_is_told_show_at_once() {
    let mut options = options();
    for (key, value) in [("m", json!("b")), ("fast", json!(true)), ("mode", json!("x"))] {
        let view = options.find(key).unwrap();
        options.set(&view, &value);
        assert_eq!(options.find(key).unwrap().value, value);
    }
    options.take_mode("ask");
    assert_eq!(options.values(), *json!({"m": "b", "fast": true, "mode": "ask"}).as_object().unwrap());
    assert!(options.take_config(&json!({"configOptions": []})));
    assert!(!options.take_config(&json!({})));
    assert_eq!(options.find("model").unwrap().via, Via::Model);
    options.take_commands(&json!({"availableCommands": [
        {"name": "init", "description": "begin", "input": {"hint": "where"}}, {"no": "name"}, {"name": "end"},
    ]}));
    assert_eq!(
        serde_json::to_value(options.commands()).unwrap(),
        json!([{"name": "init", "description": "begin", "hint": "where"}, {"name": "end", "description": ""}])
    );
    assert_eq!(Options::from_value(&options.to_value()), options);
}

#[test]
fn odd_tellings_tell_nothing() {
    for odd in [json!(null), json!([]), json!({"configOptions": 1, "modes": "x", "models": []})] {
        let mut options = Options::default();
        options.opened(&odd);
        assert_eq!(options, Options::default(), "{odd}");
    }
}
