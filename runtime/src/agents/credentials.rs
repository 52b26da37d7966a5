//! Secrets by name: values go in and never come out, but into the processes that they are bound to.
//!
//! | module | |
//! |---|---|
//! | `masks` | known values, taken out of every text |

mod masks;

pub use masks::Masks;
