//! Writes reports on synthetic profiles into a directory, to look at the page in development:
//!
//! ```text
//! cargo run -p nandle-report --example made_up_report -- target/reports
//! ```
//!
//! The figures in them aren't measurements.

use std::error::Error;
use std::path::PathBuf;

#[path = "../tests/made_up/mod.rs"]
mod made_up;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("name the folder to write to")?);
    std::fs::create_dir_all(&folder)?;
    let reports = [
        ("one", vec![made_up::fast()]),
        ("several", vec![made_up::fast(), made_up::volume(), made_up::sata()]),
        ("partial", vec![made_up::partial()]),
        ("hostile", vec![made_up::hostile(), made_up::partial()]),
    ];
    for (name, profiles) in reports {
        std::fs::write(folder.join(name).with_extension("html"), nandle_report::html(&profiles)?)?;
    }
    Ok(())
}
