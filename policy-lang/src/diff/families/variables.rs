//! `allow_vars`, `deny_vars` and `env_deny`: globs over names, as automata.

use super::hunt::{Goal, hunt};
use crate::automata::{Accepted, Grammar, Machines, Product, Tape, TooLarge};
use crate::decide::VariableUse;
use crate::diff::view::{Opening, View};
use crate::diff::witness::{Beyond, Witness};
use crate::endpoint::{EndpointId, Key};
use crate::matchers::variable::{LOADERS, NameGlob, OWN, PROTECTED, SECRET_WORDS, VariableRules};
use std::collections::BTreeSet;
use std::fmt::Write;

pub(super) fn openings(from: &View<'_>, to: &View<'_>, machines: &mut Machines, out: &mut Vec<Opening>) {
    let (old, new) = (&from.rules.params, &to.rules.params);
    family(from, to, [old.variables.as_deref(), new.variables.as_deref()], &usages(to), machines, out);
    family(from, to, [old.env.as_deref(), new.env.as_deref()], &[Use::Carry, Use::Inherit], machines, out);
}

/// How a name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Set,
    Show,
    Carry,
    /// From the server to a child, which asks no gate.
    Inherit,
}

/// What the endpoint does with the variables of `allow_vars`.
fn usages(view: &View<'_>) -> Vec<Use> {
    match view.decl().map(|decl| decl.id) {
        Some(EndpointId::EnvList) => vec![Use::Show],
        Some(EndpointId::EnvSet) => vec![Use::Set],
        _ => vec![Use::Set, Use::Show],
    }
}

fn family(
    from: &View<'_>,
    to: &View<'_>,
    rules: [Option<&VariableRules>; 2],
    usages: &[Use],
    machines: &mut Machines,
    out: &mut Vec<Opening>,
) {
    let nothing = VariableRules::default();
    let [old, new] = rules.map(|rules| rules.unwrap_or(&nothing));
    let carried = usages.contains(&Use::Carry);
    let deny_key = if carried { Key::ParamsEnvDeny } else { Key::ParamsDenyVars };
    let keys: Vec<Key> = if carried { vec![deny_key] } else { vec![Key::ParamsAllowVars, deny_key] };
    let built = Built::new(old, new, usages, machines);
    let Ok(Built { product, lists: [from_lists, to_lists], never }) = built else {
        return out.extend(keys.into_iter().map(|key| Opening::unproven(key, super::hunt::TOO_LARGE)));
    };
    let goals = keys.iter().map(|key| {
        let denies = *key == deny_key;
        let wanted = move |accepted: Accepted, never: Option<usize>| {
            let refused = if denies { from_lists.denies(accepted) } else { from_lists.withholds(accepted) };
            refused
                && !to_lists.denies(accepted)
                && !to_lists.withholds(accepted)
                && !never.is_some_and(|never| accepted.by(never))
        };
        let (ways, of_ways) = (&never, &never);
        let own = |lists: Lists| if denies { lists.deny } else { lists.allow };
        Goal {
            key: *key,
            side: 1,
            own: [own(from_lists), own(to_lists)].into_iter().flatten().collect(),
            turns: Box::new(move |accepted| {
                let refuses =
                    |lists: Lists| if denies { lists.denies(accepted) } else { lists.withholds(accepted) };
                refuses(from_lists) && !refuses(to_lists)
            }),
            wanted: Box::new(move |accepted| ways.iter().any(|(_, never)| wanted(accepted, *never))),
            show: Box::new(move |accepted, text| {
                let name = std::str::from_utf8(text).ok()?;
                let way = of_ways.iter().find(|(_, never)| wanted(accepted, *never))?;
                Opening::shown(*key, call(to, way.0, name), from, to)
            }),
        }
    });
    let goals = goals.collect();
    out.extend(hunt(&product, &named(old, new), goals).into_iter().map(|(_, opening)| opening));
}

fn call(to: &View<'_>, usage: Use, name: &str) -> Witness {
    let variable = |usage| Witness { variable: Some((name.to_owned(), usage)), ..to.call() };
    match usage {
        Use::Set => variable(VariableUse::Set),
        Use::Show => variable(VariableUse::Show),
        Use::Carry => variable(VariableUse::Carry),
        Use::Inherit => Witness { beyond: Some(Beyond::Inherited(name.to_owned())), ..to.call() },
    }
}

/// The automata of one side; an absent allow-list withholds nothing.
#[derive(Debug, Clone, Copy)]
struct Lists {
    allow: Option<usize>,
    deny: Option<usize>,
}

impl Lists {
    fn withholds(self, accepted: Accepted) -> bool {
        self.allow.is_some_and(|allow| !accepted.by(allow))
    }

    fn denies(self, accepted: Accepted) -> bool {
        self.deny.is_some_and(|deny| accepted.by(deny))
    }
}

/// The product of both sides, and per use the automaton of what no rule can give.
struct Built {
    product: Product,
    lists: [Lists; 2],
    never: Vec<(Use, Option<usize>)>,
}

impl Built {
    fn new(
        old: &VariableRules,
        new: &VariableRules,
        usages: &[Use],
        machines: &mut Machines,
    ) -> Result<Self, TooLarge> {
        let mut product = Product::new(Grammar::Name);
        let mut add = |expressions: Vec<String>| {
            machines.list(expressions, false).map(|machine| product.add(Tape::Raw, machine))
        };
        let mut side = |rules: &VariableRules| -> Result<Lists, TooLarge> {
            let written = |glob: &NameGlob, any_case| expression(glob.text(), any_case);
            let allow = rules.allow.as_ref();
            let allow = allow.map(|allow| allow.entries.iter().map(|glob| written(glob, false)).collect());
            let deny = (!rules.deny.is_empty())
                .then(|| rules.deny.iter().map(|(glob, _)| written(glob, true)).collect());
            Ok(Lists { allow: allow.map(&mut add).transpose()?, deny: deny.map(&mut add).transpose()? })
        };
        let lists = [side(old)?, side(new)?];
        let mut never = Vec::new();
        for usage in usages {
            let globs: Vec<String> = match usage {
                Use::Set => {
                    OWN.iter().chain(&LOADERS).chain(&PROTECTED).map(|name| (*name).to_owned()).collect()
                }
                Use::Carry => OWN.iter().chain(&LOADERS).map(|name| (*name).to_owned()).collect(),
                Use::Show => {
                    let secret = SECRET_WORDS.iter().map(|word| format!("*{word}*"));
                    secret.chain(OWN.iter().map(|name| (*name).to_owned())).collect()
                }
                Use::Inherit => Vec::new(),
            };
            let expressions: Vec<String> = globs.iter().map(|glob| expression(glob, true)).collect();
            let machine = (!expressions.is_empty()).then(|| add(expressions)).transpose()?;
            never.push((*usage, machine));
        }
        Ok(Self { product, lists, never })
    }
}

/// A glob over the bytes of a name, see [`NameGlob`].
fn expression(glob: &str, any_case: bool) -> String {
    let mut source = String::new();
    for byte in glob.bytes() {
        match byte {
            b'*' => source.push_str(".*"),
            b'?' => source.push('.'),
            byte if any_case && byte.is_ascii_alphabetic() => {
                let (lower, upper) = (byte.to_ascii_lowercase(), byte.to_ascii_uppercase());
                let _ = write!(source, "[{}{}]", char::from(lower), char::from(upper));
            }
            byte => {
                let _ = write!(source, r"\x{byte:02x}");
            }
        }
    }
    source.push_str(r"\z");
    source
}

/// Every character that an entry names.
fn named(old: &VariableRules, new: &VariableRules) -> BTreeSet<char> {
    let of = |rules: &VariableRules| {
        let allow: String = rules.allow.iter().flat_map(|allow| &allow.entries).map(NameGlob::text).collect();
        let deny: String = rules.deny.iter().map(|(glob, _)| glob.text()).collect();
        allow + &deny
    };
    (of(old) + &of(new)).chars().collect()
}
