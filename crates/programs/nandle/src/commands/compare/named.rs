use std::path::Path;

use nandle_profile::{DeviceProfile, read_profile};

use super::args::CompareArgs;
use crate::error::CliError;

/// A profile with its column heading and its drive's price.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) profile: DeviceProfile,
    pub(super) price: Option<f64>,
}

/// Reads the profiles and assigns names and prices.
pub(super) fn read(args: &CompareArgs) -> Result<Vec<Named>, CliError> {
    let names = names(args);
    check_prices(args, &names)?;
    let paths_and_names = args.profiles.iter().zip(names);
    paths_and_names
        .map(|(path, name)| {
            let price = args.prices.iter().find(|price| price.name == name).map(|price| price.amount);
            Ok(Named { profile: read_profile(path)?, name, price })
        })
        .collect()
}

/// File names without extension; whole paths if two would be equal.
fn names(args: &CompareArgs) -> Vec<String> {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let stems: Vec<String> = args.profiles.iter().map(|path| stem(path).unwrap_or_default()).collect();
    let is_unique = |name: &String| stems.iter().filter(|other| *other == name).count() == 1;
    let paths = args.profiles.iter().map(|path| path.display().to_string());
    stems.iter().zip(paths).map(|(stem, path)| if is_unique(stem) { stem.clone() } else { path }).collect()
}

fn check_prices(args: &CompareArgs, names: &[String]) -> Result<(), CliError> {
    for (index, price) in args.prices.iter().enumerate() {
        if !names.contains(&price.name) {
            return Err(CliError::usage(format!(
                "--price {}: no profile has that name; the names are {}",
                price.name,
                names.join(", ")
            )));
        }
        if args.prices.iter().take(index).any(|earlier| earlier.name == price.name) {
            return Err(CliError::usage(format!("--price {}: it was given twice", price.name)));
        }
    }
    Ok(())
}
