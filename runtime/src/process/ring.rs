//! What a process has printed: both streams in the order they came, by byte offset, within a bound.
//!
//! An offset counts the bytes of one stream since its start. Three things may happen when the bound is reached; see
//! [`Full`].

use std::collections::VecDeque;

use bytes::Bytes;

/// One of the two output streams. A terminal has only the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What happens when a stream has as many bytes kept as it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// Nothing more is read until a reader has acknowledged: the process waits, and nothing is lost.
    Pause,
    /// The oldest bytes make room.
    DropOldest,
    /// The first bytes stay, later ones are counted and dropped.
    KeepHead,
}

/// Bytes of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Which stream.
    pub stream: Stream,
    /// Offset of the first byte.
    pub offset: u64,
    /// The bytes.
    pub data: Bytes,
}

/// A reader's place: how far it is in each stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Next byte wanted, of standard output and standard error.
    pub offsets: [u64; 2],
    /// The segment last seen, so that a long log is not walked from its beginning.
    seen: u64,
}

impl Cursor {
    /// A reader that wants the bytes from these offsets on.
    #[must_use]
    pub fn at(stdout: u64, stderr: u64) -> Self {
        Self { offsets: [stdout, stderr], seen: 0 }
    }
}

/// What one stream has been through.
#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    /// Oldest offset that is still kept.
    first: u64,
    /// Offset behind the last byte kept.
    end: u64,
    /// Bytes kept.
    kept: usize,
    /// Bytes that came and were not kept.
    dropped: u64,
}

/// Small segments are joined up to this size, so that a program that writes byte by byte costs no more than one that
/// does not.
const JOINED: usize = 4096;

/// The log itself.
#[derive(Debug)]
pub struct Log {
    segments: VecDeque<(u64, Segment)>,
    lanes: [Lane; 2],
    next: u64,
    capacity: usize,
    full: Full,
    /// How far a reader of the first stream is who must not be overtaken.
    reader: Option<u64>,
}

impl Log {
    /// An empty log that keeps up to `capacity` bytes of each stream.
    #[must_use]
    pub fn new(capacity: usize, full: Full) -> Self {
        Self { segments: VecDeque::new(), lanes: [Lane::default(); 2], next: 1, capacity, full, reader: None }
    }

    /// Bytes that may be read from the process now. Zero means: wait for an acknowledgement.
    #[must_use]
    pub fn room(&self, stream: Stream) -> usize {
        match self.full {
            Full::Pause => self.capacity.saturating_sub(self.lane(stream).kept),
            Full::DropOldest | Full::KeepHead => match self.reader {
                Some(at) if stream == Stream::Stdout => {
                    let ahead =
                        usize::try_from(self.lane(stream).end.saturating_sub(at)).unwrap_or(usize::MAX);
                    self.capacity.saturating_sub(ahead)
                }
                _ => usize::MAX,
            },
        }
    }

    /// Bytes that are kept of each stream.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Says how far a reader of the first stream is: while one is known, the process waits rather than overtake it, and
    /// what it has read stays for the next. `None`: nobody reads.
    pub fn follow(&mut self, reader: Option<u64>) {
        self.reader = reader;
    }

    /// Takes what has been read.
    pub fn push(&mut self, stream: Stream, mut data: Bytes) {
        if self.full == Full::KeepHead {
            let room = self.capacity.saturating_sub(self.lane(stream).kept);
            let lane = self.lane_mut(stream);
            lane.dropped += data.len().saturating_sub(room) as u64;
            data.truncate(room);
        }
        if data.is_empty() {
            return;
        }
        let lane = self.lane_mut(stream);
        let offset = lane.end;
        lane.end += data.len() as u64;
        lane.kept += data.len();
        match self.segments.back_mut() {
            Some((_, last)) if last.stream == stream && last.data.len() + data.len() <= JOINED => {
                last.data = [last.data.as_ref(), data.as_ref()].concat().into();
            }
            _ => {
                self.segments.push_back((self.next, Segment { stream, offset, data }));
                self.next += 1;
            }
        }
        if self.full == Full::DropOldest {
            let excess = self.lane(stream).kept.saturating_sub(self.capacity);
            let first = self.lane(stream).first + excess as u64;
            self.forget(stream, first);
        }
    }

    /// Frees everything before these offsets, where output waits for that ([`Full::Pause`]); what a log keeps anyway stays
    /// for other readers. Returns whether that made room.
    pub fn acknowledge(&mut self, offsets: [u64; 2]) -> bool {
        if self.full != Full::Pause {
            return false;
        }
        let firsts = |lanes: &[Lane; 2]| lanes.map(|lane| lane.first);
        let before = firsts(&self.lanes);
        let [stdout, stderr] = offsets;
        self.forget(Stream::Stdout, stdout);
        self.forget(Stream::Stderr, stderr);
        before != firsts(&self.lanes)
    }

    /// The next bytes for a reader, in the order they came, up to about `limit`. A reader that wants bytes no longer
    /// kept goes on at the oldest kept.
    pub fn read(&self, cursor: &mut Cursor, limit: usize) -> Vec<Segment> {
        for (offset, lane) in cursor.offsets.iter_mut().zip(&self.lanes) {
            *offset = (*offset).max(lane.first);
        }
        let mut found = Vec::new();
        let mut taken = 0;
        let start = self.segments.partition_point(|(number, _)| *number < cursor.seen);
        for (number, segment) in self.segments.range(start..) {
            if taken >= limit {
                break;
            }
            cursor.seen = *number;
            let [stdout, stderr] = &mut cursor.offsets;
            let place = if segment.stream == Stream::Stdout { stdout } else { stderr };
            let skip = usize::try_from(place.saturating_sub(segment.offset)).unwrap_or(usize::MAX);
            if skip >= segment.data.len() {
                continue;
            }
            let data = segment.data.slice(skip..);
            taken += data.len();
            *place += data.len() as u64;
            found.push(Segment { stream: segment.stream, offset: segment.offset + skip as u64, data });
        }
        found
    }

    /// Up to `limit` kept bytes of one stream from `offset` on, and the offset they begin at.
    #[must_use]
    pub fn slice(&self, stream: Stream, offset: u64, limit: usize) -> (u64, Vec<u8>) {
        let start = offset.max(self.lane(stream).first);
        let mut bytes = Vec::new();
        for piece in self.pieces(stream, start, limit) {
            bytes.extend_from_slice(piece);
        }
        (start, bytes)
    }

    /// The same where they lie, without a copy.
    pub fn pieces(&self, stream: Stream, offset: u64, limit: usize) -> impl Iterator<Item = &[u8]> {
        let mut left = limit;
        let segments = self.segments.iter().filter(move |(_, segment)| segment.stream == stream);
        segments.map_while(move |(_, segment)| {
            let skip = usize::try_from(offset.saturating_sub(segment.offset)).unwrap_or(usize::MAX);
            let rest = segment.data.get(skip..).unwrap_or_default();
            let piece = rest.get(..left).unwrap_or(rest);
            let wanted = left > 0;
            left -= piece.len();
            wanted.then_some(piece)
        })
    }

    /// Oldest offset kept.
    #[must_use]
    pub fn first(&self, stream: Stream) -> u64 {
        self.lane(stream).first
    }

    /// Offset behind the newest byte kept.
    #[must_use]
    pub fn end(&self, stream: Stream) -> u64 {
        self.lane(stream).end
    }

    /// Whether bytes came that were not kept at the end ([`Full::KeepHead`]).
    #[must_use]
    pub fn truncated(&self, stream: Stream) -> bool {
        self.lane(stream).dropped > 0
    }

    /// Bytes that came and were not kept at the end.
    #[must_use]
    pub fn dropped(&self, stream: Stream) -> u64 {
        self.lane(stream).dropped
    }

    /// Frees what stands before `offset` in one stream.
    fn forget(&mut self, stream: Stream, offset: u64) {
        let lane = self.lane_mut(stream);
        let offset = offset.min(lane.end);
        if offset <= lane.first {
            return;
        }
        lane.kept -= usize::try_from(offset - lane.first).unwrap_or(lane.kept);
        lane.first = offset;
        let mut at = 0;
        while let Some((_, segment)) = self.segments.get_mut(at) {
            let end = segment.offset + segment.data.len() as u64;
            if segment.stream != stream {
                at += 1;
            } else if end <= offset {
                self.segments.remove(at);
            } else {
                if segment.offset < offset {
                    let skip = usize::try_from(offset - segment.offset).unwrap_or(usize::MAX);
                    segment.data = segment.data.slice(skip..);
                    segment.offset = offset;
                }
                break;
            }
        }
    }

    fn lane(&self, stream: Stream) -> &Lane {
        let [stdout, stderr] = &self.lanes;
        if stream == Stream::Stdout { stdout } else { stderr }
    }

    fn lane_mut(&mut self, stream: Stream) -> &mut Lane {
        let [stdout, stderr] = &mut self.lanes;
        if stream == Stream::Stdout { stdout } else { stderr }
    }
}

#[cfg(test)]
mod tests;
