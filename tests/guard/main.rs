//! The path guard and the file services over it, against a tree full of traps.
//!
//! `table` runs one table of paths over both resolvers, both link modes and every operation; `races` moves the ground
//! while it is walked on; `mounts` puts kernel file systems inside the base; `poorer` takes away what a file system can;
//! `durable` stops a writer at each step; `deadlines` are about work without an end; `properties` draws paths at random;
//! `sealed` gives what is sealed other names; `services` are the cases of single services. What lies outside must be as it was.

#[path = "../golden.rs"]
mod golden;

#[cfg(test)]
mod deadlines;
#[cfg(test)]
mod durable;
#[cfg(test)]
mod mounts;
#[cfg(test)]
mod poorer;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod races;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod sealed;
#[cfg(test)]
mod services;
#[cfg(test)]
mod table;
#[cfg(test)]
mod world;
