/// Makes a name from a user or a device safe within a sentence: control and bidirectional
/// characters are escaped.
pub(crate) fn clean(name: &str) -> String {
    nandle_profile::escaped(name).into_owned()
}

/// Cuts a name to `letters_max` letters, with an ellipsis if some are missing.
pub(crate) fn short(name: &str, letters_max: usize) -> String {
    let name = clean(name.trim());
    if name.chars().count() <= letters_max {
        return name;
    }
    let kept: String = name.chars().take(letters_max.saturating_sub(1)).collect();
    kept.trim_end().to_owned() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_cannot_reverse_the_text_direction() {
        assert_eq!(clean("a\u{202e}b\u{2069}\nc"), "a\\u{202e}b\\u{2069}\\u{a}c");
        assert_eq!(clean("محرك"), "محرك");
    }

    #[test]
    fn long_name_is_cut_with_an_ellipsis() {
        assert_eq!(short("INTEL SSDPE", 20), "INTEL SSDPE");
        assert_eq!(short("INTEL SSDPE", 7), "INTEL…");
        assert_eq!(short("ééééé", 3), "éé…");
    }
}
