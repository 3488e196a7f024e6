use super::{Place, Recipe};

pub(super) const RECIPE: Recipe = Recipe {
    heading: "### A modelled drive",
    own: &["crates/device/model/drives/crucial-m4-256.toml"],
    names: &[("crucial-m4-256", "made-up-drive")],
    edits: &[(
        "crates/device/model/src/library/files.rs",
        "\"crucial-m4-256\"",
        "\"crucial-m4-256\" \"made-up-drive\"",
    )],
    shows: &[
        (Place::Answer("models list"), "made-up-drive"),
        (Place::Probed("probed.json"), "made-up-drive"),
    ],
};
