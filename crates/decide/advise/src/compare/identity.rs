use nandle_profile::Identity;

/// Whether two identities are of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sameness {
    /// What tells devices apart agrees.
    Same,
    /// What tells devices apart differs; in words, how.
    Different(String),
    /// Neither can be said: an identity is empty.
    Unknown,
}

/// Compares two identities: by serial number and world-wide name where both have them, else by model and capacity.
pub fn same_device(one: &Identity, other: &Identity) -> Sameness {
    let text = |value: &Option<String>| value.as_ref().map(|text| text.trim().to_owned());
    let size = |identity: &Identity| identity.capacity_bytes.map(|bytes| format!("{bytes} bytes"));
    let unique = [
        ("the serial number", text(&one.serial), text(&other.serial)),
        ("the world-wide name", text(&one.world_wide_name), text(&other.world_wide_name)),
    ];
    let common =
        [("the model", text(&one.model), text(&other.model)), ("the capacity", size(one), size(other))];
    compare(&unique).or_else(|| compare(&common)).unwrap_or(Sameness::Unknown)
}

/// `None` where there is nothing that both have.
fn compare(values: &[(&str, Option<String>, Option<String>)]) -> Option<Sameness> {
    let both = || values.iter().filter_map(|(what, one, other)| Some((what, one.as_ref()?, other.as_ref()?)));
    both().next()?;
    let different = both().find(|(_, one, other)| one != other);
    Some(different.map_or(Sameness::Same, |(what, one, other)| {
        Sameness::Different(format!("{what} is {one} in one and {other} in the other"))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(serial: Option<&str>, model: &str, bytes: u64) -> Identity {
        Identity {
            serial: serial.map(str::to_owned),
            model: Some(model.to_owned()),
            capacity_bytes: Some(bytes),
            ..Identity::default()
        }
    }

    #[test]
    fn the_serial_number_decides_where_both_have_one() {
        let one = identity(Some("A1"), "X", 10);
        assert_eq!(same_device(&one, &identity(Some("A1 "), "renamed", 11)), Sameness::Same);
        assert!(matches!(same_device(&one, &identity(Some("B2"), "X", 10)), Sameness::Different(_)));
        assert_eq!(same_device(&one, &identity(None, "X", 10)), Sameness::Same);
        let Sameness::Different(how) = same_device(&one, &identity(None, "X", 11)) else { panic!() };
        assert!(how.contains("10 bytes") && how.contains("11 bytes"), "{how}");
        assert_eq!(same_device(&one, &Identity::default()), Sameness::Unknown);
    }
}
