/// Where the addresses of a striped array lie on its columns: chunk `k` is chunk `k / columns` of column
/// `k mod columns`.
///
/// ```text
/// array    | 0 | 1 | 2 | 3 | 4 | 5 | 6 | …        chunks
/// column 0 | 0 | 3 | 6 | …
/// column 1 | 1 | 4 | …
/// column 2 | 2 | 5 | …
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stripes {
    /// Length of a chunk; not 0.
    pub chunk_bytes: u64,
    /// Number of columns; not 0.
    pub columns: u64,
}

/// A range of an array that lies in one chunk, or one column's share of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The column.
    pub column: usize,
    /// Where it begins on the column.
    pub offset_bytes: u64,
    /// How long it is.
    pub length_bytes: u64,
}

impl Stripes {
    /// The pieces of a range, in the order of the array's addresses; each ends with its chunk or with the
    /// range.
    pub fn pieces(self, offset_bytes: u64, length_bytes: u64) -> impl Iterator<Item = Piece> {
        let end = offset_bytes.saturating_add(length_bytes);
        let mut at = offset_bytes;
        std::iter::from_fn(move || {
            let piece = (at < end).then(|| self.piece_at(at, end))?;
            at += piece.length_bytes;
            Some(piece)
        })
    }

    fn piece_at(self, at: u64, end: u64) -> Piece {
        let (chunk, within) = (at / self.chunk_bytes, at % self.chunk_bytes);
        Piece {
            column: usize::try_from(chunk % self.columns).unwrap_or(usize::MAX),
            offset_bytes: chunk / self.columns * self.chunk_bytes + within,
            length_bytes: (self.chunk_bytes - within).min(end - at),
        }
    }

    /// What a range covers on each column: one piece for each that it touches, because consecutive chunks of
    /// a column belong to consecutive rows.
    pub fn shares(self, offset_bytes: u64, length_bytes: u64) -> Vec<Piece> {
        let mut shares: Vec<Piece> = Vec::new();
        for piece in self.pieces(offset_bytes, length_bytes) {
            match shares.iter_mut().find(|share| share.column == piece.column) {
                Some(share) => share.length_bytes += piece.length_bytes,
                None => shares.push(piece),
            }
        }
        shares
    }

    /// The array's capacity over columns of the given one: whole rows of chunks. Files that may grow have the largest one each, and
    /// together no more than there can be.
    pub fn capacity_bytes(self, column_bytes: u64) -> u64 {
        (column_bytes / self.chunk_bytes * self.chunk_bytes).saturating_mul(self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_one_place() {
        for (chunk_bytes, columns) in [(1, 1), (4, 1), (4, 2), (3, 5), (7, 3)] {
            let stripes = Stripes { chunk_bytes, columns };
            let column_bytes = 4 * chunk_bytes + 1;
            let capacity = stripes.capacity_bytes(column_bytes);
            let mut seen = std::collections::BTreeSet::new();
            for at in 0..capacity {
                let piece = stripes.pieces(at, 1).next().unwrap();
                assert!(piece.offset_bytes < column_bytes && (piece.column as u64) < columns);
                assert!(seen.insert((piece.column, piece.offset_bytes)), "two bytes in one place");
            }
        }
    }

    #[test]
    fn ranges_lie_where_their_bytes_lie() {
        let stripes = Stripes { chunk_bytes: 3, columns: 4 };
        for offset in 0..30 {
            for length in 0..40 {
                let pieces: Vec<Piece> = stripes.pieces(offset, length).collect();
                let bytes = pieces.iter().flat_map(|piece| {
                    (0..piece.length_bytes).map(|byte| (piece.column, piece.offset_bytes + byte))
                });
                let expected = (offset..offset + length).map(|at| {
                    let piece = stripes.piece_at(at, at + 1);
                    (piece.column, piece.offset_bytes)
                });
                assert!(bytes.eq(expected));
                check_shares(&pieces, &stripes.shares(offset, length));
            }
        }
    }

    /// A column's pieces follow one another without gaps, so that its share is one range.
    fn check_shares(pieces: &[Piece], shares: &[Piece]) {
        for share in shares {
            let mut at = share.offset_bytes;
            for piece in pieces.iter().filter(|piece| piece.column == share.column) {
                assert_eq!(piece.offset_bytes, at);
                at += piece.length_bytes;
            }
            assert_eq!(at, share.offset_bytes + share.length_bytes);
        }
    }

    #[test]
    fn the_figure_above_holds() {
        let stripes = Stripes { chunk_bytes: 10, columns: 3 };
        let piece = |column, offset_bytes, length_bytes| Piece { column, offset_bytes, length_bytes };
        let pieces: Vec<Piece> = stripes.pieces(25, 20).collect();
        assert_eq!(pieces, [piece(2, 5, 5), piece(0, 10, 10), piece(1, 10, 5)]);
        assert_eq!(stripes.shares(0, 70), [piece(0, 0, 30), piece(1, 0, 20), piece(2, 0, 20)]);
    }
}
