//! Webhooks: telling others what happens, at least once and in order.
//!
//! Events become rows of an outbox in the database, so that a server that dies loses none. Deliveries of one session to one
//! webhook leave one after the other; one that fails is tried again after 1 s, 2 s, 4 s, up to 10 min, for 24 hours. Every
//! connection is judged by the URL rules that are in force then.
//!
//! - `rows`: webhooks and their latest deliveries in the database
//! - `outbox`: from the log into the outbox, and out of it
//! - `choice`: which events a webhook wants
//! - `signed`: one signed request
//! - `post`: the task that delivers

pub mod choice;
pub mod outbox;
pub mod post;
pub mod rows;
pub mod signed;
