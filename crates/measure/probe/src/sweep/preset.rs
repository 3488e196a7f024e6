//! The parameter spaces of papers, so that their tables can be put beside ours.

use nandle_profile::OperationKind;

use crate::load::Stop;
use crate::pattern::PatternSpec;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A paper's parameter space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Baumann, de Nijs, Strobel, Sattler, `DaMoN` 2010 (§1.1): random reading in groups, and sequential reading, of 2 KiB
    /// to 4 MiB at depths up to 128; each run ends when 4 GiB were read.
    Diat,
    /// Gottstein, Petrov, Almeida, Ivanov, Buchmann, TU Darmstadt 2010: sequential and random reading and writing over
    /// block sizes, at depth 32 for throughput and at depth 1 for latency.
    Flashydb,
    /// `IOzone`, as Regola, Cieslak, Chawla ran it (ASBD 2012): read, random read, write and random write over record sizes,
    /// one request at a time.
    Iozone,
    /// Bouganim, Jónsson, Bonnet, CIDR 2009: the address patterns of uFLIP with blocks of 32 KiB, one request at a time.
    Uflip,
}

/// The axes of a parameter space.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    /// Address patterns.
    pub patterns: Vec<PatternSpec>,
    /// What the requests do.
    pub operations: Vec<OperationKind>,
    /// Bytes of one request.
    pub block_sizes: Vec<u64>,
    /// Blocks in a group.
    pub group_sizes: Vec<u64>,
    /// Requests outstanding.
    pub queue_depths: Vec<u32>,
    /// When the run of a cell ends; `None` where the paper doesn't say.
    pub stop: Option<Stop>,
}

impl Preset {
    /// Its axes.
    pub fn space(self) -> Space {
        match self {
            Self::Diat => Space {
                patterns: BOTH.to_vec(),
                operations: vec![OperationKind::Read],
                block_sizes: doublings(2 * KIB, 4 * MIB),
                group_sizes: doublings(1, 64),
                queue_depths: depths(128),
                stop: Some(Stop::after_bytes(4 * GIB)),
            },
            Self::Flashydb => Space {
                patterns: BOTH.to_vec(),
                operations: vec![OperationKind::Read, OperationKind::Write],
                block_sizes: doublings(4 * KIB, MIB),
                group_sizes: vec![1],
                queue_depths: vec![1, 32],
                stop: None,
            },
            Self::Iozone => Space {
                patterns: BOTH.to_vec(),
                operations: vec![OperationKind::Read, OperationKind::Write],
                block_sizes: doublings(4 * KIB, 16 * MIB),
                group_sizes: vec![1],
                queue_depths: vec![1],
                stop: None,
            },
            Self::Uflip => Space {
                patterns: uflip_patterns(),
                operations: vec![
                    OperationKind::Read,
                    OperationKind::Write,
                    OperationKind::Mixed { read_percent: 50 },
                ],
                block_sizes: vec![32 * KIB],
                group_sizes: vec![1],
                queue_depths: vec![1],
                stop: None,
            },
        }
    }
}

const BOTH: [PatternSpec; 2] = [PatternSpec::Random, PatternSpec::Sequential];

fn uflip_patterns() -> Vec<PatternSpec> {
    let focused =
        doublings(MIB, 128 * MIB).into_iter().map(|focus_bytes| PatternSpec::Focused { focus_bytes });
    let partitioned = doublings(2, 64).into_iter().map(|streams| PatternSpec::Partitioned { streams });
    let ordered =
        [-1, 0, 2, 4, 8, 16, 32, 64, 128, 256].map(|stride_blocks| PatternSpec::Ordered { stride_blocks });
    BOTH.into_iter().chain(focused).chain(partitioned).chain(ordered).collect()
}

fn doublings(from: u64, to: u64) -> Vec<u64> {
    std::iter::successors(Some(from), |value| Some(value * 2)).take_while(|value| *value <= to).collect()
}

fn depths(to: u32) -> Vec<u32> {
    doublings(1, to.into()).into_iter().filter_map(|depth| u32::try_from(depth).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_space_has_what_its_paper_reports() {
        let diat = Preset::Diat.space();
        // C6 names depth 128, C9 groups of 4, 8 and 16 with it, C4 blocks of 2 MB.
        assert!(
            diat.queue_depths.contains(&128)
                && [4, 8, 16].iter().all(|group| diat.group_sizes.contains(group))
        );
        assert!(diat.block_sizes.contains(&(2 * MIB)) && diat.operations == [OperationKind::Read]);
        assert!(Preset::Flashydb.space().queue_depths.contains(&32));
        let iozone = Preset::Iozone.space();
        // C40 speaks of 4 KB, 32 KB, 256 KB and 8 MB.
        assert!(
            [4 * KIB, 32 * KIB, 256 * KIB, 8 * MIB].iter().all(|record| iozone.block_sizes.contains(record))
        );
        let uflip = Preset::Uflip.space().patterns;
        for pattern in ["focused:8MiB", "partitioned:8", "ordered:-1", "ordered:0", "random", "sequential"] {
            assert!(uflip.contains(&pattern.parse().unwrap()), "{pattern}");
        }
    }
}
