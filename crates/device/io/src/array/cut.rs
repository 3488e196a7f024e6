//! Splits the buffers of a request into the columns' shares, and joins them again.

use smallvec::SmallVec;

use super::layout::Piece;
use crate::device::BUFFERS_MAX;
use crate::{Buffer, BufferMut, ReadBuffers};

/// Request to one column.
#[derive(Debug)]
pub(super) struct Share<B> {
    pub(super) column: usize,
    pub(super) offset_bytes: u64,
    length_bytes: u64,
    pub(super) buffers: SmallVec<[B; 1]>,
    /// Number of each buffer among the request's fragments.
    pub(super) fragments: SmallVec<[usize; 1]>,
}

/// Index of the request's buffer that each fragment was cut from.
#[derive(Debug, Default)]
pub(super) struct Owners(SmallVec<[usize; 4]>);

/// Buffer handle that can be split.
pub(super) trait Cut: Sized {
    fn bytes(&self) -> usize;
    fn cut_first(&mut self, bytes: usize) -> Self;
}

impl Cut for BufferMut {
    fn bytes(&self) -> usize {
        self.len()
    }

    fn cut_first(&mut self, bytes: usize) -> Self {
        self.split_to(bytes)
    }
}

impl Cut for Buffer {
    fn bytes(&self) -> usize {
        self.len()
    }

    fn cut_first(&mut self, bytes: usize) -> Self {
        let first = self.slice(0..bytes);
        *self = self.slice(bytes..self.len());
        first
    }
}

/// Splits `buffers` to cover `pieces` of the same total length.
pub(super) fn cut<B: Cut>(
    buffers: SmallVec<[B; 1]>,
    mut pieces: impl Iterator<Item = Piece>,
) -> (Vec<Share<B>>, Owners) {
    let mut shares = Vec::new();
    let mut owners = Owners::default();
    let Some(mut piece) = pieces.next() else { return (shares, owners) };
    for (owner, mut buffer) in buffers.into_iter().enumerate() {
        loop {
            if piece.length_bytes == 0
                && let Some(next) = pieces.next()
            {
                piece = next;
            }
            let bytes = usize::try_from(piece.length_bytes).unwrap_or(usize::MAX).min(buffer.bytes());
            let fragment = owners.0.len();
            owners.0.push(owner);
            add(&mut shares, piece, fragment, buffer.cut_first(bytes));
            piece.offset_bytes += bytes as u64;
            piece.length_bytes -= bytes as u64;
            if buffer.bytes() == 0 || bytes == 0 {
                break;
            }
        }
    }
    (shares, owners)
}

/// Adds a fragment to its column's last share, or to a new share.
fn add<B: Cut>(shares: &mut Vec<Share<B>>, piece: Piece, fragment: usize, buffer: B) {
    let bytes = buffer.bytes() as u64;
    let continued = shares.iter_mut().rev().find(|share| share.column == piece.column);
    match continued.filter(|share| share.buffers.len() < BUFFERS_MAX) {
        Some(share) => {
            debug_assert_eq!(
                share.offset_bytes + share.length_bytes,
                piece.offset_bytes,
                "a gap on a column"
            );
            share.length_bytes += bytes;
            share.buffers.push(buffer);
            share.fragments.push(fragment);
        }
        None => shares.push(Share {
            column: piece.column,
            offset_bytes: piece.offset_bytes,
            length_bytes: bytes,
            buffers: SmallVec::from_iter([buffer]),
            fragments: SmallVec::from_iter([fragment]),
        }),
    }
}

impl Owners {
    /// Empty places, one for each fragment.
    pub(super) fn places(&self) -> Vec<Option<BufferMut>> {
        self.0.iter().map(|_| None).collect()
    }

    /// Joins the fragments into the original buffers.
    pub(super) fn join(&self, fragments: Vec<Option<BufferMut>>) -> ReadBuffers {
        let mut joined = ReadBuffers::new();
        let mut last_owner = None;
        for (fragment, &owner) in fragments.into_iter().flatten().zip(&self.0) {
            match joined.pop() {
                Some(begun) if last_owner == Some(owner) => match begun.join(fragment) {
                    Ok(whole) => joined.push(whole),
                    Err(apart) => joined.extend([apart.0, apart.1]),
                },
                others => joined.extend(others.into_iter().chain([fragment])),
            }
            last_owner = Some(owner);
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arena;
    use crate::array::Stripes;

    /// Cuts at chunks of 4 bytes over 3 columns, from byte 2 on, and joins again.
    fn cut_and_join(lengths: &[usize]) {
        let arena = Arena::new(1 << 20).unwrap();
        let buffers: ReadBuffers = lengths.iter().map(|bytes| arena.allocate(*bytes).unwrap()).collect();
        let places: Vec<_> = buffers.iter().map(|buffer| (buffer.as_ptr(), buffer.len())).collect();
        let stripes = Stripes { chunk_bytes: 4, columns: 3 };
        let total = lengths.iter().sum::<usize>() as u64;
        let (shares, owners) = cut(buffers, stripes.pieces(2, total));
        let mut fragments = owners.places();
        for share in shares {
            assert!(share.buffers.len() <= BUFFERS_MAX);
            for (fragment, buffer) in share.fragments.into_iter().zip(share.buffers) {
                assert!(fragments[fragment].replace(buffer).is_none());
            }
        }
        let joined = owners.join(fragments);
        assert!(joined.iter().map(|buffer| (buffer.as_ptr(), buffer.len())).eq(places));
    }

    #[test]
    fn what_was_cut_joins_again() {
        for lengths in [&[1][..], &[3, 1, 90], &[0, 5, 0, 0, 17, 0], &[2, 4, 4], &[20_000, 7]] {
            cut_and_join(lengths);
        }
    }

    #[test]
    fn a_share_is_contiguous_on_its_column() {
        let arena = Arena::new(1 << 20).unwrap();
        let whole = arena.allocate(30).unwrap().freeze();
        let stripes = Stripes { chunk_bytes: 4, columns: 3 };
        let (shares, _) = cut(SmallVec::from_iter([whole]), stripes.pieces(2, 30));
        let found: Vec<_> =
            shares.iter().map(|share| (share.column, share.offset_bytes, share.length_bytes)).collect();
        assert_eq!(found, [(0, 2, 10), (1, 0, 12), (2, 0, 8)]);
    }
}
