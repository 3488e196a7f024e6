//! Limit on the length of lists in a statement. Planning takes about two kilobytes per expression,
//! and no pool accounts for them.
//!
//! Lists in brackets (IN, VALUES) take little memory and are bounded by the length of the text.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::Token;

use crate::EngineError;

/// Maximum for all lists of SELECT, GROUP BY and ORDER BY together. `PostgreSQL` allows 1664 per
/// list.
const EXPRESSIONS_MOST: usize = 20_000;

/// Rejects statements with more expressions.
pub(crate) fn check(tokens: &[Token]) -> Result<(), EngineError> {
    let most = tokens.split(|token| *token == Token::SemiColon).map(expressions).max().unwrap_or(0);
    if most <= EXPRESSIONS_MOST {
        return Ok(());
    }
    let what = format!("a statement whose lists have {most} expressions");
    Err(EngineError::Refused {
        what,
        why: "SELECT, GROUP BY and ORDER BY take 20000 together; name a table's columns by *, or write values as rows (VALUES)",
    })
}

/// Counts the expressions in the lists of a statement.
fn expressions(tokens: &[Token]) -> usize {
    // For each open bracket, true while a list continues in it.
    let (mut levels, mut count) = (vec![false], 0);
    for token in tokens {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => levels.push(false),
            Token::RParen | Token::RBracket | Token::RBrace if levels.len() > 1 => {
                levels.pop();
            }
            token => {
                let Some(is_list) = levels.last_mut() else { continue };
                let began = begins(token);
                *is_list = began.unwrap_or(*is_list);
                count += usize::from(began == Some(true) || (*is_list && *token == Token::Comma));
            }
        }
    }
    count
}

/// Returns true if the token begins a list, false if it ends one, otherwise `None`.
fn begins(token: &Token) -> Option<bool> {
    match token {
        Token::Word(word) if word.quote_style.is_none() => match word.keyword {
            Keyword::SELECT | Keyword::GROUP | Keyword::ORDER => Some(true),
            Keyword::FROM | Keyword::WHERE | Keyword::HAVING | Keyword::LIMIT | Keyword::VALUES => {
                Some(false)
            }
            _ => None,
        },
        _ => None,
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

    #[test]
    fn lists_of_expressions_count_and_what_stands_in_brackets_does_not() {
        let count = |text: &str| expressions(&tokens(text));
        assert_eq!(count("SELECT a, b, c FROM t, u, v, w GROUP BY 1, 2"), 5);
        assert_eq!(count("SELECT max(a, b, c), d FROM (SELECT 1, 2, 3, 4) ORDER BY 1"), 7);
        assert_eq!(count("SELECT 1 WHERE a IN (1, 2, 3)"), 1);
        assert_eq!(count("VALUES (1, 2), (3, 4), (5, 6)"), 0);
        assert_eq!(count("SELECT row_number() OVER (PARTITION BY a ORDER BY b, c) , 2"), 4);
    }

    #[test]
    fn a_list_is_not_shorter_for_being_in_parts() {
        let check = |text: &str| check(&tokens(text));
        let list = format!("SELECT {}1", "1, ".repeat(11_999));
        assert!(check(&list).is_ok());
        assert!(check(&format!("{list} UNION ALL {list}")).is_err());
        assert!(check(&format!("SELECT * FROM ({list}) AS a, ({list}) AS b")).is_err());
        assert!(check(&format!("{list}; {list}")).is_ok(), "two statements");
        let values = format!("SELECT * FROM (VALUES {}(1)) AS t(a)", "(1), ".repeat(30_000));
        assert!(check(&values).is_ok());
    }
}
