//! Writes flights in the publisher's historical format: 29 columns, `NA` for missing values.

use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int16Type, UInt8Type, UInt16Type};
use arrow_array::{Array, RecordBatch};
use csv::{ByteRecord, Writer, WriterBuilder};

use super::cells::civil;
use crate::Column;
use crate::schema::{Kind, flight_schema};

/// Contents of a file's column.
#[derive(Clone, Copy)]
enum Place {
    Of(Column),
    Month,
    DayOfMonth,
}

const PLACES: [(&str, Place); 29] = [
    ("Year", Place::Of(Column::Year)),
    ("Month", Place::Month),
    ("DayofMonth", Place::DayOfMonth),
    ("DayOfWeek", Place::Of(Column::DayOfWeek)),
    ("DepTime", Place::Of(Column::DepTime)),
    ("CRSDepTime", Place::Of(Column::CrsDepTime)),
    ("ArrTime", Place::Of(Column::ArrTime)),
    ("CRSArrTime", Place::Of(Column::CrsArrTime)),
    ("UniqueCarrier", Place::Of(Column::Airline)),
    ("FlightNum", Place::Of(Column::FlightNum)),
    ("TailNum", Place::Of(Column::TailNum)),
    ("ActualElapsedTime", Place::Of(Column::ActualElapsedTime)),
    ("CRSElapsedTime", Place::Of(Column::CrsElapsedTime)),
    ("AirTime", Place::Of(Column::AirTime)),
    ("ArrDelay", Place::Of(Column::ArrDelay)),
    ("DepDelay", Place::Of(Column::DepDelay)),
    ("Origin", Place::Of(Column::Origin)),
    ("Dest", Place::Of(Column::Dest)),
    ("Distance", Place::Of(Column::Distance)),
    ("TaxiIn", Place::Of(Column::TaxiIn)),
    ("TaxiOut", Place::Of(Column::TaxiOut)),
    ("Cancelled", Place::Of(Column::Cancelled)),
    ("CancellationCode", Place::Of(Column::CancellationCode)),
    ("Diverted", Place::Of(Column::Diverted)),
    ("CarrierDelay", Place::Of(Column::CarrierDelay)),
    ("WeatherDelay", Place::Of(Column::WeatherDelay)),
    ("NASDelay", Place::Of(Column::NasDelay)),
    ("SecurityDelay", Place::Of(Column::SecurityDelay)),
    ("LateAircraftDelay", Place::Of(Column::LateAircraftDelay)),
];

/// Writer of a CSV file of flights.
pub struct CsvWriter<W: Write> {
    writer: Writer<W>,
    record: ByteRecord,
}

impl<W: Write> CsvWriter<W> {
    /// Starts a file with its header.
    ///
    /// # Errors
    /// It can't be written.
    pub fn new(into: W) -> Result<Self, csv::Error> {
        let mut writer = WriterBuilder::new().buffer_capacity(1 << 20).from_writer(into);
        writer.write_record(PLACES.iter().map(|(name, _)| name))?;
        Ok(Self { writer, record: ByteRecord::new() })
    }

    /// Writes flights of the crate's schema.
    ///
    /// # Errors
    /// They can't be written.
    ///
    /// # Panics
    /// The batch has another schema.
    pub fn write(&mut self, flights: &RecordBatch) -> Result<(), csv::Error> {
        assert_eq!(flights.schema(), flight_schema(), "flights have one schema");
        let mut text = Vec::new();
        for row in 0..flights.num_rows() {
            self.record.clear();
            for (_, place) in PLACES {
                text.clear();
                write_cell(flights, place, row, &mut text)?;
                self.record.push_field(if text.is_empty() { b"NA" } else { &text });
            }
            self.writer.write_byte_record(&self.record)?;
        }
        Ok(())
    }

    /// Completes the file.
    ///
    /// # Errors
    /// It can't be written.
    pub fn finish(mut self) -> Result<(), csv::Error> {
        Ok(self.writer.flush()?)
    }
}

/// Writes the text of a cell; nothing if it is missing.
fn write_cell(flights: &RecordBatch, place: Place, row: usize, text: &mut Vec<u8>) -> std::io::Result<()> {
    let column = match place {
        Place::Of(column) => column,
        Place::Month | Place::DayOfMonth => Column::FlightDate,
    };
    let array = flights.column(column.index());
    if array.is_null(row) {
        return Ok(());
    }
    match (place, column.kind()) {
        (Place::Month, _) => write!(text, "{}", civil(array.as_primitive::<Date32Type>().value(row)).1),
        (Place::DayOfMonth, _) => write!(text, "{}", civil(array.as_primitive::<Date32Type>().value(row)).2),
        (_, Kind::Date) => write!(text, "{}", array.as_primitive::<Date32Type>().value(row)),
        (_, Kind::U8) => write!(text, "{}", array.as_primitive::<UInt8Type>().value(row)),
        (_, Kind::U16) => write!(text, "{}", array.as_primitive::<UInt16Type>().value(row)),
        (_, Kind::I16) => write!(text, "{}", array.as_primitive::<Int16Type>().value(row)),
        (_, Kind::Text) => text.write_all(array.as_string::<i32>().value(row).as_bytes()),
        (_, Kind::Code) => {
            let codes = array.as_dictionary::<UInt16Type>();
            let name = codes.key(row).map_or("", |key| codes.values().as_string::<i32>().value(key));
            text.write_all(name.as_bytes())
        }
    }
}
