use super::{Place, Recipe};

const DERIVE: &str = "crates/measure/probe/src/search/derive/mod.rs";

pub(super) const RECIPE: Recipe = Recipe {
    heading: "### A derived parameter of reading",
    own: &["crates/measure/probe/src/search/derive/efficient.rs"],
    names: &[("efficient", "made_up")],
    edits: &[
        (DERIVE, "mod knee;\n", "mod knee;\nmod made_up;\n"),
        (
            DERIVE,
            "pub use split::",
            "pub use made_up::{made_up_block, made_up_block_by_depth};\npub use split::",
        ),
        (
            DERIVE,
            "        saturating_queue_depth: rows,\n",
            "        saturating_queue_depth: rows,\n        made_up_block_bytes: surfaces.interval(made_up::made_up_block),\n",
        ),
        (
            "crates/measure/profile/src/derived.rs",
            "    /// Cost of reading in groups",
            "    /// Made up.\n    pub made_up_block_bytes: Option<Interval<u64>>,\n    /// Cost of reading in groups",
        ),
    ],
    shows: &[(Place::Probed("probed.json"), "\"made_up_block_bytes\"")],
};
