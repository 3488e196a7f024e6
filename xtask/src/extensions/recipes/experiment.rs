use super::{Place, Recipe};

const PROBE: &str = "crates/measure/probe/src/experiments/mod.rs";
const PROFILE: &str = "crates/measure/profile/src/experiments/mod.rs";
const REPORT: &str = "crates/show/report/src/experiments/mod.rs";

pub(super) const RECIPE: Recipe = Recipe {
    heading: "### An experiment",
    own: &[
        "crates/measure/probe/src/experiments/fill_level.rs",
        "crates/measure/profile/src/experiments/fill_level.rs",
        "crates/show/report/src/experiments/fill_level.rs",
        "crates/decide/advise/src/figures/fill_level.rs",
    ],
    names: &[
        ("lower_fill_levels", "made_up_gains"),
        ("lower_fill_level", "made_up_gain"),
        ("LowerFillLevel", "MadeUpGain"),
        ("FillLevel", "MadeUpFinding"),
        ("FillChange", "MadeUpChange"),
        ("FillAndFragment", "MadeUpExperiment"),
        ("fill_level", "made_up_experiment"),
        ("fill-level", "made-up-experiment"),
    ],
    edits: &[
        (PROBE, "mod lab;\n", "mod lab;\nmod made_up_experiment;\n"),
        (PROBE, "DynExperiment; 15]", "DynExperiment; 16]"),
        (
            PROBE,
            "    &fill_level::FillAndFragment,\n",
            "    &fill_level::FillAndFragment,\n    &made_up_experiment::MadeUpExperiment,\n",
        ),
        (PROFILE, "mod large_writes;\n", "mod large_writes;\nmod made_up_experiment;\n"),
        (
            PROFILE,
            "pub use read_ahead::",
            "pub use made_up_experiment::{MadeUpChange, MadeUpFinding, MadeUpFindings};\npub use read_ahead::",
        ),
        (
            PROFILE,
            "    pub fill_level: Option<Conducted<FillLevels>>,\n",
            "    pub fill_level: Option<Conducted<FillLevels>>,\n    /// Made up.\n    pub made_up_experiment: Option<Conducted<MadeUpFindings>>,\n",
        ),
        (REPORT, "mod missing;\n", "mod made_up_experiment;\nmod missing;\n"),
        (
            REPORT,
            "            fill_level::bars(device),\n",
            "            fill_level::bars(device),\n            made_up_experiment::bars(device),\n",
        ),
        (
            REPORT,
            "            remarks(found.fill_level.as_ref(), \"Fill levels\"),\n",
            "            remarks(found.fill_level.as_ref(), \"Fill levels\"),\n            remarks(found.made_up_experiment.as_ref(), \"Made up\"),\n",
        ),
        (
            REPORT,
            "absent(\"fill-level\", found.fill_level.as_ref()),\n",
            "absent(\"fill-level\", found.fill_level.as_ref()),\n                absent(\"made-up-experiment\", found.made_up_experiment.as_ref()),\n",
        ),
        (
            "crates/programs/nandle/src/commands/probe/summary/writes.rs",
            "        (\"Commit:\",",
            "        (\"Made up:\", experiments.made_up_experiment.as_ref().map(|made_up| made_up.elapsed_ns.to_string())),\n        (\"Commit:\",",
        ),
        (
            "crates/decide/advise/src/figures/mod.rs",
            "mod fill_level;\n",
            "mod fill_level;\nmod made_up_experiment;\n",
        ),
        ("crates/decide/advise/src/products/linux/space.rs", "    if takes_discards(figures) {\n", RULE),
    ],
    shows: &[
        (Place::Answer("probe model:made-up-drive --experiments"), "made-up-experiment: "),
        (Place::Probed("probed.html"), "made-up-experiment"),
        (Place::Answer("advise probed.json --for linux"), "#   made-up: needs random writes"),
    ],
};

const RULE: &str = r#"    let made_up = figures.made_up_gains().map(|(fullest, gains)| {
        let worth = gains.into_iter().filter(|made_up| made_up.space_ratio > made_up.fill_share);
        let gains = worth.map(|made_up| made_up.gain).collect();
        Setting::new("made-up", number(fullest), gains, RuleSource::Ours, "made up")
    });
    collector.add("made-up", made_up);
    if takes_discards(figures) {
"#;
