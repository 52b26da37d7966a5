//! The `params` keys of an endpoint. A family that nobody speaks of and the catalogue says nothing of is absent.

use super::values::{Values, with_origins};
use super::{CompileError, Options};
use crate::endpoint::{BaseValue, EndpointDecl, Key};
use crate::matchers::command::{Command, CommandRules};
use crate::matchers::extension::{Extension, ExtensionRules};
use crate::matchers::port::PortRules;
use crate::matchers::signal::SignalList;
use crate::matchers::url::{UrlPattern, UrlRules};
use crate::matchers::variable::{NameGlob, VariableRules};
use crate::matchers::words::WordList;
use crate::matchers::{Allow, Deny};
use crate::policy::{ElementRef, Listed, Params};
use crate::rules;

pub(super) fn params(
    values: &Values<'_>,
    decl: Option<&EndpointDecl>,
    options: &Options<'_>,
) -> Result<Params, CompileError> {
    let accepts = |key| decl.is_some_and(|decl| decl.accepts.contains(key));
    Ok(Params {
        overwrite: values.bool(Key::ParamsOverwrite)?,
        extensions: extensions(values)?,
        commands: commands(values, options)?,
        shells: words(values, Key::ParamsShells)?,
        languages: words(values, Key::ParamsLanguages)?,
        signals: signals(values)?,
        // Some URLs and ports are refused whatever the rules say, so these stand wherever the endpoint takes them.
        urls: if accepts(Key::ParamsUrlAllow) { Some(urls(values)?) } else { None },
        ports: if accepts(Key::ParamsAllowPorts) { Some(ports(values)?) } else { None },
        variables: variables(values, Some(Key::ParamsAllowVars), Key::ParamsDenyVars)?,
        env: variables(values, None, Key::ParamsEnvDeny)?,
    })
}

fn extensions(values: &Values<'_>) -> Result<Option<Box<ExtensionRules>>, CompileError> {
    let allow = allow(values, Key::ParamsAllowExtensions, Extension::parse)?;
    let deny = deny(values, Key::ParamsDenyExtensions, Extension::parse)?;
    Ok((allow.is_some() || !deny.is_empty()).then(|| Box::new(ExtensionRules { allow, deny })))
}

fn commands(values: &Values<'_>, options: &Options<'_>) -> Result<Option<Box<CommandRules>>, CompileError> {
    let parse = |text: &str| Command::parse(text, options.lookup);
    let allow = allow(values, Key::ParamsAllowCommands, parse)?;
    let deny = deny(values, Key::ParamsDenyCommands, parse)?;
    Ok((allow.is_some() || !deny.is_empty()).then(|| Box::new(CommandRules { allow, deny })))
}

fn words(values: &Values<'_>, key: Key) -> Result<Option<Box<WordList>>, CompileError> {
    let said = allow(values, key, |text| Some(text.into()))?;
    let base = || match values.base(key) {
        Some(BaseValue::Words(words)) => Some(Allow {
            entries: words.iter().map(|word| (*word).into()).collect(),
            origin: ElementRef::BASE,
        }),
        _ => None,
    };
    Ok(said.or_else(base).map(|list| Box::new(WordList(list))))
}

fn signals(values: &Values<'_>) -> Result<Option<SignalList>, CompileError> {
    let key = Key::ParamsAllowedSignals;
    if let Some(Listed { list, origin }) = values.list(key)? {
        return SignalList::parse(list.values(), origin).map(Some).map_err(|word| unreadable(key, word));
    }
    let Some(BaseValue::Numbers(numbers)) = values.base(key) else { return Ok(None) };
    let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let list = SignalList::parse(words.iter().map(String::as_str), ElementRef::BASE);
    list.map(Some).map_err(|word| unreadable(key, word))
}

fn urls(values: &Values<'_>) -> Result<Box<UrlRules>, CompileError> {
    let parse = |text: &str| UrlPattern::parse(text).ok();
    let blocked = values.bool(Key::ParamsBlockPrivateNetworks)?.filter(|said| said.value);
    let said_by = values.indexes(Key::ParamsBlockPrivateNetworks).first().copied();
    Ok(Box::new(UrlRules {
        allow: allow(values, Key::ParamsUrlAllow, parse)?,
        deny: deny(values, Key::ParamsUrlDeny, parse)?,
        block_private: blocked.map(|said| ElementRef {
            rule: said.rule,
            statement: said_by,
            element: ElementRef::WHOLE,
        }),
    }))
}

fn ports(values: &Values<'_>) -> Result<Box<PortRules>, CompileError> {
    let parse = |text: &str| rules::ports::range(text).map(|(first, last)| first..=last);
    Ok(Box::new(PortRules {
        allow: allow(values, Key::ParamsAllowPorts, parse)?,
        deny: deny(values, Key::ParamsDenyPorts, parse)?,
    }))
}

fn variables(
    values: &Values<'_>,
    allow_key: Option<Key>,
    deny_key: Key,
) -> Result<Option<Box<VariableRules>>, CompileError> {
    let allow = match allow_key {
        Some(key) => allow(values, key, NameGlob::parse)?,
        None => None,
    };
    let deny = deny(values, deny_key, NameGlob::parse)?;
    Ok((allow.is_some() || !deny.is_empty()).then(|| Box::new(VariableRules { allow, deny })))
}

fn allow<T>(
    values: &Values<'_>,
    key: Key,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<Allow<T>>, CompileError> {
    let Some(Listed { list, origin }) = values.list(key)? else { return Ok(None) };
    let entries: Result<Vec<T>, CompileError> =
        list.values().map(|text| parse(text).ok_or_else(|| unreadable(key, text))).collect();
    Ok(Some(Allow { entries: entries?, origin }))
}

fn deny<T>(
    values: &Values<'_>,
    key: Key,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Deny<T>, CompileError> {
    let elements = values.accumulated(key)?.into_iter().flat_map(with_origins);
    elements.map(|(text, origin)| Ok((parse(text).ok_or_else(|| unreadable(key, text))?, origin))).collect()
}

fn unreadable(key: Key, text: &str) -> CompileError {
    CompileError::Value { key: key.as_str(), value: text.to_owned() }
}
