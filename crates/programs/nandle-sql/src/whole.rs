//! Detects complete statements by SQL's quotes and nested comments.

/// Returns true if the text is empty or ends with a semicolon, followed only by blanks and
/// comments.
pub(crate) fn is_whole(text: &str) -> bool {
    let mut rest = text;
    let mut is_ended = true;
    while let Some(first) = rest.chars().next() {
        let (length, part) = part(rest, first);
        let Some(length) = length else { return false };
        match part {
            Part::Comment => {}
            Part::Other if first.is_whitespace() => {}
            Part::Other => is_ended = first == ';',
            Part::Quoted => is_ended = false,
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    is_ended
}

/// First token of a text.
enum Part {
    /// A line or block comment.
    Comment,
    /// A quoted text or name.
    Quoted,
    /// Any other character.
    Other,
}

/// First token of a text and its length; `None` if it is unterminated.
fn part(text: &str, first: char) -> (Option<usize>, Part) {
    if text.starts_with("--") {
        return (Some(text.find('\n').unwrap_or(text.len())), Part::Comment);
    }
    if text.starts_with("/*") {
        return (block(text), Part::Comment);
    }
    // A doubled quote ends one token and starts another.
    let mark = match first {
        '\'' | '"' => text.get(..1),
        '$' => dollars(text),
        _ => None,
    };
    match mark {
        Some(mark) => {
            let end = text.get(mark.len()..).and_then(|inside| inside.find(mark));
            (end.map(|end| end + 2 * mark.len()), Part::Quoted)
        }
        None => (Some(first.len_utf8()), Part::Other),
    }
}

/// `$$` or `$name$` at the start of a text; `$1` is a parameter.
fn dollars(text: &str) -> Option<&str> {
    let end = text.get(1..)?.find('$')? + 1;
    let name = text.get(1..end)?;
    let is_name = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        && !name.starts_with(|letter: char| letter.is_ascii_digit());
    is_name.then(|| text.get(..=end))?
}

/// Length of a block comment, which may be nested.
fn block(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        let rest = text.get(at..)?;
        let next = rest.find("/*").into_iter().chain(rest.find("*/")).min()?;
        depth = if rest.get(next..)?.starts_with("/*") { depth + 1 } else { depth - 1 };
        at += next + 2;
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_with_a_semicolon() {
        for whole in [
            "SELECT 1;",
            "",
            "  ",
            "SELECT ';' ; \n",
            "SELECT 'it''s';",
            "SELECT 1; -- done",
            "SELECT 1 -- don't\n;",
            "/* it's /* one */ more */ SELECT 1;",
            "SELECT 1; /* ; */ ",
            "SELECT \"it's\";",
            "SELECT $$it's; $$;",
            "SELECT $a$ $$ $a$, $1;",
            "-- nothing",
            "SELECT 'é--';",
        ] {
            assert!(is_whole(whole), "{whole}");
        }
        for open in [
            "SELECT 1",
            "SELECT 'a;",
            "SELECT 1; SELECT",
            "SELECT 1 -- ;",
            "SELECT 1 -- ;\n",
            "SELECT 1; /* ",
            "/* /* */ SELECT 1;",
            "SELECT \"a;",
            "SELECT $$;",
            "SELECT 1; 'a'",
        ] {
            assert!(!is_whole(open), "{open}");
        }
    }
}
