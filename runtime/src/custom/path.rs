//! The path of a custom route: literal segments and parameters.

use crate::routes::{Parameters, ROOM, ROUTES};
use policy_lang::endpoint::{Listener, Method};

/// Most parameters of one path.
pub(crate) const MOST: usize = ROOM;

/// A path template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path(Vec<Segment>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Literal(String),
    Parameter(String),
}

impl Path {
    /// Reads a template. None where no request could have such a path. A trailing `/` is none, as in requests.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let path = path.strip_prefix('/')?;
        let path = path.strip_suffix('/').unwrap_or(path);
        if path.is_empty() {
            return Some(Self(vec![Segment::Literal(String::new())]));
        }
        let segments = path.split('/').map(segment).collect::<Option<Vec<_>>>()?;
        let path = Self(segments);
        let names: Vec<&str> = path.parameters().collect();
        let twice = names.iter().enumerate().any(|(at, name)| names.iter().take(at).any(|one| one == name));
        (names.len() <= MOST && !twice).then_some(path)
    }

    /// The names of its parameters, in order.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|segment| match segment {
            Segment::Parameter(name) => Some(name.as_str()),
            Segment::Literal(_) => None,
        })
    }

    /// Where its parameters stand in a path that fits.
    pub(super) fn fit(&self, path: &str) -> Option<Parameters> {
        let (mut parameters, mut at) = (Parameters::default(), 1);
        let mut segments = path.strip_prefix('/')?.split('/');
        for wanted in &self.0 {
            let segment = segments.next()?;
            let fits = match wanted {
                Segment::Literal(text) => text == segment,
                Segment::Parameter(_) => !segment.is_empty() && parameters.push(at..at + segment.len()),
            };
            if !fits {
                return None;
            }
            at += segment.len() + 1;
        }
        segments.next().is_none().then_some(parameters)
    }

    /// Whether it fits every path that `other` fits.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let covers = |(mine, its): (&Segment, &Segment)| matches!(mine, Segment::Parameter(_)) || mine == its;
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(covers)
    }

    /// The declared endpoint that answers every request of this path.
    pub(super) fn builtin(&self, method: Method) -> Option<&'static str> {
        let segments = self.0.iter().map(|segment| match segment {
            Segment::Literal(text) => text.as_str(),
            // No literal of the table looks so, so that only a parameter fits.
            Segment::Parameter(_) => "{}",
        });
        let example = segments.fold(String::new(), |path, segment| path + "/" + segment);
        let (leaf, _) = ROUTES.find(&example)?.door(Listener::Http, method)?;
        Some(leaf.declared.name)
    }
}

fn segment(text: &str) -> Option<Segment> {
    if let Some(name) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        return crate::commands::arguments::is_name(name).then(|| Segment::Parameter(name.to_owned()));
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~');
    let literal = !text.is_empty() && text != "." && text != ".." && text.bytes().all(plain);
    literal.then(|| Segment::Literal(text.to_owned()))
}
