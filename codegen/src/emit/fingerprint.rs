//! The fingerprint: what a compiled policy was made for.
//!
//! It covers what the tables say, in their order, and neither comments, spacing nor the spelling of a size. Summaries
//! are left out: a better sentence must not refuse a compiled policy.

use crate::check::{Base, Table};
use proc_macro2::TokenStream;
use quote::quote;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// `TABLE_FINGERPRINT`.
pub(super) fn emit(table: &Table) -> TokenStream {
    let fingerprint = of(table);
    quote! {
        /// SHA-256 of what the declaration says, in lower-case hex: what a compiled policy was made for.
        pub const TABLE_FINGERPRINT: &str = #fingerprint;
    }
}

/// SHA-256 of the canonical form, in lower-case hex.
pub(crate) fn of(table: &Table) -> String {
    Sha256::digest(canonical(table)).iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// One line a row. Debug formatting quotes every text, so that no two tables have the same form.
fn canonical(table: &Table) -> String {
    let mut lines = vec![String::from("endpoint table, form 1")];
    lines.extend(table.groups.iter().map(|row| format!("group {:?} {:?}", row.name.text, row.default)));
    lines.extend(table.scopes.iter().map(|row| format!("scope {:?}", row.name.text)));
    lines.extend(table.bundles.iter().map(|row| format!("bundle {:?} {:?}", row.name, row.scopes)));
    lines.extend(
        table
            .keys
            .iter()
            .map(|row| format!("key {:?} {:?} {:?} {}", row.name.text, row.kind, row.law, row.everywhere)),
    );
    for row in &table.endpoints {
        lines.push(format!(
            "endpoint {:?} {} {:?} {} {} {:?} {:?} {:?}",
            row.name.text,
            row.group,
            row.scopes,
            row.auth_required,
            row.streaming,
            row.limit_class,
            row.accepts,
            row.audit,
        ));
        lines.extend(row.doors.iter().map(|door| {
            format!(
                "door {:?} {:?} {:?} {} {:?} {:?}",
                door.method, door.path, door.body, door.upgrade, door.errors, door.listener,
            )
        }));
        lines.extend(row.base.iter().map(|(key, value)| format!("base {key} {}", base(value))));
    }
    lines.join("\n")
}

fn base(value: &Base) -> String {
    match value {
        Base::Bool(flag) => flag.to_string(),
        Base::Number(number) => number.to_string(),
        Base::Words(words) => format!("{words:?}"),
        Base::Numbers(numbers) => format!("{numbers:?}"),
    }
}
