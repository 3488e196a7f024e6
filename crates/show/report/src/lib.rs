//! Reports as self-contained HTML files: device profiles, replays, workloads, predictions, flight
//! cubes and traces. They serve people who choose, provision and tune storage for databases. This
//! crate measures nothing. It must never read a file, the clock or the network, and its pages must
//! never do so either.
//!
//! Rust code determines all content of a page: the sentences (`sections`, and the findings in
//! `plots`, `experiments`, `replay`, `play`, `predictions`, `workloads` and `trace`), the curves,
//! bars, maps, points and units. The page's script only draws curves; the other figures need no
//! script.

mod cubes;
mod device;
mod experiments;
mod figures;
mod island;
mod page;
mod play;
mod plots;
mod predictions;
mod profiles;
mod questions;
mod replay;
mod sections;
mod text;
mod trace;
mod workloads;

#[cfg(test)]
#[path = "../tests/made_up/mod.rs"]
mod made_up;

use nandle_profile::DeviceProfile;

pub use cubes::{CubesClass, CubesPath, CubesReport, CubesTurning, cubes_html};
pub use play::play_html;
pub use predictions::prediction_html;
pub use replay::replay_html;
pub use trace::{TraceReport, trace_html};
pub use workloads::{place_html, workload_html};

/// Error while making a report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The list of profiles is empty.
    #[error("a report needs at least one device profile and got none; make one with `nandle probe TARGET`")]
    NoProfile,
    /// A profile can't be written as JSON into the page.
    #[error("can't write the profile of {target} into the report: {source}")]
    Profile {
        /// Target of the profile.
        target: String,
        /// Cause.
        source: serde_json::Error,
    },
}

/// Renders the report on one device, or the comparison of several, as an HTML document.
///
/// The document needs no network and no other file: it contains the style, the script, the plotting
/// library and the profiles. Devices get letters in the given order.
///
/// # Errors
/// Fails if the list is empty or a profile can't be written as JSON.
pub fn html(profiles: &[DeviceProfile]) -> Result<String, ReportError> {
    html_of_files(profiles, &[])
}

/// Renders the report with the paths of the profiles' files, which suggested commands contain.
///
/// # Errors
/// Fails if the list is empty or a profile can't be written as JSON.
pub fn html_of_files(profiles: &[DeviceProfile], files: &[String]) -> Result<String, ReportError> {
    if profiles.is_empty() {
        return Err(ReportError::NoProfile);
    }
    profiles::page(&device::Device::of_files(profiles, files)).map(maud::PreEscaped::into_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_list_of_profiles_is_an_error_with_advice() {
        let error = html(&[]).unwrap_err();
        assert!(matches!(error, ReportError::NoProfile));
        assert!(error.to_string().contains("nandle probe"));
    }

    #[test]
    fn names_are_escaped_everywhere() {
        let page = html(&[made_up::hostile(), made_up::fast()]).unwrap();
        assert_eq!(
            page.matches("</script>").count(),
            5,
            "plots, two profiles, uPlot and the page's own script"
        );
        assert!(!page.contains("<b>bold") && !page.contains('\u{2028}'));
        let seen = page.split("<script").next().unwrap();
        assert!(seen.contains("&lt;b&gt;bold") && !seen.contains('\u{202e}'));
    }

    #[test]
    fn command_names_the_profiles_file_or_the_download() {
        let profiles = [made_up::fast()];
        let named = html_of_files(&profiles, &["disk of db1.json".into()]).unwrap();
        assert!(
            named.contains("nandle advise &#39;disk of db1.json&#39; --for")
                || named.contains("nandle advise 'disk of db1.json' --for")
        );
        let unnamed = html(&profiles).unwrap();
        let (_, command) = unnamed.split_once("nandle advise ").unwrap();
        let (file, _) = command.split_once(" --for").unwrap();
        assert!(unnamed.contains(&format!("data-file=\"{file}\"")), "{file}");
        assert!(unnamed.contains("Download this page's profile"));
    }

    #[test]
    fn equal_profiles_make_equal_pages() {
        let profiles = [made_up::fast(), made_up::volume()];
        assert_eq!(html(&profiles).unwrap(), html(&profiles).unwrap());
    }
}
