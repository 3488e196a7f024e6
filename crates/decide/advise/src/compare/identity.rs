use nandle_profile::Identity;

/// Result of comparing the identities of two profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceMatch {
    /// All identifying fields that both have agree.
    Same,
    /// An identifying field differs; the text says which.
    Different(String),
    /// No identifying field is present in both.
    Unknown,
}

/// Compares serial numbers and world-wide names if both identities have them, otherwise model and
/// capacity.
pub fn same_device(one: &Identity, other: &Identity) -> DeviceMatch {
    let text = |value: &Option<String>| value.as_ref().map(|text| text.trim().to_owned());
    let size = |identity: &Identity| identity.capacity_bytes.map(|bytes| format!("{bytes} bytes"));
    let unique = [
        ("the serial number", text(&one.serial), text(&other.serial)),
        ("the world-wide name", text(&one.world_wide_name), text(&other.world_wide_name)),
    ];
    let common =
        [("the model", text(&one.model), text(&other.model)), ("the capacity", size(one), size(other))];
    compare(&unique).or_else(|| compare(&common)).unwrap_or(DeviceMatch::Unknown)
}

/// Returns `None` if no field is present in both.
fn compare(values: &[(&str, Option<String>, Option<String>)]) -> Option<DeviceMatch> {
    let both = || values.iter().filter_map(|(what, one, other)| Some((what, one.as_ref()?, other.as_ref()?)));
    both().next()?;
    let different = both().find(|(_, one, other)| one != other);
    Some(different.map_or(DeviceMatch::Same, |(what, one, other)| {
        DeviceMatch::Different(format!("{what} is {one} in one and {other} in the other"))
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
    fn serial_number_decides_if_both_have_one() {
        let one = identity(Some("A1"), "X", 10);
        assert_eq!(same_device(&one, &identity(Some("A1 "), "renamed", 11)), DeviceMatch::Same);
        assert!(matches!(same_device(&one, &identity(Some("B2"), "X", 10)), DeviceMatch::Different(_)));
        assert_eq!(same_device(&one, &identity(None, "X", 10)), DeviceMatch::Same);
        let DeviceMatch::Different(how) = same_device(&one, &identity(None, "X", 11)) else { panic!() };
        assert!(how.contains("10 bytes") && how.contains("11 bytes"), "{how}");
        assert_eq!(same_device(&one, &Identity::default()), DeviceMatch::Unknown);
    }
}
