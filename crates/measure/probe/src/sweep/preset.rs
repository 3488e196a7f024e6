//! Parameter spaces of papers, for comparison with their tables.

use nandle_profile::OperationKind;

use crate::load::Stop;
use crate::pattern::PatternSpec;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Paper that defines a parameter space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Baumann, de Nijs, Strobel, Sattler, `DaMoN` 2010 (§1.1): random reads in groups and
    /// sequential reads, of 2 KiB to 4 MiB at depths up to 128. Each run ends after 4 GiB.
    Diat,
    /// Gottstein, Petrov, Almeida, Ivanov, Buchmann, TU Darmstadt 2010: sequential and random reads
    /// and writes over block sizes, at depth 32 for throughput and at depth 1 for latency.
    Flashydb,
    /// `IOzone` as used by Regola, Cieslak, Chawla (ASBD 2012): sequential and random reads and
    /// writes over record sizes, one request at a time.
    Iozone,
    /// Bouganim, Jónsson, Bonnet, CIDR 2009: the address patterns of uFLIP with blocks of 32 KiB,
    /// one request at a time.
    Uflip,
}

/// Axes of a parameter space.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    /// Address patterns.
    pub patterns: Vec<PatternSpec>,
    /// Kinds of operation.
    pub operations: Vec<OperationKind>,
    /// Bytes of one request.
    pub block_sizes: Vec<u64>,
    /// Blocks in a group.
    pub group_sizes: Vec<u64>,
    /// Queue depths.
    pub queue_depths: Vec<u32>,
    /// End of a cell's run; `None` if the paper doesn't give it.
    pub stop: Option<Stop>,
}

impl Preset {
    /// Parameter space of the paper.
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
    fn each_preset_contains_the_settings_of_its_paper() {
        let diat = Preset::Diat.space();
        // C6 uses depth 128, C9 groups of 4, 8 and 16 at that depth, C4 blocks of 2 MB.
        assert!(
            diat.queue_depths.contains(&128)
                && [4, 8, 16].iter().all(|group| diat.group_sizes.contains(group))
        );
        assert!(diat.block_sizes.contains(&(2 * MIB)) && diat.operations == [OperationKind::Read]);
        assert!(Preset::Flashydb.space().queue_depths.contains(&32));
        let iozone = Preset::Iozone.space();
        // C40 uses 4 KB, 32 KB, 256 KB and 8 MB.
        assert!(
            [4 * KIB, 32 * KIB, 256 * KIB, 8 * MIB].iter().all(|record| iozone.block_sizes.contains(record))
        );
        let uflip = Preset::Uflip.space().patterns;
        for pattern in ["focused:8MiB", "partitioned:8", "ordered:-1", "ordered:0", "random", "sequential"] {
            assert!(uflip.contains(&pattern.parse().unwrap()), "{pattern}");
        }
    }
}
