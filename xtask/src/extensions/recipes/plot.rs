use super::{Place, Recipe};

const PLOTS: &str = "crates/show/report/src/plots/mod.rs";

pub(super) const RECIPE: Recipe = Recipe {
    heading: "### A plot",
    own: &["crates/show/report/src/plots/drift.rs"],
    names: &[
        ("drift", "made_up_plot"),
        ("DRIFT", "MADE_UP_PLOT"),
        ("reference-over-time", "made-up-plot"),
        // By these the page leaves an even drift out; another plot has no such case.
        ("const EVEN", "#[cfg(any())]\nconst EVEN"),
        ("pub(crate) fn is_even", "#[cfg(any())]\npub(crate) fn is_even"),
    ],
    edits: &[
        (PLOTS, "mod latency;\n", "mod latency;\nmod made_up_plot;\n"),
        (
            PLOTS,
            "        drift::plot(devices),\n",
            "        drift::plot(devices),\n        made_up_plot::plot(devices),\n",
        ),
    ],
    shows: &[(Place::Probed("probed.html"), "made-up-plot")],
};
