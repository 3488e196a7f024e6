use time::OffsetDateTime;

/// Formats seconds since 1970 as `2026-03-01 14:05 UTC`.
pub(crate) fn calendar(unix_s: u64) -> String {
    let moment = i64::try_from(unix_s).ok().and_then(|s| OffsetDateTime::from_unix_timestamp(s).ok());
    moment.map_or_else(
        || format!("{unix_s} s after 1970"),
        |at| {
            let (year, month, day) = (at.year(), u8::from(at.month()), at.day());
            format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", at.hour(), at.minute())
        },
    )
}

/// Binds each per cent sign to its number.
pub(crate) fn bind(sentence: &str) -> String {
    sentence.replace(" %", "\u{a0}%")
}

/// Binds each unit to its figure and the digits of a number to each other, and prints microseconds
/// as `µs`: `52 us` becomes `52\u{a0}µs`.
pub(crate) fn units(sentence: &str) -> String {
    const UNITS: [&str; 6] = ["ns", "us", "ms", "s", "MB/s", "times"];
    let mut text = String::with_capacity(sentence.len());
    for word in sentence.split(' ') {
        let end = word.find([',', ';', '.', ':', ')', '–']).unwrap_or(word.len());
        let (unit, rest) = word.split_at(end);
        let is_unit =
            UNITS.contains(&unit) && text.ends_with(|last: char| last.is_ascii_digit() || last == ')');
        let digits = word.chars().take_while(char::is_ascii_digit).count();
        let is_group = digits == 3 && text.ends_with(|last: char| last.is_ascii_digit());
        if !text.is_empty() {
            text.push(if is_unit {
                '\u{a0}'
            } else if is_group {
                '\u{202f}'
            } else {
                ' '
            });
        }
        text.push_str(if is_unit && unit == "us" { "µs" } else { unit });
        text.push_str(rest);
    }
    text
}

/// Turns text of a profile into a sentence: cleaned, with a capital and a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let text = super::clean(text);
    let mut letters = text.chars();
    let begun: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    if begun.is_empty() || begun.ends_with('.') { begun } else { begun + "." }
}

/// Joins parts: `a`, `a and b`, `a, b and c`.
pub(crate) fn join(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Formats a count with its noun: `1 round`, `2 rounds`.
pub(crate) fn plural(number: u64, thing: &str) -> String {
    format!("{}\u{a0}{thing}{}", super::grouped(&number.to_string()), if number == 1 { "" } else { "s" })
}

/// Name of a quantile: `median`, `99th percentile`.
pub(crate) fn quantile(quantile: f64) -> String {
    if quantile <= 0.5 { "median".to_owned() } else { format!("{:.0}th percentile", 100.0 * quantile) }
}

/// Small number as a word, for the start of a sentence.
pub(crate) fn number_word(number: usize) -> String {
    const WORDS: [&str; 10] = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];
    WORDS.get(number).map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_print_as_a_date() {
        assert_eq!(calendar(1_772_373_900), "2026-03-01 14:05 UTC");
        assert_eq!(calendar(u64::MAX), format!("{} s after 1970", u64::MAX));
    }

    #[test]
    fn units_are_bound_to_their_figures() {
        assert_eq!(units("takes 52.4 us (50–60 us), not us"), "takes 52.4\u{a0}µs (50–60\u{a0}µs), not us");
        assert_eq!(units("at 392 (385–402) MB/s, 3 times"), "at 392 (385–402)\u{a0}MB/s, 3\u{a0}times");
        assert_eq!(units("9 551 (9 485–9 608) of 4"), "9\u{202f}551 (9\u{202f}485–9\u{202f}608) of 4");
        assert_eq!(units(""), "");
    }

    #[test]
    fn text_of_a_profile_becomes_a_sentence() {
        assert_eq!(sentence("at depth 4 it drops"), "At depth 4 it drops.");
        assert_eq!(sentence("Ends."), "Ends.");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn lists_and_plurals_are_plain_english() {
        assert_eq!(join(&["a".into(), "b".into(), "c".into()]), "a, b and c");
        assert_eq!(plural(1, "round"), "1\u{a0}round");
        assert_eq!(plural(12_000, "round"), "12\u{202f}000\u{a0}rounds");
        assert_eq!(number_word(2), "Two");
        assert_eq!(number_word(12), "12");
    }
}
