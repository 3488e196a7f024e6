/// Mapping of a striped array's addresses to its columns: chunk `k` is chunk `k / columns` of
/// column `k mod columns`.
///
/// ```text
/// array    | 0 | 1 | 2 | 3 | 4 | 5 | 6 | …        chunks
/// column 0 | 0 | 3 | 6 | …
/// column 1 | 1 | 4 | …
/// column 2 | 2 | 5 | …
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stripes {
    /// Length of a chunk, at least 1.
    pub chunk_bytes: u64,
    /// Number of columns, at least 1.
    pub columns: u64,
}

/// Part of a range in one chunk, or a column's share of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Column number.
    pub column: usize,
    /// Start on the column.
    pub offset_bytes: u64,
    /// Length of the piece.
    pub length_bytes: u64,
}

impl Stripes {
    /// Pieces of a range in address order; each ends with its chunk or with the range.
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

    /// A range's share of each column that it touches. A share is contiguous, since a column's
    /// chunks are in consecutive rows.
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

    /// Capacity of an array over columns of `column_bytes`: whole rows of chunks. Saturates, since
    /// files that may grow have the largest capacity.
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

    /// Checks that a column's pieces are contiguous, so that its share is one range.
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
