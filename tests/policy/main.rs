//! The policy language, case by case: each module walks one folder of cases beside it.

#[path = "../golden.rs"]
mod golden;

#[cfg(test)]
mod diagnose;
#[cfg(test)]
mod merge;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod schema;
