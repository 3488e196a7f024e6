//! Functions by which PostgreSQL clients identify the server.

use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::common::{DataFusionError, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use datafusion::prelude::SessionContext;

/// Fixed server settings that clients query. The version is the PostgreSQL version whose SQL and
/// catalogue clients may expect.
pub const SERVER_SETTINGS: &[(&str, &str)] = &[
    ("bytea_output", "hex"),
    ("client_encoding", "UTF8"),
    ("datestyle", "ISO, YMD"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "on"),
    ("integer_datetimes", "on"),
    ("intervalstyle", "postgres"),
    ("lc_collate", "C"),
    ("lc_ctype", "C"),
    ("max_identifier_length", "63"),
    ("search_path", "public"),
    ("server_encoding", "UTF8"),
    ("server_version", "16.6"),
    ("server_version_num", "160006"),
    ("standard_conforming_strings", "on"),
    ("timezone", "UTC"),
    ("transaction_isolation", "read committed"),
    ("transaction_read_only", "on"),
];

/// Registers the functions.
pub(super) fn add(context: &SessionContext) {
    context.register_udf(version());
    context.register_udf(current_setting());
}

fn version() -> ScalarUDF {
    let text = format!(
        "PostgreSQL 16.6 as spoken by nandle {} with DataFusion {}",
        env!("CARGO_PKG_VERSION"),
        datafusion::DATAFUSION_VERSION
    );
    let answer = move |_: &[ColumnarValue]| Ok(ColumnarValue::Scalar(ScalarValue::Utf8(Some(text.clone()))));
    create_udf("version", vec![], DataType::Utf8, Volatility::Immutable, Arc::new(answer))
}

fn current_setting() -> ScalarUDF {
    let arguments = vec![DataType::Utf8];
    create_udf("current_setting", arguments, DataType::Utf8, Volatility::Stable, Arc::new(setting_of))
}

fn setting_of(arguments: &[ColumnarValue]) -> Result<ColumnarValue, DataFusionError> {
    let [ColumnarValue::Scalar(ScalarValue::Utf8(Some(name)))] = arguments else {
        return plan_err!("current_setting takes the name of a setting as a text");
    };
    let found = SERVER_SETTINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let Some((_, value)) = found else { return exec_err!("there is no setting {name}") };
    Ok(ColumnarValue::Scalar(ScalarValue::Utf8(Some((*value).to_owned()))))
}
