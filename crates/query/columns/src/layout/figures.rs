use super::Layout;

/// What was measured of a device and of decoding, from which a layout follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayoutFigures {
    /// The profile's flexible block: the least request that comes at nearly the full rate when the queue is deep.
    pub flexible_block_bytes: u64,
    /// What a page costs to decode however small it is.
    pub decode_fixed_ns: f64,
    /// What the device takes for a request of the flexible block, with as many in flight as saturate it.
    pub device_block_ns: f64,
    /// The size from which a request is nearly as fast as it gets, per byte.
    pub near_full_bytes: u64,
}

/// Decoding a page may cost a tenth of the device's time for it, but for its bytes.
const FIXED_SHARE_MAX: f64 = 0.1;

impl Layout {
    /// Pages of the flexible block, doubled until the fixed cost of decoding one is a tenth of the device's time for it at most; row
    /// groups in which a column of half a byte per row takes a near-full request.
    pub fn from_figures(figures: &LayoutFigures) -> Self {
        let block_ns_per_byte = figures.device_block_ns / figures.flexible_block_bytes.max(1) as f64;
        let mut page_bytes = figures.flexible_block_bytes.max(4096);
        // The time of more than one block is in proportion: the device is saturated.
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
