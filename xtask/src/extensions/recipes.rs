//! What is added: an example's own file once more by another name, and a line or two in the files that list its kind.

/// An addition.
pub(super) struct Recipe {
    /// How its section of CONTRIBUTING begins.
    pub(super) heading: &'static str,
    /// The example's own files.
    pub(super) own: &'static [&'static str],
    /// How the example is called there, and the made-up one.
    pub(super) names: &'static [(&'static str, &'static str)],
    /// A file, what stands there, and what stands there afterwards.
    pub(super) edits: &'static [(&'static str, &'static str, &'static str)],
    /// What has to compile.
    pub(super) packages: &'static [&'static str],
}

impl Recipe {
    /// A path with the made-up name for the example's.
    pub(super) fn renamed(&self, path: &str) -> String {
        if !self.own.contains(&path) {
            return path.into();
        }
        self.names.iter().fold(path.to_owned(), |path, (example, made_up)| path.replace(example, made_up))
    }

    /// Every file that the addition writes.
    pub(super) fn touched(&self) -> Vec<String> {
        let own = self.own.iter().map(|path| self.renamed(path));
        let edited = self.edits.iter().map(|(path, ..)| (*path).to_owned());
        let mut touched: Vec<String> = own.chain(edited).collect();
        touched.sort_unstable();
        touched.dedup();
        touched
    }
}

pub(super) const RECIPES: &[Recipe] = &[DRIVE, TRACE_FORMAT, DERIVED_PARAMETER];

const DRIVE: Recipe = Recipe {
    heading: "### A modelled drive",
    own: &["crates/device/model/drives/crucial-m4-256.toml"],
    names: &[("crucial-m4-256", "made-up")],
    edits: &[(
        "crates/device/model/src/library/files.rs",
        "\"crucial-m4-256\"",
        "\"crucial-m4-256\" \"made-up\"",
    )],
    packages: &["nandle-model"],
};

const FORMATS: &str = "crates/prove/trace/src/format/mod.rs";
const FORMAT_ARG: &str = "crates/programs/nandle/src/commands/trace/mod.rs";

const TRACE_FORMAT: Recipe = Recipe {
    heading: "### A trace format",
    own: &["crates/prove/trace/src/format/msr.rs"],
    names: &[("msr", "made_up"), ("Msr", "MadeUp")],
    edits: &[
        (FORMATS, "mod msr;\n", "mod made_up;\nmod msr;\n"),
        (FORMATS, "    Msr,\n", "    Msr,\n    /// Made up.\n    MadeUp,\n"),
        (FORMATS, "[Self; 5] =", "[Self; 6] ="),
        (FORMATS, "Self::FioIolog, Self::Msr]", "Self::FioIolog, Self::Msr, Self::MadeUp]"),
        (
            FORMATS,
            "            Self::Msr => \"msr\",\n",
            "            Self::Msr => \"msr\",\n            Self::MadeUp => \"made-up\",\n",
        ),
        (
            FORMATS,
            "            Self::Msr => \"an MSR",
            "            Self::MadeUp => \"made up\",\n            Self::Msr => \"an MSR",
        ),
        (
            FORMATS,
            "            Self::Msr => msr::",
            "            Self::MadeUp => made_up::begins(line),\n            Self::Msr => msr::",
        ),
        (
            FORMATS,
            "            Self::Msr => Box",
            "            Self::MadeUp => Box::new(made_up::MadeUp),\n            Self::Msr => Box",
        ),
        (FORMAT_ARG, "    Msr,\n", "    Msr,\n    /// Made up\n    MadeUp,\n"),
        (
            FORMAT_ARG,
            "            FormatArg::Msr =>",
            "            FormatArg::MadeUp => Self::MadeUp,\n            FormatArg::Msr =>",
        ),
    ],
    packages: &["nandle-trace", "nandle"],
};

const DERIVE: &str = "crates/measure/probe/src/search/derive/mod.rs";

const DERIVED_PARAMETER: Recipe = Recipe {
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
            "    /// What reading in groups costs",
            "    /// Made up.\n    pub made_up_block_bytes: Option<Interval<u64>>,\n    /// What reading in groups costs",
        ),
    ],
    packages: &["nandle-probe", "nandle-session"],
};
