//! The habits of this repository, held by a test: what every source file begins with, how long one may be, what the file of
//! an endpoint says of itself, and that the pages name nothing that is not there.

#[cfg(test)]
mod habits;
