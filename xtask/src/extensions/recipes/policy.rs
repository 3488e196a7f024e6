use super::{Place, Recipe};

const KIND: &str = "crates/storage/pages/src/policy/kind.rs";

pub(super) const RECIPE: Recipe = Recipe {
    heading: "### A write policy",
    own: &["crates/storage/pages/src/policy/stable_ring.rs"],
    names: &[
        ("stable-ring", "made-up-policy"),
        ("stable_ring", "made_up_policy"),
        ("StableRing", "MadeUpPolicy"),
        ("code: 4,", "code: 99,"),
    ],
    edits: &[
        ("crates/storage/pages/src/policy/mod.rs", "mod kind;\n", "mod kind;\nmod made_up_policy;\n"),
        (KIND, "    StableRing,\n", "    StableRing,\n    /// Made up.\n    MadeUpPolicy,\n"),
        (KIND, "[Self; 6] =", "[Self; 7] ="),
        (
            KIND,
            "Self::StableRing, Self::OutOfPlace",
            "Self::StableRing, Self::MadeUpPolicy, Self::OutOfPlace",
        ),
        (
            KIND,
            "            Self::StableRing => &",
            "            Self::MadeUpPolicy => &super::made_up_policy::DESCRIPTOR,\n            Self::StableRing => &",
        ),
        (
            "crates/storage/pages/src/choice/model.rs",
            "PolicyKind::StableRing =>",
            "PolicyKind::StableRing | PolicyKind::MadeUpPolicy =>",
        ),
    ],
    shows: &[
        (Place::Answer("replay --help"), "made-up-policy"),
        (
            Place::Answer("replay trace.csv --on model:made-up-drive --policies made-up-policy --json"),
            "\"made-up-policy\"",
        ),
    ],
};
