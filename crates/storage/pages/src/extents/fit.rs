use crate::size::to_usize;

/// Number of pages that fit `blocks` blocks, in extents of `extent_pages` pages with a header each.
pub(crate) fn fitting_pages(blocks: u64, page_blocks: u64, extent_pages: usize) -> usize {
    debug_assert!(extent_pages > 0 && page_blocks > 0, "{extent_pages} pages of {page_blocks} blocks");
    let extent_blocks = extent_pages as u64 * page_blocks + 1;
    let rest = (blocks % extent_blocks).saturating_sub(1) / page_blocks;
    to_usize(blocks / extent_blocks * extent_pages as u64 + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_pages_fit_as_have_room_with_their_headers() {
        for (blocks, page_blocks, extent_pages) in
            [(4, 1, 335), (17, 1, 16), (32, 1, 4), (257, 16, 3), (1024, 4, 252), (1024, 1, 335)]
        {
            let pages = fitting_pages(blocks, page_blocks, extent_pages);
            let needed = |pages: usize| pages as u64 * page_blocks + pages.div_ceil(extent_pages) as u64;
            assert!(needed(pages) <= blocks && needed(pages + 1) > blocks, "{blocks}: {pages}");
        }
    }
}
