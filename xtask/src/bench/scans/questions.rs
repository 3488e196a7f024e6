//! Questions about the flights: columns, with rows that are clustered, scattered, or everywhere.

/// A scan as SQL and as options of `nandle scan`.
pub(super) struct Question {
    pub(super) name: &'static str,
    pub(super) columns: &'static str,
    pub(super) condition: &'static str,
    pub(super) options: &'static [&'static str],
}

/// All questions. Rows are sorted by month, but not by airport within it.
pub(super) const ALL: [Question; 8] = [
    Question { name: "two columns, all rows", columns: "Origin,ArrDelay", condition: "true", options: &[] },
    Question {
        name: "eight columns, all rows",
        columns: "Year,Month,Airline,Origin,Dest,DepDelay,ArrDelay,Distance",
        condition: "true",
        options: &[],
    },
    Question {
        name: "eight columns, one year",
        columns: "Year,Month,Airline,Origin,Dest,DepDelay,ArrDelay,Distance",
        condition: "Year = 2005",
        options: &["--in", "Year=2005"],
    },
    Question {
        name: "eight columns, one day",
        columns: "Year,Month,Airline,Origin,Dest,DepDelay,ArrDelay,Distance",
        condition: "FlightDate = DATE '2005-07-04'",
        options: &["--in", "FlightDate=2005-07-04"],
    },
    Question {
        name: "three columns, one airport",
        columns: "Airline,Dest,ArrDelay",
        condition: "Origin = 'IAH'",
        options: &["--in", "Origin=IAH"],
    },
    Question {
        name: "three columns, one airport in three years",
        columns: "Airline,Dest,ArrDelay",
        condition: "Origin = 'IAH' AND Year BETWEEN 2004 AND 2006",
        options: &["--in", "Origin=IAH", "--between", "Year=2004..2006"],
    },
    Question {
        name: "four columns, one airline",
        columns: "FlightDate,Origin,Dest,ArrDelay",
        condition: "Airline = 'WN'",
        options: &["--in", "Airline=WN"],
    },
    Question {
        name: "four columns, one aeroplane",
        columns: "FlightDate,Origin,Dest,ArrDelay",
        condition: "TailNum = 'N465BA'",
        options: &["--in", "TailNum=N465BA"],
    },
];
