//! The attribute on what is no function.

struct Hello;
