//! `{a,b}` written out: an entry with alternatives stands for one pattern for each of them.

use super::token::Token;
use super::{PatternError, PatternErrorKind, Piece, one_character};

const MOST_PATTERNS: usize = 1024;
const DEEPEST: usize = 8;

type Pieces = Vec<Piece>;

/// Every pattern that `tokens` stand for, in written order.
pub(super) fn expand(tokens: &[Token], entry: &str) -> Result<Vec<Pieces>, PatternError> {
    let mut expansion = Expansion { tokens, at: 0, entry };
    let patterns = expansion.sequence(0)?;
    match expansion.tokens.get(expansion.at) {
        Some(Token::Close { at }) => Err(expansion.fault(PatternErrorKind::UnopenedBraces, *at)),
        _ => Ok(patterns),
    }
}

struct Expansion<'a> {
    tokens: &'a [Token],
    at: usize,
    entry: &'a str,
}

impl Expansion<'_> {
    /// Tokens up to the comma or brace that ends an alternative, or to the end.
    fn sequence(&mut self, depth: usize) -> Result<Vec<Pieces>, PatternError> {
        let mut patterns = vec![Pieces::new()];
        while let Some(token) = self.tokens.get(self.at) {
            match token {
                Token::Piece(piece) => patterns.iter_mut().for_each(|pattern| push(pattern, piece)),
                Token::Comma if depth == 0 => {
                    patterns.iter_mut().for_each(|pattern| push(pattern, &Piece::Text(",".to_owned())));
                }
                Token::Comma | Token::Close { .. } => break,
                Token::Open { at } => {
                    let alternatives = self.braces(*at, depth + 1)?;
                    if patterns.len() * alternatives.len() > MOST_PATTERNS {
                        return Err(self.fault(PatternErrorKind::TooManyAlternatives, *at));
                    }
                    patterns = product(&patterns, &alternatives);
                }
            }
            self.at += 1;
        }
        Ok(patterns)
    }

    /// The alternatives of the brace that opens here; stops at the closing brace.
    fn braces(&mut self, open: usize, depth: usize) -> Result<Vec<Pieces>, PatternError> {
        if depth > DEEPEST {
            return Err(self.fault(PatternErrorKind::BracesTooDeep, open));
        }
        let mut alternatives = Vec::new();
        loop {
            self.at += 1;
            alternatives.append(&mut self.sequence(depth)?);
            if alternatives.len() > MOST_PATTERNS {
                return Err(self.fault(PatternErrorKind::TooManyAlternatives, open));
            }
            match self.tokens.get(self.at) {
                Some(Token::Comma) => {}
                Some(_) if alternatives.iter().all(Vec::is_empty) => {
                    return Err(self.fault(PatternErrorKind::EmptyBraces, open));
                }
                Some(_) => return Ok(alternatives),
                None => return Err(self.fault(PatternErrorKind::UnclosedBraces, open)),
            }
        }
    }

    fn fault(&self, kind: PatternErrorKind, at: usize) -> PatternError {
        PatternError { kind, range: one_character(self.entry, at) }
    }
}

fn product(heads: &[Pieces], tails: &[Pieces]) -> Vec<Pieces> {
    let mut all = Vec::with_capacity(heads.len() * tails.len());
    for head in heads {
        for tail in tails {
            let mut whole = head.clone();
            tail.iter().for_each(|piece| push(&mut whole, piece));
            all.push(whole);
        }
    }
    all
}

/// Appends a piece; neighbouring texts become one, and a star beside stars vanishes in them.
pub(super) fn push(pieces: &mut Pieces, piece: &Piece) {
    match (pieces.last_mut(), piece) {
        (_, Piece::Text(text)) if text.is_empty() => {}
        (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(text),
        (Some(Piece::Star | Piece::Stars), Piece::Star) | (Some(Piece::Stars), Piece::Stars) => {}
        (Some(before @ Piece::Star), Piece::Stars) => *before = Piece::Stars,
        _ => pieces.push(piece.clone()),
    }
}
