//! Limit on the nesting depth of expressions.
//!
//! The parser limits parentheses. But chains (`1 + 1 + …`, UNION, joined tables) become trees as
//! deep as the chain is long, and both engine and parser traverse trees recursively. So the depth
//! is limited before parsing, by a bound from the text: between two commas, every keyword, operator
//! and bracket may add a level.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::Token;

use crate::EngineError;

/// A thread's stack has room for several times as much, but the time to simplify a chain grows with
/// the square of its length.
const DEPTH_MOST: usize = 1000;

/// Arithmetic becomes functions whose names contain those of all below. There the time grows with
/// the cube: a chain of 990 took several seconds to plan.
const ARITHMETIC_LEVELS: usize = 2;

/// Rejects statements that may be too deep.
pub(crate) fn check(tokens: &[Token]) -> Result<(), EngineError> {
    let depth = depth(tokens);
    if depth > DEPTH_MOST { Err(EngineError::TooDeep { depth, most: DEPTH_MOST }) } else { Ok(()) }
}

/// State within a pair of brackets.
#[derive(Default)]
struct Level {
    /// Depth since the last comma.
    depth: usize,
    /// Commas in a FROM clause join tables, so they add to the depth.
    is_from: bool,
}

fn depth(tokens: &[Token]) -> usize {
    let mut levels = vec![Level::default()];
    let (mut sum, mut deepest) = (0_usize, 0_usize);
    for token in tokens {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                levels.push(Level { depth: 1, is_from: false });
                sum += 1;
            }
            Token::RParen | Token::RBracket | Token::RBrace if levels.len() > 1 => {
                sum -= levels.pop().map_or(0, |level| level.depth);
            }
            Token::SemiColon => {
                levels = vec![Level::default()];
                sum = 0;
            }
            token => {
                if let Some(level) = levels.last_mut() {
                    sum -= level.depth;
                    pass(level, token);
                    sum += level.depth;
                }
            }
        }
        deepest = deepest.max(sum);
    }
    deepest
}

fn pass(level: &mut Level, token: &Token) {
    match token {
        Token::Comma if level.is_from => level.depth += 1,
        Token::Comma => level.depth = 0,
        Token::Word(word) if word.keyword == Keyword::NoKeyword => {}
        Token::Word(word) => {
            level.depth += 1;
            level.is_from = match word.keyword {
                Keyword::FROM => true,
                Keyword::SELECT | Keyword::WHERE | Keyword::GROUP | Keyword::ORDER => false,
                _ => level.is_from,
            };
        }
        Token::Whitespace(_)
        | Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::Placeholder(_)
        | Token::Period
        | Token::EOF => {}
        Token::Plus | Token::Minus | Token::Mul => level.depth += ARITHMETIC_LEVELS,
        _ => level.depth += 1,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::tokenizer::Tokenizer;

    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        Tokenizer::new(&PostgreSqlDialect {}, text).tokenize().unwrap()
    }

    fn depth_of(text: &str) -> usize {
        depth(&tokens(text))
    }

    #[test]
    fn chains_are_deep_and_lists_are_not() {
        let chain = format!("SELECT 1{}", " + 1".repeat(700));
        assert_eq!(depth_of(&chain), 1401);
        let list: Vec<_> = (0..10_000).map(|number| format!("-{number}")).collect();
        assert!(depth_of(&format!("SELECT 1 WHERE a IN ({})", list.join(", "))) < 10);
        assert!(depth_of(&format!("SELECT a FROM {}", vec!["t"; 900].join(", "))) > 900);
        assert!(depth_of(&format!("SELECT 1 {}", "UNION SELECT 1 ".repeat(900))) > 900);
        assert_eq!(depth_of(&"((1 + 1)) ; ".repeat(90)), 4);
        assert_eq!(depth_of(")]))"), 4, "what closes nothing is the parser's business");
    }

    #[test]
    fn a_statement_that_is_too_deep_says_how_deep() {
        let check = |ones| check(&tokens(&format!("SELECT 1{}", " + 1".repeat(ones))));
        assert!(check(490).is_ok());
        let error = check(50_000).unwrap_err().to_string();
        assert!(error.contains("100001") && error.contains("1000"), "{error}");
    }
}
