use std::fs;

use crate::common::{LoopDevice, MIB, Place, is_root, skip};

const WRITE: &str =
    "--operation write --patterns random --block-sizes 64KiB --queue-depths 2 --bytes-per-run 1MiB";

#[test]
fn a_write_test_leaves_somebodys_file_alone() {
    let place = Place::new();
    let contents = place.write_noise("data", 2 * MIB);
    for operation in ["write", "mixed:70"] {
        let outcome =
            place.nandle(&format!("sweep data {WRITE} --output cells.csv").replace("write", operation));
        outcome.refused(2, &["data: ", "--overwrite", "name a directory"]);
    }
    place.nandle(&format!("sweep data {WRITE} --destroy-data")).refused(2, &["data: ", "--overwrite"]);
    assert!(place.read("data") == contents);
    assert_eq!(place.names(), ["data"]);
}

#[test]
fn with_the_users_word_it_is_written_to() {
    let place = Place::new();
    let contents = place.write_noise("data", 2 * MIB);
    place.nandle(&format!("sweep data {WRITE} --overwrite")).done();
    assert!(place.read("data") != contents);
    assert_eq!(place.read("data").len(), contents.len());
}

#[test]
fn a_write_test_in_a_directory_touches_nothing_else() {
    let place = Place::new();
    let contents = place.write_noise("data", 2 * MIB);
    place.nandle(&format!("sweep . {WRITE} --file-size 4MiB")).done();
    assert!(place.read("data") == contents);
    assert_eq!(place.names(), ["data"]);
}

#[test]
fn a_device_is_written_to_only_with_the_users_word() {
    let place = Place::new();
    if !is_root() {
        return skip("only an administrator has loop devices");
    }
    let contents = place.write_noise("image", 8 * MIB);
    let Some(device) = LoopDevice::new(&place.path("image")) else { return };
    let target = device.path.display();
    place.nandle(&format!("sweep {target} {WRITE}")).refused(2, &[&format!("{target}: "), "--destroy-data"]);
    place.nandle(&format!("sweep {target} {WRITE} --overwrite")).refused(2, &["--destroy-data"]);
    place.nandle(&format!("probe {target} --budget 1s")).done();
    let profile = place.json("profile.json");
    assert_eq!((&profile["conditions"]["fill_ns"], &profile["backend"]["direct"]), (&0.into(), &true.into()));
    assert!(place.read("image") == contents, "reading changes nothing");
    place.nandle(&format!("sweep {target} {WRITE} --destroy-data")).done();
    assert!(place.read("image") != contents);
}

#[test]
fn a_mounted_device_is_never_written_to() {
    let place = Place::new();
    fs::File::create(place.path("image")).unwrap().set_len(16 * MIB).unwrap();
    fs::create_dir(place.path("mounted")).unwrap();
    let set_up = "mkfs.ext4 -q -F image && device=$(losetup --find --show image) && ln -s $device device && \
                  mount $device mounted && losetup --detach $device";
    let Some(outcome) = place.nandle_after(set_up, &format!("sweep device {WRITE} --destroy-data")) else {
        return;
    };
    outcome.refused(2, &["device: ", "mounted"]);
}
