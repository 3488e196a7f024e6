//! Data islands of the page: JSON in `<script>` elements of a type that browsers don't execute.

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use crate::ReportError;
use crate::device::Device;

/// Escapes JSON so that no string in it can end its script element.
///
/// Within a script element only `</script`, `<!--` and `<script` have a meaning, so no `<` may
/// remain (WHATWG HTML, §4.12.1.3). In JSON a `<` occurs only within strings, where `\u003c` is
/// equivalent. U+2028 and U+2029 are escaped, too, because a script treats them as line ends.
pub(crate) fn escape(json: &str) -> String {
    json.replace('<', r"\u003c").replace('\u{2028}', r"\u2028").replace('\u{2029}', r"\u2029")
}

/// Plot data for the page's script.
pub(crate) fn plots(data: &Value) -> Markup {
    html! { script #plot-data type="application/json" { (PreEscaped(escape(&data.to_string()))) } }
}

/// Profile for download from the page.
pub(crate) fn profile(device: &Device) -> Result<Markup, ReportError> {
    let json = serde_json::to_string_pretty(device.profile)
        .map_err(|source| ReportError::Profile { target: device.profile.target.clone(), source })?;
    Ok(html! {
        script id=(id(device)) type="application/json" data-file=(file_name(device)) {
            (PreEscaped(escape(&json)))
        }
    })
}

/// Id of the element with the device's profile.
pub(crate) fn id(device: &Device) -> String {
    format!("profile-{}", device.letter().to_lowercase())
}

/// Portable file name derived from the device's name.
pub(crate) fn file_name(device: &Device) -> String {
    let letters = device.name().to_lowercase();
    let words = letters.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = words.collect::<Vec<_>>().join("-");
    slug.truncate(40);
    if slug.is_empty() { "profile.json".to_owned() } else { format!("{slug}.profile.json") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up;

    #[test]
    fn strings_cannot_end_the_element() {
        for hostile in ["</script><b>", "<!--<script>", "a\u{2028}b\u{2029}c", r#"\"</ScRiPt"#] {
            let json = serde_json::to_string(&hostile).unwrap();
            let escaped = escape(&json);
            assert!(!escaped.contains(['<', '\u{2028}', '\u{2029}']), "{escaped}");
            assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), hostile);
        }
    }

    #[test]
    fn the_embedded_profile_reads_back_unchanged() {
        let profiles = [made_up::hostile()];
        let markup = profile(&Device { profile: &profiles[0], index: 0, file: None }).unwrap().into_string();
        let json = markup.split_once('>').unwrap().1.strip_suffix("</script>").unwrap();
        let read = |json: &str| serde_json::from_str::<nandle_profile::DeviceProfile>(json).unwrap();
        assert_eq!(read(json), read(&serde_json::to_string_pretty(&profiles[0]).unwrap()));
    }

    #[test]
    fn file_names_keep_to_plain_letters() {
        let name = |model: &str| {
            let mut profile = made_up::fast();
            profile.identity.model = Some(model.into());
            file_name(&Device { profile: &profile, index: 0, file: None })
        };
        assert_eq!(name("../../etc/Пасswд X"), "etc-sw-x.profile.json");
        assert_eq!(name("محرك"), "profile.json");
    }
}
