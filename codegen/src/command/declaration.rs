//! Reads what a function says of the command that it is to be.

use proc_macro2::TokenStream;
use syn::ext::IdentExt as _;
use syn::parse::Parser as _;
use syn::{Attribute, Expr, FnArg, Ident, ItemFn, LitStr, Meta, Pat, PatType, ReturnType, Type};

/// Everything that is known of a command.
pub(crate) struct Declaration {
    /// What callers name it by.
    pub(crate) name: String,
    /// The first paragraph of its comment.
    pub(crate) description: String,
    /// Whether it is left out of the list.
    pub(crate) hidden: bool,
    /// What a caller needs beside the scope of the command.
    pub(crate) scopes: Vec<LitStr>,
    /// Its arguments, in the order of the signature.
    pub(crate) arguments: Vec<Argument>,
    /// Whether its function awaits.
    pub(crate) awaits: bool,
    /// Whether its function may fail.
    pub(crate) fails: bool,
}

/// One parameter of the function.
pub(crate) struct Argument {
    /// What callers name it by.
    pub(crate) name: String,
    /// The first paragraph of its comment.
    pub(crate) description: String,
    /// Its type as written.
    pub(crate) of: Type,
    /// What holds where a call does not bring it.
    pub(crate) default: Option<Expr>,
}

/// Errors of one function, joined.
#[derive(Default)]
struct Faults(Option<syn::Error>);

impl Faults {
    fn at(&mut self, place: impl quote::ToTokens, message: &str) {
        self.add(syn::Error::new_spanned(place, message));
    }

    fn add(&mut self, fault: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(fault),
            None => self.0 = Some(fault),
        }
    }
}

impl Declaration {
    /// Reads the attribute and the function, and takes off the parameters what is meant for this macro alone.
    ///
    /// # Errors
    /// Everything that keeps the function from being a command.
    pub(crate) fn read(attribute: TokenStream, function: &mut ItemFn) -> Result<Self, syn::Error> {
        let mut faults = Faults::default();
        let mut read = Self {
            name: function.sig.ident.unraw().to_string(),
            description: first_paragraph(&function.attrs),
            hidden: false,
            scopes: Vec::new(),
            arguments: Vec::new(),
            awaits: function.sig.asyncness.is_some(),
            fails: is_named(&function.sig.output, "Result"),
        };
        read.options(attribute, &mut faults);
        if !function.sig.generics.params.is_empty() {
            faults
                .at(&function.sig.generics, "a command has no generic parameters: a call cannot choose them");
        }
        if let Some(variadic) = &function.sig.variadic {
            faults.at(variadic, "a command names each of its arguments");
        }
        for parameter in &mut function.sig.inputs {
            match parameter {
                FnArg::Receiver(receiver) => {
                    faults.at(receiver, "a command is a free function, without `self`");
                }
                FnArg::Typed(parameter) => read.arguments.extend(argument(parameter, &mut faults)),
            }
        }
        match faults.0 {
            Some(all) => Err(all),
            None => Ok(read),
        }
    }

    /// Reads what stands in the brackets of `#[command(…)]`.
    fn options(&mut self, attribute: TokenStream, faults: &mut Faults) {
        let options = syn::meta::parser(|meta| {
            if meta.path.is_ident("hidden") {
                self.hidden = true;
            } else if meta.path.is_ident("name") {
                let name: LitStr = meta.value()?.parse()?;
                if !is_name(&name.value()) {
                    let message =
                        "a command's name has letters, digits, `_`, `-` and `.`, at most 128 of them";
                    return Err(syn::Error::new(name.span(), message));
                }
                self.name = name.value();
            } else if meta.path.is_ident("scopes") {
                let list;
                let value = meta.value()?;
                syn::bracketed!(list in value);
                let scopes = list.parse_terminated(<LitStr as syn::parse::Parse>::parse, syn::Token![,])?;
                self.scopes.extend(scopes);
            } else {
                return Err(meta.error("unknown option; there are `name`, `hidden` and `scopes`"));
            }
            Ok(())
        });
        if let Err(fault) = options.parse2(attribute) {
            faults.add(fault);
        }
    }
}

/// Reads a parameter.
fn argument(parameter: &mut PatType, faults: &mut Faults) -> Option<Argument> {
    let mut default = None;
    for attribute in parameter.attrs.iter().filter(|attribute| attribute.path().is_ident("arg")) {
        let options = attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("default") {
                return Err(meta.error("unknown option; there is `default`"));
            }
            default = Some(meta.value()?.parse()?);
            Ok(())
        });
        if let Err(fault) = options {
            faults.add(fault);
        }
    }
    let description = first_paragraph(&parameter.attrs);
    // The compiler itself knows neither on a parameter.
    parameter
        .attrs
        .retain(|attribute| !attribute.path().is_ident("arg") && !attribute.path().is_ident("doc"));
    let Pat::Ident(name) = &*parameter.pat else {
        faults.at(&parameter.pat, "an argument has a plain name: callers use it");
        return None;
    };
    let name = argument_name(&name.ident);
    if !name.is_ascii() {
        faults.at(&parameter.pat, "an argument's name has ASCII letters, digits and `_`");
    }
    match &*parameter.ty {
        Type::Reference(of) => faults.at(of, "a command owns its arguments: take `String`, not `&str`"),
        Type::ImplTrait(of) => faults.at(of, "an argument has one type: a call cannot choose it"),
        of if default.is_some() && ends_in(of, "Option") => {
            faults.at(of, "an argument with a default is never absent: write its type without `Option`");
        }
        _ => {}
    }
    Some(Argument { name, description, of: (*parameter.ty).clone(), default })
}

fn argument_name(name: &Ident) -> String {
    name.unraw().to_string()
}

/// As the server takes it.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=128).contains(&name.len()) && name.bytes().all(plain)
}

/// Whether what a function returns has this name, however its path begins.
fn is_named(output: &ReturnType, name: &str) -> bool {
    match output {
        ReturnType::Type(_, of) => ends_in(of, name),
        ReturnType::Default => false,
    }
}

fn ends_in(of: &Type, name: &str) -> bool {
    match of {
        Type::Path(path) => path.path.segments.last().is_some_and(|segment| segment.ident == name),
        _ => false,
    }
}

/// The first paragraph of a doc comment, on one line.
fn first_paragraph(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(text) => match &text.lit {
                syn::Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    // A comment between `/**` and `*/` is one attribute of many lines.
    let lines: Vec<String> = lines
        .flat_map(|text| text.split('\n').map(|line| line.trim().to_owned()).collect::<Vec<_>>())
        .collect();
    let begun = lines.iter().skip_while(|line| line.is_empty());
    begun.take_while(|line| !line.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ")
}
