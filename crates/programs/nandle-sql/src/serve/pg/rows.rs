//! Sends rows a batch at a time: rows that aren't read aren't computed.

use std::fmt::Debug;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_pg::datatypes::arrow_schema_to_pg_fields;
use arrow_schema::Schema;
use futures_util::sink::{Sink, SinkExt as _};
use pgwire::api::Type;
use pgwire::api::portal::Format;
use pgwire::api::results::FieldInfo;
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::PgWireBackendMessage;
use pgwire::types::format::FormatOptions;

use super::errors;
use super::types::{described_schema, is_json, sent_rows};
use super::values::RowWriter;
use crate::serve::limits::Batches;

/// Rows of a query, possibly partly sent.
pub(super) struct RowSource {
    batches: Batches,
    /// Rest of the last batch.
    rest: Option<RecordBatch>,
    is_over: bool,
}

/// Number of rows sent, and whether they were the last.
pub(super) struct Sent {
    pub(super) rows: usize,
    pub(super) is_all: bool,
}

impl RowSource {
    pub(super) fn new(batches: Batches) -> Self {
        Self { batches, rest: None, is_over: false }
    }

    pub(super) fn schema(&self) -> &Schema {
        self.batches.schema()
    }

    /// Up to `most` of the next rows; `None` at the end.
    async fn next(&mut self, most: usize) -> PgWireResult<Option<RecordBatch>> {
        let batch = match self.rest.take() {
            Some(rest) => Some(rest),
            None if self.is_over => None,
            None => self.batches.next().await.map_err(|ended| errors::of_ended(&ended))?,
        };
        let Some(batch) = batch else {
            self.is_over = true;
            return Ok(None);
        };
        let batch = sent_rows(batch).map_err(|error| errors::with_code("0A000", error.to_string()))?;
        let rows = batch.num_rows().min(most);
        if rows < batch.num_rows() {
            self.rest = Some(batch.slice(rows, batch.num_rows() - rows));
        }
        Ok(Some(batch.slice(0, rows)))
    }
}

/// Sends up to `most` rows, or all.
pub(super) async fn send<C>(
    client: &mut C,
    source: &mut RowSource,
    fields: &Arc<Vec<FieldInfo>>,
    most: Option<usize>,
) -> PgWireResult<Sent>
where
    C: Sink<PgWireBackendMessage> + Unpin + Send,
    C::Error: Debug,
    PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
{
    let most = most.unwrap_or(usize::MAX);
    let mut rows = 0;
    while rows < most {
        let Some(batch) = source.next(most - rows).await? else { return Ok(Sent { rows, is_all: true }) };
        rows += batch.num_rows();
        let writer = RowWriter::new(&batch, fields);
        for row in 0..batch.num_rows() {
            client.feed(PgWireBackendMessage::DataRow(writer.row(&batch, row)?)).await?;
        }
    }
    Ok(Sent { rows, is_all: false })
}

/// Columns in the requested formats: one for all, or one for each.
pub(super) fn fields(schema: &Schema, format: &Format) -> PgWireResult<Arc<Vec<FieldInfo>>> {
    let columns = schema.fields().len();
    if let Format::Individual(formats) = format
        && formats.len() != columns
    {
        let (formats, code) = (formats.len(), "08P01");
        return Err(errors::with_code(
            code,
            format!("formats for {formats} columns, of which there are {columns}"),
        ));
    }
    let options = Arc::new(FormatOptions::default());
    let sent = arrow_schema_to_pg_fields(&described_schema(schema), format, Some(Arc::clone(&options)))?;
    let sent = sent.into_iter().zip(schema.fields()).map(|(sent, field)| {
        if !is_json(field.data_type()) {
            return sent;
        }
        let json = FieldInfo::new(field.name().clone(), None, None, Type::JSON, sent.format());
        json.with_format_options(Arc::clone(&options))
    });
    Ok(Arc::new(sent.collect()))
}
