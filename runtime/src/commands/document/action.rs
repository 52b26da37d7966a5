//! What a command does: `argv`, or `script` with its `interpreter`.

use super::reader::Reader;
use crate::commands::{Action, Argument, Output, Program, Script, Template};
use policy_lang::diag::{Code, Diagnostic, quoted};
use policy_lang::parse::{Entry, Node};
use policy_lang::source::Span;

/// The interpreters of scripts, with what stands before the script on their command line.
const INTERPRETERS: [(&str, &[&str]); 4] = [
    ("sh", &["sh", "-c", "--"]),
    ("bash", &["bash", "-c", "--"]),
    ("python", &["python3", "-c"]),
    ("node", &["node", "-e"]),
];

pub(super) fn read<'n, 's: 'n>(
    reader: &mut Reader<'_>,
    what: &str,
    at: Span,
    key: &impl Fn(&str) -> Option<&'n Entry<'s>>,
    arguments: Option<&[Argument]>,
) -> Option<Action> {
    let outputs = Output::ALL.map(|output| (output.as_str(), output));
    let output = key("output").and_then(|entry| reader.word("`output`", &entry.value, &outputs));
    let output = output.unwrap_or(Output::Text);
    let interpreter = key("interpreter");
    match (key("argv"), key("script")) {
        (Some(argv), None) => {
            if let Some(interpreter) = interpreter {
                let message = format!("`interpreter` says nothing in {what}: it has no script");
                reader.emit(Diagnostic::new(Code::WrongType, message).at(interpreter.key_span));
            }
            let command = words(reader, &argv.value, arguments)?;
            Some(Action::Program(Program { command, script: None, output }))
        }
        (None, Some(script)) => {
            let text = reader.text("`script`", &script.value)?;
            let chosen = match interpreter {
                Some(entry) => reader.word("`interpreter`", &entry.value, &INTERPRETERS)?,
                None => &["sh", "-c", "--"],
            };
            // None of these words has a brace.
            let command = chosen.iter().filter_map(|word| Template::parse(word).ok()).collect();
            Some(Action::Program(Program { command, script: Some(Script(text)), output }))
        }
        (Some(argv), Some(script)) => {
            let message = format!("{what} has both `argv` and `script`");
            let finding = Diagnostic::new(Code::WrongType, message).at(script.key_span);
            reader.emit(finding.related(argv.key_span, "and this").help("remove one of the two"));
            None
        }
        (None, None) => {
            let message = format!("{what} has neither `argv` nor `script`");
            let finding = Diagnostic::new(Code::WrongType, message).at(at);
            reader.emit(finding.help("say what it runs: `argv: [program, \"{argument}\"]`"));
            None
        }
    }
}

fn words(reader: &mut Reader<'_>, node: &Node<'_>, arguments: Option<&[Argument]>) -> Option<Vec<Template>> {
    let items = reader.list("`argv`", node)?;
    if items.is_empty() {
        reader.emit(Diagnostic::new(Code::WrongType, "`argv` is empty").at(node.span).help("name a program"));
        return None;
    }
    let mut words = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let text = reader.text("an element of `argv`", item)?;
        match Template::parse(&text) {
            Ok(word) => {
                check(reader, &word, at == 0, item.span, arguments);
                words.push(word);
            }
            Err(error) => reader.emit(Diagnostic::new(Code::UnknownValue, error.to_string()).at(item.span)),
        }
    }
    (words.len() == items.len()).then_some(words)
}

/// A placeholder names an argument, and the program is never a caller's choice.
fn check(reader: &mut Reader<'_>, word: &Template, program: bool, at: Span, arguments: Option<&[Argument]>) {
    let known: Vec<&str> =
        arguments.unwrap_or_default().iter().map(|argument| argument.name.as_str()).collect();
    for name in word.arguments() {
        if program {
            let finding = Diagnostic::new(Code::UnknownValue, "the program cannot be an argument").at(at);
            reader.emit(finding.help("write its name; only the words after it may have placeholders"));
        } else if arguments.is_some() && !known.contains(&name) {
            let message = format!("unknown argument {} in a placeholder", quoted(name));
            let finding = Diagnostic::new(Code::UnknownValue, message).at(at);
            let near = policy_lang::diag::suggest::closest(name, known.iter().copied());
            reader.emit(match near.first() {
                Some(near) => finding.help(format!("did you mean `{{{near}}}`?")),
                None if known.is_empty() => {
                    finding.help("the command declares no arguments; add it under `args`")
                }
                None => finding.help(format!("the arguments are {}", known.join(", "))),
            });
        }
    }
}
