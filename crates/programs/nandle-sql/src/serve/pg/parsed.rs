//! Parsed statements without values.

use std::sync::Arc;

use arrow_pg::datatypes::into_pg_type;
use arrow_schema::DataType;
use async_trait::async_trait;
use nandle_engine::{Command, Prepared, Request};
use pgwire::api::portal::Format;
use pgwire::api::results::FieldInfo;
use pgwire::api::stmt::QueryParser;
use pgwire::api::{ClientInfo, Type};
use pgwire::error::PgWireResult;

use super::answers::shown_fields;
use super::client::Client;
use super::errors;
use super::rows::fields;

/// A parsed statement. Queries and cursor declarations are planned already.
#[derive(Debug, Clone)]
pub(super) struct Parsed {
    pub(super) request: Arc<Request>,
    pub(super) prepared: Option<Arc<Prepared>>,
}

#[async_trait]
impl QueryParser for Client {
    type Statement = Parsed;

    async fn parse_sql<C>(
        &self,
        client: &C,
        sql: &str,
        _types: &[Option<Type>],
    ) -> PgWireResult<Option<Parsed>>
    where
        C: ClientInfo + Unpin + Send + Sync,
    {
        let mut requests = self.understand(sql).await?.into_iter();
        let Some(request) = requests.next() else { return Ok(None) };
        if requests.next().is_some() {
            return Err(errors::with_code(
                "42601",
                "a prepared statement is one statement; send them one by one",
            ));
        }
        Self::check(&request, client.transaction_status())?;
        let statement = match &request {
            Request::Query(statement) => Some(statement),
            Request::Command(Command::Declare { query, .. }) => Some(query),
            Request::Command(Command::Show { name, statement }) if self.show(name).is_none() => {
                Some(statement)
            }
            Request::Command(_) => None,
        };
        let prepared = match statement {
            Some(statement) => Some(Arc::new(self.prepare(statement).await?)),
            None => None,
        };
        Ok(Some(Parsed { request: Arc::new(request), prepared }))
    }

    fn get_parameter_types(&self, parsed: &Parsed) -> PgWireResult<Vec<Type>> {
        let parameters = parsed.prepared.as_ref().map_or(&[][..], |prepared| prepared.parameters());
        let of = |known: &Option<DataType>| known.as_ref().map_or(Ok(Type::UNKNOWN), into_pg_type);
        parameters.iter().map(of).collect()
    }

    fn get_result_schema(&self, parsed: &Parsed, format: Option<&Format>) -> PgWireResult<Vec<FieldInfo>> {
        let described = match (&*parsed.request, &parsed.prepared) {
            (Request::Command(Command::Fetch { name, .. }), _) => {
                return Ok(with_format(&self.fields_of(name)?, format));
            }
            (Request::Command(Command::Declare { .. }), _) => return Ok(Vec::new()),
            (_, Some(prepared)) => fields(prepared.schema(), format.unwrap_or(&Format::UnifiedText))?,
            (Request::Command(Command::Show { name, .. }), None) => shown_fields(name)?,
            _ => return Ok(Vec::new()),
        };
        Ok(described.to_vec())
    }
}

/// The columns with other formats, if there is one for each.
fn with_format(fields: &[FieldInfo], format: Option<&Format>) -> Vec<FieldInfo> {
    let formats = |place: usize| match format {
        Some(Format::Individual(formats)) if formats.len() != fields.len() => {
            Format::UnifiedText.format_for(place)
        }
        Some(format) => format.format_for(place),
        None => Format::UnifiedText.format_for(place),
    };
    let with = |(place, field): (usize, &FieldInfo)| {
        FieldInfo::new(field.name().to_owned(), None, None, field.datatype().clone(), formats(place))
    };
    fields.iter().enumerate().map(with).collect()
}
