//! Entries and what they are read as.
