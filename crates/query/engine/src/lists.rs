//! How long a list of expressions may be: planning takes some two kilobytes for each, of memory that nothing accounts for.
//!
//! What stands in brackets (IN, VALUES) takes little, and is bounded by the length of the text.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::Token;

use crate::EngineError;

/// Of SELECT, GROUP BY and ORDER BY. `PostgreSQL` takes 1664.
const EXPRESSIONS_MOST: usize = 10_000;

/// Refuses statements with longer lists.
pub(crate) fn check(tokens: &[Token]) -> Result<(), EngineError> {
    let longest = longest(tokens);
    if longest <= EXPRESSIONS_MOST {
        return Ok(());
    }
    let what = format!("a list of {longest} expressions");
    Err(EngineError::Refused {
        what,
        why: "SELECT, GROUP BY and ORDER BY take 10000 at most; name a table's columns by *, or write values as rows (VALUES)",
    })
}

/// Of all brackets that are open, whether a list goes on in them, and how long it is.
fn longest(tokens: &[Token]) -> usize {
    let (mut levels, mut longest) = (vec![None], 0);
    for token in tokens {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => levels.push(None),
            Token::RParen | Token::RBracket | Token::RBrace if levels.len() > 1 => {
                levels.pop();
            }
            token => {
                if let Some(list) = levels.last_mut() {
                    *list = pass(*list, token);
                    longest = longest.max(list.unwrap_or(0));
                }
            }
        }
    }
    longest
}

fn pass(list: Option<usize>, token: &Token) -> Option<usize> {
    match token {
        Token::Comma => list.map(|length| length + 1),
        Token::SemiColon => None,
        Token::Word(word) if word.quote_style.is_none() => match word.keyword {
            Keyword::SELECT | Keyword::GROUP | Keyword::ORDER => Some(1),
            Keyword::FROM | Keyword::WHERE | Keyword::HAVING | Keyword::LIMIT | Keyword::VALUES => None,
            _ => list,
        },
        _ => list,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::tokenizer::Tokenizer;

    use super::*;

    fn longest_of(text: &str) -> usize {
        longest(&Tokenizer::new(&PostgreSqlDialect {}, text).tokenize().unwrap())
    }

    #[test]
    fn lists_of_expressions_count_and_what_stands_in_brackets_does_not() {
        assert_eq!(longest_of("SELECT a, b, c FROM t, u, v, w GROUP BY 1, 2"), 3);
        assert_eq!(longest_of("SELECT max(a, b, c), d FROM (SELECT 1, 2, 3, 4) ORDER BY 1"), 4);
        assert_eq!(longest_of("SELECT 1 WHERE a IN (1, 2, 3); SELECT 1"), 1);
        assert_eq!(longest_of("VALUES (1, 2), (3, 4), (5, 6)"), 0);
        assert_eq!(longest_of("SELECT row_number() OVER (PARTITION BY a ORDER BY b, c) , 2"), 2);
    }
}
