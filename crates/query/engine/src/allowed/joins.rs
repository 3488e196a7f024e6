//! Limit on joined tables. Each join has all columns of those before it, so the memory of planning
//! grows with the square of their number, and no pool accounts for it.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::Token;

use super::keyword;
use crate::EngineError;

/// Maximum number of tables in a FROM clause.
const TABLES_MOST: usize = 100;

/// Rejects statements with more tables.
pub(crate) fn check(tokens: &[Token]) -> Result<(), EngineError> {
    let tables = tables(tokens);
    if tables <= TABLES_MOST {
        return Ok(());
    }
    let what = format!("a join of {tables} tables");
    Err(EngineError::Refused {
        what,
        why: "100 stand behind one FROM at most, because a join has all columns of those before it; join some of them in a query of its own (WITH)",
    })
}

/// Returns the greatest number of tables in any FROM clause.
fn tables(tokens: &[Token]) -> usize {
    // For each open bracket, the number of tables in its FROM clause, or `None` outside of one.
    let (mut levels, mut most, mut before) = (vec![None], 0, Keyword::NoKeyword);
    for token in tokens.iter().filter(|token| !matches!(token, Token::Whitespace(_))) {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => levels.push(None),
            Token::RParen | Token::RBracket | Token::RBrace if levels.len() > 1 => {
                levels.pop();
            }
            Token::SemiColon => levels = vec![None],
            token => {
                let Some(tables) = levels.last_mut() else { continue };
                *tables = behind(token, before, *tables);
                most = most.max(tables.unwrap_or(0));
            }
        }
        before = keyword(token);
    }
    most
}

/// Returns the number of tables after `token`.
fn behind(token: &Token, before: Keyword, tables: Option<usize>) -> Option<usize> {
    use Keyword::{
        DISTINCT, EXCEPT, FROM, GROUP, HAVING, INTERSECT, JOIN, LIMIT, ORDER, SELECT, UNION, WHERE,
    };
    match (token, keyword(token)) {
        (Token::Comma, _) => tables.map(|tables| tables + 1),
        // IS DISTINCT FROM names no table.
        (_, FROM) if before == DISTINCT => tables,
        (_, FROM) => Some(1),
        (_, JOIN) => Some(tables.unwrap_or(1) + 1),
        (_, SELECT | WHERE | GROUP | HAVING | ORDER | LIMIT | UNION | INTERSECT | EXCEPT) => None,
        _ => tables,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::tokenizer::Tokenizer;

    use super::*;

    fn count(text: &str) -> usize {
        tables(&Tokenizer::new(&PostgreSqlDialect {}, text).tokenize().unwrap())
    }

    #[test]
    fn tables_behind_one_from_count() {
        assert_eq!(count("SELECT a, b, c FROM t, u AS v, w GROUP BY 1, 2, 3, 4, 5"), 3);
        assert_eq!(
            count("SELECT 1 FROM t JOIN u ON t.a = u.a AND f(1, 2, 3) LEFT JOIN w USING (a, b), x"),
            4
        );
        assert_eq!(count("SELECT 1, 2, 3 UNION ALL SELECT 1 FROM t UNION ALL SELECT 1 FROM t, u"), 2);
        assert_eq!(count("SELECT (SELECT max(a) FROM t), b, c, d FROM u"), 1);
        assert_eq!(count("SELECT a IS NOT DISTINCT FROM b, c, d, e FROM t, u"), 2);
        assert_eq!(count("SELECT extract(YEAR FROM a), b FROM t WHERE a IN (1, 2, 3)"), 1);
    }

    #[test]
    fn many_are_refused() {
        let check = |text: &str| check(&Tokenizer::new(&PostgreSqlDialect {}, text).tokenize().unwrap());
        assert!(check(&format!("SELECT 1 FROM t{}", ", t".repeat(99))).is_ok());
        assert!(check(&format!("SELECT 1 FROM t{}", ", t".repeat(100))).is_err());
        assert!(check(&format!("SELECT 1 FROM t{}", " CROSS JOIN t".repeat(100))).is_err());
    }
}
