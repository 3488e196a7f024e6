use super::{Place, Recipe};

const FORMATS: &str = "crates/prove/trace/src/format/mod.rs";
const FORMAT_ARG: &str = "crates/programs/nandle/src/commands/trace/mod.rs";

pub(super) const RECIPE: Recipe = Recipe {
    heading: "### A trace format",
    own: &["crates/prove/trace/src/format/msr.rs"],
    names: &[("msr", "made_up_format"), ("Msr", "MadeUpFormat")],
    edits: &[
        (FORMATS, "mod msr;\n", "mod made_up_format;\nmod msr;\n"),
        (FORMATS, "    Msr,\n", "    Msr,\n    /// Made up.\n    MadeUpFormat,\n"),
        (FORMATS, "[Self; 6] =", "[Self; 7] ="),
        (FORMATS, "Self::Msr, Self::DiskSim]", "Self::Msr, Self::DiskSim, Self::MadeUpFormat]"),
        (
            FORMATS,
            "            Self::Msr => \"msr\",\n",
            "            Self::Msr => \"msr\",\n            Self::MadeUpFormat => \"made-up-format\",\n",
        ),
        (
            FORMATS,
            "            Self::Msr => \"an MSR",
            "            Self::MadeUpFormat => \"made up\",\n            Self::Msr => \"an MSR",
        ),
        (
            FORMATS,
            "            Self::Msr => msr::",
            "            Self::MadeUpFormat => made_up_format::begins(line),\n            Self::Msr => msr::",
        ),
        (
            FORMATS,
            "            Self::Msr => Box",
            "            Self::MadeUpFormat => Box::new(made_up_format::MadeUpFormat),\n            Self::Msr => Box",
        ),
        (FORMAT_ARG, "    Msr,\n", "    Msr,\n    /// Made up\n    MadeUpFormat,\n"),
        (
            FORMAT_ARG,
            "            FormatArg::Msr =>",
            "            FormatArg::MadeUpFormat => Self::MadeUpFormat,\n            FormatArg::Msr =>",
        ),
    ],
    shows: &[(Place::Answer("trace stat --help"), "made-up-format")],
};
