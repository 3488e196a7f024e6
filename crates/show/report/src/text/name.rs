/// A name that a user or a device gave, safe to put inside a sentence: what would steer something, or turn the direction of
/// the text around, stands there as an escape.
pub(crate) fn clean(name: &str) -> String {
    nandle_profile::escaped(name).into_owned()
}

/// The name cut to `letters_max` letters, with an ellipsis where something is missing.
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
    fn a_name_cannot_turn_the_text_around() {
        assert_eq!(clean("a\u{202e}b\u{2069}\nc"), "a\\u{202e}b\\u{2069}\\u{a}c");
        assert_eq!(clean("محرك"), "محرك");
    }

    #[test]
    fn a_long_name_is_cut_with_an_ellipsis() {
        assert_eq!(short("INTEL SSDPE", 20), "INTEL SSDPE");
        assert_eq!(short("INTEL SSDPE", 7), "INTEL…");
        assert_eq!(short("ééééé", 3), "éé…");
    }
}
