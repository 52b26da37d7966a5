//! The hash of an edge, and the slot that it takes.
//!
//! This file is compiled twice: into `codegen`, which lays out the route table with it, and into the server, which
//! looks up with it. It hashes eight bytes at a time; the keys are fixed, so that no request can make it slow.

/// An odd constant with its bits well spread (2⁶⁴ divided by the golden ratio).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The hash of the edge that leaves node `from` by `segment`.
#[inline]
pub(crate) fn edge(seed: u64, from: u16, segment: &[u8]) -> u64 {
    let mut hash = mix(seed ^ (u64::from(from) << 32) ^ segment.len() as u64);
    let mut rest = segment;
    while let Some((word, others)) = rest.split_first_chunk::<8>() {
        hash = mix(hash ^ u64::from_le_bytes(*word));
        rest = others;
    }
    let tail = rest.iter().rfold(0, |word, byte| (word << 8) | u64::from(*byte));
    mix(hash ^ tail)
}

/// The bucket of a hash, of a power of two of buckets.
#[inline]
pub(crate) fn bucket(hash: u64, buckets: usize) -> usize {
    (hash >> 48) as usize & (buckets - 1)
}

/// The slot of a hash whose bucket has `displacement`, of a power of two of slots.
#[inline]
pub(crate) fn slot(hash: u64, displacement: u16, slots: usize) -> usize {
    let step = (hash >> 24) | 1;
    hash.wrapping_add(u64::from(displacement).wrapping_mul(step)) as usize & (slots - 1)
}

#[inline]
fn mix(word: u64) -> u64 {
    let product = u128::from(word) * u128::from(SPREAD);
    (product >> 64) as u64 ^ product as u64
}
