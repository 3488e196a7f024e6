//! SQL that the engine (`DataFusion` 55.2) silently interprets differently from other databases.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::Token;

use super::keyword;
use crate::EngineError;

/// Rejects such statements.
pub(super) fn check(tokens: &[Token]) -> Result<(), EngineError> {
    let words: Vec<&Token> = tokens.iter().filter(|token| !matches!(token, Token::Whitespace(_))).collect();
    for (place, token) in words.iter().enumerate() {
        let next = words.get(place + 1);
        match keyword(token) {
            Keyword::SIMILAR if next.is_some_and(|next| keyword(next) == Keyword::TO) => {
                return refused(
                    "SIMILAR TO",
                    "the engine takes its pattern for a regular expression; write LIKE, or ~ with one",
                );
            }
            Keyword::TABLESAMPLE => {
                return refused("TABLESAMPLE", "the engine would read all rows; write WHERE random() < 0.01");
            }
            _ => {}
        }
        if is_named(token, "to_char") && next == Some(&&Token::LParen) {
            let inside = words.get(place + 2..).unwrap_or_default();
            if has_other_format(inside) {
                return refused(
                    "to_char with such a format",
                    "formats are those of strftime here, as '%Y-%m-%d %H:%M:%S'",
                );
            }
        }
    }
    Ok(())
}

fn refused(what: &str, why: &'static str) -> Result<(), EngineError> {
    Err(EngineError::Refused { what: what.to_owned(), why })
}

fn is_named(token: &Token, name: &str) -> bool {
    matches!(token, Token::Word(word) if word.value.eq_ignore_ascii_case(name))
}

/// Returns true if the second argument of a function, whose opening bracket precedes `arguments`,
/// is a text without `%`.
fn has_other_format(arguments: &[&Token]) -> bool {
    let mut level = 0_usize;
    for pair in arguments.windows(2) {
        let [one, next] = pair else { continue };
        match one {
            Token::LParen => level += 1,
            Token::RParen if level == 0 => return false,
            Token::RParen => level -= 1,
            Token::Comma if level == 0 => {
                return matches!(next, Token::SingleQuotedString(format) if !format.contains('%'));
            }
            _ => {}
        }
    }
    false
}
