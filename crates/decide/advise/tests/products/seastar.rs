use nandle_advise::settings::Version;
use nandle_advise::{Product, fragment};
use saphyr::{LoadableYamlNode as _, Yaml};

use crate::advice;
use crate::made_up::{DISK, NVME};

/// `doc/io-properties-file.md` of Seastar: a map with a list of disks. Each has a mount point, four
/// mandatory rates and optional lengths, all numbers.
#[test]
fn file_has_the_documented_format() {
    for drive in [DISK, NVME] {
        let text = fragment(&advice(&drive.profile(), Product::Seastar, Version::new(25, 0)));
        let documents = Yaml::load_from_str(&text).unwrap();
        let disks = documents[0].as_mapping_get("disks").unwrap().as_vec().unwrap();
        let disk = &disks[0];
        assert!(disk.as_mapping_get("mountpoint").unwrap().as_str().unwrap().starts_with('/'));
        for rate in ["read_iops", "read_bandwidth", "write_iops", "write_bandwidth"] {
            assert!(disk.as_mapping_get(rate).unwrap().as_integer().unwrap() > 0, "{rate}");
        }
        for length in ["read_saturation_length", "write_saturation_length", "physical_block_size"] {
            let bytes = disk.as_mapping_get(length).unwrap().as_integer().unwrap();
            assert!(bytes >= 512 && bytes.cast_unsigned().is_power_of_two(), "{length}: {bytes}");
        }
        assert_eq!(disk.as_mapping().unwrap().len(), 8);
    }
}

/// Seastar refuses three of the four rates.
#[test]
fn incomplete_rates_are_only_a_comment() {
    let advice = advice(&NVME.read_side(), Product::Seastar, Version::new(25, 0));
    let text = fragment(&advice);
    assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')), "{text}");
    assert!(text.contains("read_iops") && text.contains("write_iops: needs"), "{text}");
}
