//! What changes between two policies: by example, one file a case, and by chance, against the decision itself.
//!
//! `cases/<slug>.yaml` holds a `note`, the policies `old` and `new`, and the `presets` that replace theirs. What the
//! comparison says stands beside it as `<slug>.txt`.

#[cfg(test)]
mod agree;
#[cfg(test)]
mod random;
