//! History beyond the samples, which cover a few months: carriers with the times at which they
//! reported (from the publication's own lists), and airports with flights at other times.

pub(super) const FIRST_YEAR: u16 = 2000;
pub(super) const MONTHS: u16 = 140;

/// Reporting period of a carrier.
pub(super) struct Career {
    pub(super) code: &'static str,
    /// First month, counted from January 2000.
    pub(super) first: u16,
    /// End of the period (exclusive).
    pub(super) end: u16,
    /// For a carrier that isn't in the samples: a carrier with similar routes, and its hubs.
    pub(super) like: Option<(&'static str, &'static [&'static str])>,
}

const fn career(code: &'static str, first: u16, end: u16) -> Career {
    Career { code, first, end, like: None }
}

/// All carriers, in the order of the files.
pub(super) const CAREERS: [Career; 24] = [
    career("9E", 84, MONTHS),
    career("AA", 0, MONTHS),
    career("AQ", 0, 99),
    career("AS", 0, MONTHS),
    career("B6", 36, MONTHS),
    career("CO", 0, MONTHS),
    Career { code: "DH", first: 36, end: 72, like: Some(("UA", &["IAD", "ORD"])) },
    career("DL", 0, MONTHS),
    career("EV", 36, MONTHS),
    career("F9", 64, MONTHS),
    career("FL", 36, MONTHS),
    career("HA", 47, MONTHS),
    Career { code: "HP", first: 0, end: 72, like: Some(("US", &["PHX", "LAS"])) },
    career("MQ", 12, MONTHS),
    career("NW", 0, 120),
    career("OH", 36, 132),
    career("OO", 36, MONTHS),
    Career { code: "TW", first: 0, end: 24, like: Some(("AA", &["STL", "DFW"])) },
    Career { code: "TZ", first: 36, end: 82, like: Some(("WN", &["MDW", "IND"])) },
    career("UA", 0, MONTHS),
    career("US", 0, MONTHS),
    career("WN", 0, MONTHS),
    career("XE", 36, MONTHS),
    career("YV", 72, MONTHS),
];

/// Airports with flights only outside of the samples' months.
pub(super) const OTHER_AIRPORTS: [&str; 56] = [
    "ABR", "ACK", "ALS", "ALW", "APF", "ART", "ATY", "AUG", "BFF", "BHB", "BJI", "BKG", "BRD", "CDR", "CGI",
    "CKB", "CNY", "CYS", "DDC", "DIK", "DRO", "DVL", "EAR", "EAU", "ESC", "FMN", "FOE", "GCC", "GGG", "GLH",
    "GUC", "HHH", "HVN", "HYA", "HYS", "IMT", "INL", "ISN", "JHW", "JLN", "JMS", "LAR", "LBF", "LNS", "LWB",
    "MKG", "MVY", "OGD", "OTH", "PIB", "PGV", "PIR", "PSG", "RHI", "RKS", "SLN",
];

/// Names of the months.
pub(super) fn months() -> impl Iterator<Item = String> {
    (0..MONTHS).map(|month| format!("{}-{:02}", FIRST_YEAR + month / 12, month % 12 + 1))
}

pub(super) fn years() -> impl Iterator<Item = u16> {
    FIRST_YEAR..=FIRST_YEAR + (MONTHS - 1) / 12
}
