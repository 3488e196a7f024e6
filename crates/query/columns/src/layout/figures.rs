use super::Layout;

/// Measured figures of a device and of decoding, from which a layout is derived.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayoutFigures {
    /// The profile's flexible block: the least request length that reaches nearly the full rate at
    /// a deep queue.
    pub flexible_block_bytes: u64,
    /// Fixed decoding time per page.
    pub decode_fixed_ns: f64,
    /// Device time per request of the flexible block, at a saturating depth.
    pub device_block_ns: f64,
    /// Request length from which the time per byte is nearly minimal.
    pub near_full_bytes: u64,
}

/// Limit on a page's fixed decoding time, as a share of its device time.
const FIXED_SHARE_MAX: f64 = 0.1;

impl Layout {
    /// Derives a layout. Pages have the size of the flexible block, doubled until the fixed
    /// decoding time is at most a tenth of the device time. Row groups are so large that a column
    /// of half a byte per row fills a near-full request.
    pub fn from_figures(figures: &LayoutFigures) -> Self {
        let block_ns_per_byte = figures.device_block_ns / figures.flexible_block_bytes.max(1) as f64;
        let mut page_bytes = figures.flexible_block_bytes.max(4096);
        // The device is saturated, so its time is proportional to the number of blocks.
        while page_bytes < 1 << 20
            && figures.decode_fixed_ns > FIXED_SHARE_MAX * block_ns_per_byte * page_bytes as f64
        {
            page_bytes *= 2;
        }
        let row_group_rows = (figures.near_full_bytes * 2).next_power_of_two().clamp(1 << 20, 4 << 20);
        Self { page_bytes, row_group_rows, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> LayoutFigures {
        LayoutFigures {
            flexible_block_bytes: 8192,
            decode_fixed_ns: 1000.0,
            device_block_ns: 10_000.0,
            near_full_bytes: 256 << 10,
        }
    }

    #[test]
    fn a_page_is_the_flexible_block() {
        assert_eq!(Layout::from_figures(&figures()).page_bytes, 8192);
    }

    #[test]
    fn decoding_costs_a_tenth_at_most() {
        let fast = LayoutFigures { device_block_ns: 2_000.0, ..figures() };
        assert_eq!(
            Layout::from_figures(&fast).page_bytes,
            65_536,
            "a page of 5 blocks, rounded up to a power of two"
        );
    }

    #[test]
    fn a_column_of_a_row_group_is_a_near_full_request() {
        assert_eq!(Layout::from_figures(&figures()).row_group_rows, 1 << 20);
        let disk = LayoutFigures { near_full_bytes: 1 << 20, ..figures() };
        assert_eq!(Layout::from_figures(&disk).row_group_rows, 2 << 20);
    }
}
