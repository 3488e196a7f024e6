use super::{Place, Recipe};

const KNOWN: &str = "crates/prove/trace/src/format/columns/known/mod.rs";
const FORMATS: &str = "crates/prove/trace/src/format/mod.rs";
const FORMAT_ARG: &str = "crates/programs/nandle/src/commands/trace/mod.rs";

pub(super) const RECIPE: Recipe = Recipe {
    heading: "### A trace format of columns",
    own: &["crates/prove/trace/src/format/columns/known/spc.rs"],
    names: &[("spc", "made_up_format"), ("SPC", "MADE_UP_FORMAT"), ("Spc", "MadeUpFormat")],
    edits: &[
        (KNOWN, "mod spc;\n", "mod made_up_format;\nmod spc;\n"),
        (
            KNOWN,
            "pub(in crate::format) use self::spc::",
            "pub(in crate::format) use self::made_up_format::MADE_UP_FORMAT;\npub(in crate::format) use self::spc::",
        ),
        (FORMATS, "    Spc,\n    ///", "    Spc,\n    /// Made up.\n    MadeUpFormat,\n    ///"),
        (FORMATS, "[Self; 13] =", "[Self; 14] ="),
        (
            FORMATS,
            "        Self::Spc,\n        Self::Fiu,",
            "        Self::Spc,\n        Self::MadeUpFormat,\n        Self::Fiu,",
        ),
        (
            FORMATS,
            "            Self::Spc => \"spc\",\n",
            "            Self::Spc => \"spc\",\n            Self::MadeUpFormat => \"made-up-format\",\n",
        ),
        (
            FORMATS,
            "            Self::Spc => \"an SPC",
            "            Self::MadeUpFormat => \"made up\",\n            Self::Spc => \"an SPC",
        ),
        (
            FORMATS,
            "            Self::Spc => Some",
            "            Self::MadeUpFormat => Some(&known::MADE_UP_FORMAT),\n            Self::Spc => Some",
        ),
        (FORMATS, "            | Self::Spc\n", "            | Self::Spc\n            | Self::MadeUpFormat\n"),
        (
            FORMATS,
            "            Self::Spc => columns",
            "            Self::MadeUpFormat => columns(&known::MADE_UP_FORMAT),\n            Self::Spc => columns",
        ),
        (FORMAT_ARG, "    Spc,\n", "    Spc,\n    /// Made up\n    MadeUpFormat,\n"),
        (
            FORMAT_ARG,
            "            FormatArg::Spc =>",
            "            FormatArg::MadeUpFormat => Self::MadeUpFormat,\n            FormatArg::Spc =>",
        ),
    ],
    shows: &[(Place::Answer("trace stat --help"), "made-up-format")],
};
