//! Reports: one self-contained HTML file from one or several device profiles, from a replay, a workload, a
//! prediction, the flight cubes or a trace, described or played, for the people who choose, provision and tune storage for databases. This crate turns results into text and measures
//! nothing; it must never read a file, the clock or the network, and neither may the pages it makes.
//!
//! Everything that a page says is decided here, in Rust: the sentences (`sections`, and the findings in `plots`,
//! `experiments`, `replay`, `play`, `predictions`, `workloads` and `trace`), the curves, bars, maps and points and their units. The page's script draws
//! the curves that it is given; the others need none.

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

/// A report could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// There was nothing to report on.
    #[error("a report needs at least one device profile and got none; make one with `nandle probe TARGET`")]
    NoProfile,
    /// A profile could not be written as JSON into the page.
    #[error("writing the profile of {target} into the report: {source}")]
    Profile {
        /// The target of that profile.
        target: String,
        /// What was wrong with it.
        source: serde_json::Error,
    },
}

/// The report on one device, or the comparison of several, as one HTML document.
///
/// The document needs no network and no other file: style, script, plotting library and the profiles
/// themselves are inside. Devices go by letters in the order given.
///
/// # Errors
/// The list is empty, or a profile can't be written as JSON.
pub fn html(profiles: &[DeviceProfile]) -> Result<String, ReportError> {
    html_of_files(profiles, &[])
}

/// The same with the names of the profiles' files, as commands that the page suggests are to have them.
///
/// # Errors
/// The list is empty, or a profile can't be written as JSON.
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
    fn no_profile_is_an_error_that_says_what_to_do() {
        let error = html(&[]).unwrap_err();
        assert!(matches!(error, ReportError::NoProfile));
        assert!(error.to_string().contains("nandle probe"));
    }

    #[test]
    fn names_are_escaped_wherever_they_stand() {
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
    fn a_command_names_the_profiles_file_or_the_one_that_the_page_offers() {
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
    fn the_same_profiles_make_the_same_page() {
        let profiles = [made_up::fast(), made_up::volume()];
        assert_eq!(html(&profiles).unwrap(), html(&profiles).unwrap());
    }
}
