//! The columns of a flight, under their historical names.
//!
//! | column | type | what |
//! |---|---|---|
//! | `Year` | u16 | |
//! | `Month` | text | a month of one year, `2008-01`; sorts by time |
//! | `FlightDate` | date | |
//! | `DayOfWeek` | u8 | 1 is Monday |
//! | `Airline` | text | the carrier's code, unique over the years (`UniqueCarrier`, `Reporting_Airline`) |
//! | `FlightNum` | u16 | |
//! | `TailNum` | text | |
//! | `Origin`, `Dest` | text | airports' codes |
//! | `CRSDepTime`, `DepTime`, `CRSArrTime`, `ArrTime` | u16 | local time as `hhmm`; those after midnight may be past 2400 |
//! | `DepDelay`, `ArrDelay` | i16 | minutes, negative when early; `ArrDelay` is the cubes' fact *delay* |
//! | `CRSElapsedTime`, `ActualElapsedTime`, `AirTime`, `TaxiIn`, `TaxiOut` | i16 | minutes |
//! | `Distance` | u16 | miles |
//! | `Cancelled`, `Diverted` | u8 | 0 or 1 |
//! | `CancellationCode` | text | `A` carrier, `B` weather, `C` national air system, `D` security |
//! | `CarrierDelay`, `WeatherDelay`, `NASDelay`, `SecurityDelay`, `LateAircraftDelay` | i16 | minutes of the delay by cause |
//!
//! Text is dictionary-encoded, except tail numbers, which are too many. Flags are numbers instead
//! of booleans, because Parquet has no dictionaries of booleans, and cubes are counted on
//! dictionary codes.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

/// Storage of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Number up to 255.
    U8,
    /// Number up to 65 535.
    U16,
    /// Minutes.
    I16,
    /// Date.
    Date,
    /// Few distinct texts.
    Code,
    /// Arbitrary text.
    Text,
}

macro_rules! columns {
    ($($column:ident $name:literal $kind:ident $nullable:literal,)*) => {
        /// A column of a flight.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the module's table says what each is")]
        pub enum Column { $($column,)* }

        impl Column {
            /// All columns, in schema order.
            pub const ALL: &[Self] = &[$(Self::$column,)*];

            /// Its name in the schema.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$column => $name,)* }
            }

            /// Its index in the schema.
            pub const fn index(self) -> usize {
                self as usize
            }

            pub(crate) const fn kind(self) -> Kind {
                match self { $(Self::$column => Kind::$kind,)* }
            }

            /// Returns true if it may be missing.
            pub const fn is_nullable(self) -> bool {
                match self { $(Self::$column => $nullable,)* }
            }
        }
    };
}

columns! {
    Year "Year" U16 false,
    Month "Month" Code false,
    FlightDate "FlightDate" Date false,
    DayOfWeek "DayOfWeek" U8 false,
    Airline "Airline" Code false,
    FlightNum "FlightNum" U16 true,
    TailNum "TailNum" Text true,
    Origin "Origin" Code false,
    Dest "Dest" Code false,
    CrsDepTime "CRSDepTime" U16 true,
    DepTime "DepTime" U16 true,
    CrsArrTime "CRSArrTime" U16 true,
    ArrTime "ArrTime" U16 true,
    DepDelay "DepDelay" I16 true,
    ArrDelay "ArrDelay" I16 true,
    CrsElapsedTime "CRSElapsedTime" I16 true,
    ActualElapsedTime "ActualElapsedTime" I16 true,
    AirTime "AirTime" I16 true,
    TaxiIn "TaxiIn" I16 true,
    TaxiOut "TaxiOut" I16 true,
    Distance "Distance" U16 true,
    Cancelled "Cancelled" U8 false,
    CancellationCode "CancellationCode" Code true,
    Diverted "Diverted" U8 false,
    CarrierDelay "CarrierDelay" I16 true,
    WeatherDelay "WeatherDelay" I16 true,
    NasDelay "NASDelay" I16 true,
    SecurityDelay "SecurityDelay" I16 true,
    LateAircraftDelay "LateAircraftDelay" I16 true,
}

impl Column {
    fn field(self) -> Field {
        let data_type = match self.kind() {
            Kind::U8 => DataType::UInt8,
            Kind::U16 => DataType::UInt16,
            Kind::I16 => DataType::Int16,
            Kind::Date => DataType::Date32,
            Kind::Code => DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8)),
            Kind::Text => DataType::Utf8,
        };
        Field::new(self.name(), data_type, self.is_nullable())
    }
}

/// Schema of every batch of flights.
pub fn flight_schema() -> SchemaRef {
    Arc::new(Schema::new(Column::ALL.iter().map(|column| column.field()).collect::<Vec<_>>()))
}
