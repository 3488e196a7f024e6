//! Allow-list of statements: read-only ones, over registered tables.

mod joins;
mod lists;
mod meanings;
mod nesting;
mod subqueries;

use datafusion::common::DataFusionError;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::{DdlStatement, LogicalPlan};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use crate::EngineError;

/// Checks on the text, before it is parsed.
pub(crate) fn check_text(text: &str) -> Result<(), EngineError> {
    let dialect = PostgreSqlDialect {};
    // Text that can't be tokenized is rejected by the parser.
    let tokens = Tokenizer::new(&dialect, text).tokenize().unwrap_or_default();
    nesting::check(&tokens)?;
    lists::check(&tokens)?;
    joins::check(&tokens)?;
    check_sets(&tokens)?;
    meanings::check(&tokens)?;
    check_distinct_from(&tokens)
}

/// Returns the token's keyword, if it is one.
pub(crate) fn keyword(token: &Token) -> Keyword {
    match token {
        Token::Word(word) if word.quote_style.is_none() => word.keyword,
        _ => Keyword::NoKeyword,
    }
}

/// The parser reads `a IS DISTINCT FROM b AND c` as `a IS DISTINCT FROM (b AND c)`.
fn check_distinct_from(tokens: &[Token]) -> Result<(), EngineError> {
    let words: Vec<&Token> = tokens.iter().filter(|token| !matches!(token, Token::Whitespace(_))).collect();
    let begins = words.windows(2).enumerate().filter(|(_, pair)| {
        matches!(pair, [one, other] if keyword(one) == Keyword::DISTINCT && keyword(other) == Keyword::FROM)
    });
    for (place, _) in begins {
        // SELECT DISTINCT FROM isn't a comparison.
        let before = place.checked_sub(1).and_then(|before| words.get(before)).map(|token| keyword(token));
        let is_comparison = matches!(before, Some(Keyword::IS | Keyword::NOT));
        if is_comparison && is_followed_by_and(words.iter().skip(place + 2).copied()) {
            let what = "IS DISTINCT FROM before AND or OR without brackets".to_owned();
            let why = "the engine would take AND and OR for a part of its right side; write (a IS NOT DISTINCT FROM b) AND …";
            return Err(EngineError::Refused { what, why });
        }
    }
    Ok(())
}

/// Returns true if AND or OR follows an expression, outside of its brackets and of CASE.
fn is_followed_by_and<'a>(tokens: impl Iterator<Item = &'a Token>) -> bool {
    let mut level = 0_usize;
    for token in tokens {
        match (token, keyword(token)) {
            (Token::LParen | Token::LBracket, _) | (_, Keyword::CASE) => level += 1,
            (Token::RParen | Token::RBracket, _) | (_, Keyword::END) if level == 0 => return false,
            (Token::RParen | Token::RBracket, _) | (_, Keyword::END) => level -= 1,
            (_, Keyword::AND | Keyword::OR) if level == 0 => return true,
            (Token::Comma | Token::SemiColon, _) if level == 0 => return false,
            (_, keyword) if level == 0 && ends_expressions(keyword) => return false,
            _ => {}
        }
    }
    false
}

/// `DataFusion` 55 ignores how often a row is on the right side of EXCEPT ALL and INTERSECT ALL.
fn check_sets(tokens: &[Token]) -> Result<(), EngineError> {
    let words = tokens.iter().filter(|token| !matches!(token, Token::Whitespace(_)));
    let mut before = Keyword::NoKeyword;
    for token in words {
        let keyword = keyword(token);
        if keyword == Keyword::ALL && matches!(before, Keyword::EXCEPT | Keyword::INTERSECT) {
            let what = format!("{} ALL", if before == Keyword::EXCEPT { "EXCEPT" } else { "INTERSECT" });
            let why = "the engine would give wrong rows; count equal rows on both sides (GROUP BY) and compare the counts";
            return Err(EngineError::Refused { what, why });
        }
        before = keyword;
    }
    Ok(())
}

fn ends_expressions(keyword: Keyword) -> bool {
    use Keyword::{
        CROSS, EXCEPT, FULL, GROUP, HAVING, INNER, INTERSECT, JOIN, LEFT, LIMIT, ORDER, RIGHT, THEN, UNION,
        WHERE,
    };
    [
        CROSS, EXCEPT, FULL, GROUP, HAVING, INNER, INTERSECT, JOIN, LEFT, LIMIT, ORDER, RIGHT, THEN, UNION,
        WHERE,
    ]
    .contains(&keyword)
}

/// Rejects statements that the engine would compute wrongly.
pub(crate) fn check_meaning(plan: &LogicalPlan) -> Result<(), EngineError> {
    each(plan, subqueries::check)
}

/// Rejects forbidden statements, alone or inside of an EXPLAIN.
pub(crate) fn check(plan: &LogicalPlan) -> Result<(), EngineError> {
    each(plan, |node| {
        let refuse =
            |statement: &str, mend| Err(EngineError::Statement { statement: statement.to_owned(), mend });
        match node {
            LogicalPlan::Ddl(DdlStatement::CreateExternalTable(_)) => refuse(
                "CREATE EXTERNAL TABLE",
                "name its files behind the command, so that their reads are planned",
            ),
            LogicalPlan::Ddl(DdlStatement::CreateMemoryTable(_)) => refuse(
                "CREATE TABLE",
                "its rows would lie in memory that nothing bounds; use WITH or CREATE VIEW, or write the rows to a file (--format parquet) and name \
                 that behind the command",
            ),
            LogicalPlan::Copy(_) => refuse("COPY", "choose a format and write the rows to a file"),
            LogicalPlan::Dml(_) => refuse("changing rows", "load them into a table with `nandle table load`"),
            _ => Ok(()),
        }
    })
}

/// Rejects statements that clients of a server may not run: they share tables and memory, and don't
/// own the files.
pub(crate) fn check_of_client(plan: &LogicalPlan) -> Result<(), EngineError> {
    let refuse = |what: &str, why| Err(EngineError::Refused { what: what.to_owned(), why });
    each(plan, |node| match node {
        LogicalPlan::Copy(_) => refuse("COPY", "it writes a file of the server; read the rows of a query"),
        LogicalPlan::Ddl(DdlStatement::CreateExternalTable(_)) => refuse(
            "CREATE EXTERNAL TABLE",
            "clients name no files; tables are those that the server was started with",
        ),
        LogicalPlan::Ddl(statement) => Err(EngineError::Statement {
            statement: words(statement.name()),
            mend: "tables are only read; use WITH for what a query needs",
        }),
        LogicalPlan::Dml(statement) => Err(EngineError::Statement {
            statement: statement.op.name().to_uppercase(),
            mend: "tables are only read; load rows with `nandle table load` where the table lies",
        }),
        LogicalPlan::Statement(statement) => refuse(
            &words(statement.name()),
            "of the settings a client changes its own alone, by a SET of their names",
        ),
        _ => Ok(()),
    })
}

fn each(
    plan: &LogicalPlan,
    check: impl Fn(&LogicalPlan) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let walked = plan.apply_with_subqueries(|node| {
        check(node).map(|()| TreeNodeRecursion::Continue).map_err(DataFusionError::from)
    });
    Ok(walked.map(|_| ())?)
}

/// Converts `CreateMemoryTable` to `CREATE TABLE`: only tables in memory can be requested.
fn words(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_uppercase());
    }
    words.replace("MEMORY ", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_tokens_is_left_to_the_parser() {
        check_text("'never closed").unwrap();
        check_text("SELECT 1 EXCEPT SELECT 2 UNION ALL SELECT 3").unwrap();
        check_text("SELECT \"except\" ALL").unwrap();
        for text in ["SELECT 1 except all SELECT 2", "SELECT 1 INTERSECT -- all\n ALL SELECT 2"] {
            assert!(matches!(check_text(text), Err(EngineError::Refused { .. })), "{text}");
        }
        assert!(matches!(check_text(&"(".repeat(5000)), Err(EngineError::TooDeep { .. })));
    }

    #[test]
    fn names_of_plans_become_words() {
        assert_eq!(words("CreateMemoryTable"), "CREATE TABLE");
        assert_eq!(words("DropView"), "DROP VIEW");
    }
}
