//! Where an entry starts: from the root, from `base_dir`, or at any depth; and its components in normal form.

use super::braces::push;
use super::{Pattern, PatternError, PatternErrorKind, Piece, Side};
use crate::paths::normal;
use std::ops::Range;

/// An entry without glob characters.
pub(super) fn plain(entry: &str, side: Side, base_dir: &str) -> Result<Pattern, PatternError> {
    if side == Side::Deny && !entry.contains('/') && !matches!(entry, "." | "..") {
        let pieces = vec![Piece::Stars, Piece::Text(format!("/{entry}"))];
        return Ok(Pattern { pieces, plain: true });
    }
    // An entry is never empty and holds no NUL, so that only the happy answer is left.
    let path = normal::absolute(base_dir.as_bytes(), entry.as_bytes()).unwrap_or_default();
    if side == Side::Allow && *path == *b"/" {
        return Err(PatternError { kind: PatternErrorKind::WholeTree, range: 0..entry.len() });
    }
    let path = String::from_utf8_lossy(&path).into_owned();
    Ok(Pattern { pieces: vec![Piece::Text(path)], plain: true })
}

/// A glob whose alternatives are written out. `component`: a deny without any `/`.
pub(super) fn glob(
    pieces: Vec<Piece>,
    component: bool,
    side: Side,
    base_dir: &str,
    entry: Range<usize>,
) -> Result<Pattern, PatternError> {
    let mut placed = Vec::with_capacity(pieces.len() + 2);
    if component {
        push(&mut placed, &Piece::Stars);
        push(&mut placed, &Piece::Text("/".to_owned()));
    } else if !is_absolute(&pieces) {
        push(&mut placed, &Piece::Text(format!("{base_dir}/")));
    }
    // A component that begins with stars keeps them apart from the stars before the slash.
    pieces.iter().for_each(|piece| push(&mut placed, piece));
    let fault = |kind| PatternError { kind, range: entry.clone() };
    let pieces = components(placed).ok_or_else(|| fault(PatternErrorKind::ParentInGlob))?;
    if side == Side::Allow && is_whole_tree(&pieces) {
        return Err(fault(PatternErrorKind::WholeTree));
    }
    for piece in &pieces {
        if let (true, Piece::Class(class)) = (side.refuses(), piece) {
            class.folded().map_err(fault)?;
        }
    }
    Ok(Pattern { pieces, plain: false })
}

fn is_absolute(pieces: &[Piece]) -> bool {
    match pieces {
        [Piece::Text(text), ..] => text.starts_with('/'),
        [Piece::Stars, Piece::Text(text), ..] => text.starts_with('/'),
        _ => false,
    }
}

/// Drops `.` components, doubled slashes and a slash at the end. None where a component is `..`.
fn components(pieces: Vec<Piece>) -> Option<Vec<Piece>> {
    let last = pieces.len().checked_sub(1)?;
    let mut normal = Vec::with_capacity(pieces.len());
    for (ix, piece) in pieces.iter().enumerate() {
        let Piece::Text(text) = piece else {
            push(&mut normal, piece);
            continue;
        };
        let parts: Vec<_> = text.split('/').collect();
        let (first_part, last_part) = (0, parts.len() - 1);
        let mut kept = String::with_capacity(text.len());
        for (at, part) in parts.iter().enumerate() {
            // A part is a whole component where nothing of a neighbouring piece touches it.
            let whole = (at > first_part || ix == 0) && (at < last_part || ix == last);
            match *part {
                ".." if whole => return None,
                "" | "." if whole && at > first_part => {}
                part => {
                    if at > first_part {
                        kept.push('/');
                    }
                    kept.push_str(part);
                }
            }
        }
        push(&mut normal, &Piece::Text(kept));
    }
    if normal.is_empty() {
        normal.push(Piece::Text("/".to_owned()));
    }
    Some(normal)
}

fn is_whole_tree(pieces: &[Piece]) -> bool {
    let everything = pieces.iter().any(|piece| matches!(piece, Piece::Stars));
    let nothing_named = pieces.iter().all(|piece| match piece {
        Piece::Text(text) => text.bytes().all(|byte| byte == b'/'),
        Piece::Stars | Piece::Star => true,
        Piece::One | Piece::Class(_) => false,
    });
    nothing_named && (everything || matches!(pieces, [Piece::Text(_)]))
}
