//! What changes between two policies: by example, and by chance against the decision itself.
//!
//! `cases/<slug>.yaml` holds a `note` and the policies `old` and `new`; what the comparison says stands beside it as
//! `<slug>.txt`. `examples/changes/<slug>/` holds `before.yaml` and `after.yaml`, and `diff.txt`.

#[path = "../golden.rs"]
mod golden;

#[cfg(test)]
mod agree;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod fuzzed;
#[cfg(test)]
mod in_vain;
#[cfg(test)]
mod random;
#[cfg(test)]
mod upstream;
