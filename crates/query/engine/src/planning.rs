//! Planning of statements, with error positions and suggestions.

use std::ops::ControlFlow;

use datafusion::common::config::ConfigExtension as _;
use datafusion::common::utils::datafusion_strsim::levenshtein;
use datafusion::common::{DataFusionError, Diagnostic};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{
    Expr as SqlExpr, Statement as SqlStatement, Value as SqlValue, visit_expressions_mut,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};

use crate::allowed::check_meaning;
use crate::options::NandleOptions;
use crate::session::{DATABASE, SCHEMA};
use crate::{EngineError, ErrorKind, Statement};

/// Digits of the engine's longest decimal type.
const DECIMAL_DIGITS_MAX: u64 = 76;
/// Similarity of names: at most one differing letter per three letters, but at least two.
const LETTERS_PER_ERROR: usize = 3;
const ERRORS_MIN: usize = 2;
/// Maximum number of tables listed if none is similar to the given name.
const LISTED_MOST: usize = 20;

/// Position in a text, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPlace {
    /// Line.
    pub line: usize,
    /// Character within the line.
    pub column: usize,
    /// Character within the text.
    pub letter: usize,
}

impl TextPlace {
    fn new(text: &str, line: u64, column: u64) -> Option<Self> {
        let (line, column) = (usize::try_from(line).ok()?, usize::try_from(column).ok()?);
        let before = text.split_inclusive('\n').take(line.checked_sub(1)?);
        let before: usize = before.map(|line| line.chars().count()).sum();
        (before + column <= text.chars().count()).then_some(Self { line, column, letter: before + column })
    }
}

/// Plans a statement.
pub(crate) async fn planned(
    context: &SessionContext,
    Statement(parsed, text): Statement,
) -> Result<LogicalPlan, EngineError> {
    let statement = with_doubles(with_bare_setting(parsed));
    let planned = context.state().statement_to_plan(statement).await;
    let planned = planned.map_err(|error| {
        let diagnostic = error.diagnostic();
        let span = diagnostic.and_then(|diagnostic| diagnostic.span);
        let place = span.and_then(|span| TextPlace::new(&text, span.start.line, span.start.column));
        let named = diagnostic.and_then(named_table).map(str::to_owned);
        told(context, error, place, named.as_deref())
    })?;
    check_meaning(&planned)?;
    Ok(planned)
}

/// Removes the prefix of this project's settings from SHOW: the engine lists them without it.
fn with_bare_setting(mut parsed: Parsed) -> Parsed {
    if let Parsed::Statement(statement) = &mut parsed
        && let SqlStatement::ShowVariable { variable } = &mut **statement
        && let [first, _] = &**variable
        && first.value.eq_ignore_ascii_case(NandleOptions::PREFIX)
    {
        variable.remove(0);
    }
    parsed
}

/// Converts numbers with too many digits for a decimal type, such as `1e300`, to doubles.
fn with_doubles(mut parsed: Parsed) -> Parsed {
    let mut innermost = &mut parsed;
    while let Parsed::Explain(explain) = innermost {
        innermost = &mut explain.statement;
    }
    if let Parsed::Statement(statement) = innermost {
        let _ = visit_expressions_mut(&mut **statement, |expression| {
            if let SqlExpr::Value(value) = expression
                && let SqlValue::Number(number, _) = &value.value
                && has_digits_beyond_decimals(number)
                && let Ok(double) = double(number)
            {
                *expression = double;
            }
            ControlFlow::<()>::Continue(())
        });
    }
    parsed
}

fn has_digits_beyond_decimals(number: &str) -> bool {
    let exponent = number.split_once(['e', 'E']).and_then(|(_, exponent)| exponent.parse::<i64>().ok());
    exponent.is_some_and(|exponent| exponent.unsigned_abs() + number.len() as u64 > DECIMAL_DIGITS_MAX)
}

fn double(number: &str) -> Result<SqlExpr, ParserError> {
    Parser::new(&GenericDialect {}).try_with_sql(&format!("CAST('{number}' AS DOUBLE)"))?.parse_expr()
}

fn told(
    context: &SessionContext,
    error: DataFusionError,
    place: Option<TextPlace>,
    named: Option<&str>,
) -> EngineError {
    let error = EngineError::from(error);
    let is_unknown = error.kind() == ErrorKind::UnknownTable;
    let hint = named.filter(|_| is_unknown).map(|named| hint(named, &tables(context))).unwrap_or_default();
    if place.is_none() && hint.is_empty() {
        return error;
    }
    EngineError::Planning { error: Box::new(error), hint, place }
}

/// Returns the table of an error like `table 'public.flights' not found`.
fn named_table(diagnostic: &Diagnostic) -> Option<&str> {
    let (name, _) = diagnostic.message.strip_prefix("table '")?.split_once('\'')?;
    name.rsplit('.').next()
}

fn tables(context: &SessionContext) -> Vec<String> {
    let schema = context.catalog(DATABASE).and_then(|catalog| catalog.schema(SCHEMA));
    schema.map(|schema| schema.table_names()).unwrap_or_default()
}

fn hint(named: &str, tables: &[String]) -> String {
    let errors = |table: &&String| levenshtein(&table.to_lowercase(), &named.to_lowercase());
    let nearest = tables.iter().min_by_key(errors);
    let errors_most = (named.chars().count() / LETTERS_PER_ERROR).max(ERRORS_MIN);
    match nearest.filter(|table| errors(table) <= errors_most) {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None if tables.is_empty() => {
            "; there are no tables: name files or directories behind the command".to_owned()
        }
        None if tables.len() <= LISTED_MOST => format!("; there are: {}", tables.join(", ")),
        None => "; SHOW TABLES lists them".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_alike_are_found() {
        let tables = ["flights", "Carriers", "t2008"].map(str::to_owned);
        assert_eq!(hint("flighs", &tables), "; did you mean `flights`?");
        assert_eq!(hint("carriers", &tables), "; did you mean `Carriers`?");
        assert_eq!(hint("2008", &tables), "; did you mean `t2008`?");
        assert_eq!(hint("passengers", &tables), "; there are: flights, Carriers, t2008");
        assert!(hint("t", &[]).contains("no tables"));
    }

    #[test]
    fn places_are_counted_in_letters() {
        let place = TextPlace::new("SELECT ü,\n  x", 2, 3).unwrap();
        assert_eq!((place.line, place.column, place.letter), (2, 3, 13));
        assert_eq!(TextPlace::new("SELECT", 0, 0), None);
        assert_eq!(TextPlace::new("SELECT", 3, 1), None, "it is of another text");
    }
}
