use time::OffsetDateTime;

/// Seconds since 1970 as `2026-03-01 14:05 UTC`.
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

/// The sentence with each per cent sign bound to its number.
pub(crate) fn bind(sentence: &str) -> String {
    sentence.replace(" %", "\u{a0}%")
}

/// The sentence with each unit bound to its figure, the digits of a number to each other, and microseconds by their letter: `52 us` as `52\u{a0}µs`.
pub(crate) fn units(sentence: &str) -> String {
    const UNITS: [&str; 6] = ["ns", "us", "ms", "s", "MB/s", "times"];
    let mut said = String::with_capacity(sentence.len());
    for word in sentence.split(' ') {
        let end = word.find([',', ';', '.', ':', ')', '–']).unwrap_or(word.len());
        let (unit, rest) = word.split_at(end);
        let is_unit =
            UNITS.contains(&unit) && said.ends_with(|last: char| last.is_ascii_digit() || last == ')');
        let digits = word.chars().take_while(char::is_ascii_digit).count();
        let is_group = digits == 3 && said.ends_with(|last: char| last.is_ascii_digit());
        if !said.is_empty() {
            said.push(if is_unit {
                '\u{a0}'
            } else if is_group {
                '\u{202f}'
            } else {
                ' '
            });
        }
        said.push_str(if is_unit && unit == "us" { "µs" } else { unit });
        said.push_str(rest);
    }
    said
}

/// What a profile says in words, as a sentence: cleaned, with a capital and a full stop.
pub(crate) fn sentence(said: &str) -> String {
    let said = super::clean(said);
    let mut letters = said.chars();
    let begun: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    if begun.is_empty() || begun.ends_with('.') { begun } else { begun + "." }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn join(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `1 round`, `2 rounds`.
pub(crate) fn plural(number: u64, thing: &str) -> String {
    format!("{}\u{a0}{thing}{}", super::grouped(&number.to_string()), if number == 1 { "" } else { "s" })
}

/// `median`, `99th percentile`.
pub(crate) fn quantile(quantile: f64) -> String {
    if quantile <= 0.5 { "median".to_owned() } else { format!("{:.0}th percentile", 100.0 * quantile) }
}

/// Small numbers as words, for the beginning of a sentence.
pub(crate) fn number_word(number: usize) -> String {
    const WORDS: [&str; 10] = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];
    WORDS.get(number).map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_reads_as_a_date() {
        assert_eq!(calendar(1_772_373_900), "2026-03-01 14:05 UTC");
        assert_eq!(calendar(u64::MAX), format!("{} s after 1970", u64::MAX));
    }

    #[test]
    fn units_stay_with_their_figures() {
        assert_eq!(units("takes 52.4 us (50–60 us), not us"), "takes 52.4\u{a0}µs (50–60\u{a0}µs), not us");
        assert_eq!(units("at 392 (385–402) MB/s, 3 times"), "at 392 (385–402)\u{a0}MB/s, 3\u{a0}times");
        assert_eq!(units("9 551 (9 485–9 608) of 4"), "9\u{202f}551 (9\u{202f}485–9\u{202f}608) of 4");
        assert_eq!(units(""), "");
    }

    #[test]
    fn what_is_said_becomes_a_sentence() {
        assert_eq!(sentence("at depth 4 it drops"), "At depth 4 it drops.");
        assert_eq!(sentence("Ends."), "Ends.");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn lists_and_plurals_read_as_sentences_do() {
        assert_eq!(join(&["a".into(), "b".into(), "c".into()]), "a, b and c");
        assert_eq!(plural(1, "round"), "1\u{a0}round");
        assert_eq!(plural(12_000, "round"), "12\u{202f}000\u{a0}rounds");
        assert_eq!(number_word(2), "Two");
        assert_eq!(number_word(12), "12");
    }
}
