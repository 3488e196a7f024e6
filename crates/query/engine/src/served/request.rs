//! Requests of clients: statements for the engine, and commands for the session.

use std::sync::Arc;

use datafusion::sql::parser::{ResetStatement as ResetOfEngine, Statement as Parsed};
use datafusion::sql::sqlparser::ast::{
    CloseCursor, Declare, Expr, FetchDirection, Ident, Reset, ResetStatement, Set, Statement as Sql,
    ValueWithSpan,
};

use crate::{EngineError, Statement};

/// A request, by recipient.
#[derive(Debug, Clone)]
pub enum Request {
    /// Statement for the engine.
    Query(Statement),
    /// Command for the session.
    Command(Command),
}

/// A command that concerns the session.
#[derive(Debug, Clone)]
pub enum Command {
    /// BEGIN, START TRANSACTION
    Begin,
    /// COMMIT, END
    Commit,
    /// ROLLBACK, of the transaction or to a savepoint
    Rollback {
        /// True if it names a savepoint.
        is_to_savepoint: bool,
    },
    /// SAVEPOINT
    Savepoint,
    /// RELEASE
    Release,
    /// SET of a name in lower case
    Set {
        /// Name.
        name: String,
        /// Value; `None` for DEFAULT.
        value: Option<String>,
    },
    /// RESET of one name or all
    Reset {
        /// Name; `None` for all.
        name: Option<String>,
    },
    /// SHOW of a name in lower case; the engine has further names
    Show {
        /// Name.
        name: String,
        /// Statement for the engine, if the session has no such name.
        statement: Statement,
    },
    /// DECLARE … CURSOR FOR a query
    Declare {
        /// Name of the cursor.
        name: String,
        /// Its query.
        query: Statement,
    },
    /// FETCH of a number of rows, or all that are left
    Fetch {
        /// Name of the cursor.
        name: String,
        /// Number of rows; `None` for all.
        rows: Option<u64>,
    },
    /// CLOSE of one cursor or all
    Close {
        /// Name of the cursor; `None` for all.
        name: Option<String>,
    },
    /// DEALLOCATE of one prepared statement or all
    Deallocate {
        /// Name of the statement; `None` for all.
        name: Option<String>,
    },
    /// DISCARD
    Discard,
    /// UNLISTEN
    Unlisten,
}

impl Request {
    /// Classifies a parsed statement.
    pub(crate) fn of(parsed: Parsed, text: &Arc<str>) -> Result<Self, EngineError> {
        let command = match &parsed {
            Parsed::Statement(sql) => command(sql, text)?,
            Parsed::Reset(ResetOfEngine::Variable(name)) => {
                Some(Command::Reset { name: Some(name.to_string().to_lowercase()) })
            }
            Parsed::CreateExternalTable(_) | Parsed::CopyTo(_) | Parsed::Explain(_) => None,
        };
        Ok(command.map_or_else(|| Self::Query(Statement(parsed, Arc::clone(text))), Self::Command))
    }
}

fn command(sql: &Sql, text: &Arc<str>) -> Result<Option<Command>, EngineError> {
    Ok(Some(match sql {
        Sql::StartTransaction { .. } => Command::Begin,
        Sql::Commit { .. } => Command::Commit,
        Sql::Rollback { savepoint, .. } => Command::Rollback { is_to_savepoint: savepoint.is_some() },
        Sql::Savepoint { .. } => Command::Savepoint,
        Sql::ReleaseSavepoint { .. } => Command::Release,
        Sql::Set(set) => set_of(set)?,
        Sql::Reset(reset) => reset_of(reset),
        Sql::ShowVariable { variable } => Command::Show {
            name: joined(variable),
            statement: Statement(Parsed::Statement(Box::new(sql.clone())), Arc::clone(text)),
        },
        Sql::Declare { stmts } => declare(stmts, text)?,
        Sql::Fetch { name, direction, .. } => {
            Command::Fetch { name: name.value.clone(), rows: rows(direction)? }
        }
        Sql::Close { cursor } => Command::Close {
            name: match cursor {
                CloseCursor::All => None,
                CloseCursor::Specific { name } => Some(name.value.clone()),
            },
        },
        Sql::Deallocate { name, .. } => {
            let is_all = name.quote_style.is_none() && name.value.eq_ignore_ascii_case("all");
            Command::Deallocate { name: (!is_all).then(|| name.value.clone()) }
        }
        Sql::Discard { .. } => Command::Discard,
        Sql::UNLISTEN { .. } => Command::Unlisten,
        Sql::Prepare { .. } | Sql::Execute { .. } => {
            return refuse(
                sql,
                "statements are prepared by the client's own functions, as the protocol has it",
            );
        }
        _ => return Ok(None),
    }))
}

fn refuse<T>(what: impl std::fmt::Display, why: &'static str) -> Result<T, EngineError> {
    Err(EngineError::Refused { what: what.to_string(), why })
}

fn joined(names: &[Ident]) -> String {
    names.iter().map(|name| name.value.to_lowercase()).collect::<Vec<_>>().join(".")
}

fn set_of(set: &Set) -> Result<Command, EngineError> {
    match set {
        Set::SingleAssignment { variable, values, .. } => {
            let value = values.iter().map(text_of).collect::<Vec<_>>().join(", ");
            Ok(Command::Set { name: variable.to_string().to_lowercase(), value: unless_default(value) })
        }
        Set::SetTimeZone { value, .. } => {
            Ok(Command::Set { name: "timezone".to_owned(), value: unless_default(text_of(value)) })
        }
        Set::SetNames { charset_name, .. } => {
            Ok(Command::Set { name: "client_encoding".to_owned(), value: Some(charset_name.value.clone()) })
        }
        // All isolation levels are equivalent, because nothing changes.
        Set::SetTransaction { .. } => {
            Ok(Command::Set { name: "transaction_isolation".to_owned(), value: None })
        }
        set => refuse(set, "clients change their own settings alone, one by one"),
    }
}

fn unless_default(value: String) -> Option<String> {
    (!value.eq_ignore_ascii_case("default")).then_some(value)
}

fn text_of(expression: &Expr) -> String {
    match expression {
        Expr::Value(value) => value.value.clone().into_string().unwrap_or_else(|| value.to_string()),
        Expr::Identifier(name) => name.value.clone(),
        expression => expression.to_string(),
    }
}

fn reset_of(reset: &ResetStatement) -> Command {
    Command::Reset {
        name: match &reset.reset {
            Reset::ALL => None,
            Reset::ConfigurationParameter(name) => Some(name.to_string().to_lowercase()),
        },
    }
}

fn declare(all: &[Declare], text: &Arc<str>) -> Result<Command, EngineError> {
    let [Declare { names, for_query: Some(query), scroll, hold, .. }] = all else {
        return refuse("DECLARE", "only DECLARE name CURSOR FOR query is possible");
    };
    let [name] = &**names else { return refuse("DECLARE", "a cursor has one name") };
    if *scroll == Some(true) {
        return refuse("a SCROLL cursor", "rows come once, in their order");
    }
    if *hold == Some(true) {
        return refuse("a cursor WITH HOLD", "cursors end with their transaction");
    }
    let query = Statement(Parsed::Statement(Box::new(Sql::Query(query.clone()))), Arc::clone(text));
    Ok(Command::Declare { name: name.value.clone(), query })
}

/// Number of rows of a FETCH; `None` for all that are left.
fn rows(direction: &FetchDirection) -> Result<Option<u64>, EngineError> {
    let number = |limit: &ValueWithSpan| match limit.to_string().parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => refuse(format!("FETCH {limit}"), "it takes a whole number of rows"),
    };
    match direction {
        FetchDirection::Next | FetchDirection::Forward { limit: None } => Ok(Some(1)),
        FetchDirection::Forward { limit: Some(limit) } | FetchDirection::Count { limit } => number(limit),
        FetchDirection::All | FetchDirection::ForwardAll => Ok(None),
        direction => refuse(format!("FETCH {direction}"), "rows come once, in their order"),
    }
}
