//! Targets opened on real file systems.

mod common;

use std::fs;
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::Path;

use common::{MIB, WITHOUT_SPACE, open, open_error, read_options, target_entries, write_options};
use nandle_io::{Access, Cause};
use nandle_target::facts::{identity, system_facts};
use nandle_target::{IoChoice, OpenOptions, Problem, Target, TargetKind, TargetSpec};

fn assert_shareable<T: Send + Sync>() {}

#[test]
fn a_target_is_shared_between_threads() {
    assert_shareable::<Target>();
}

#[test]
fn a_directory_gets_a_test_file_without_a_name() {
    let directory = tempfile::tempdir().unwrap();
    let target = open(directory.path(), &read_options()).unwrap();
    assert_eq!(target.kind(), TargetKind::TestFile);
    assert!(target.needs_fill() && target.is_writable());
    assert_eq!(target.area_bytes(), 4 * MIB);
    assert_eq!(target_entries(directory.path()), [""; 0]);
    let blocks = target.files().map(|file| file.file().metadata().unwrap()).map(|meta| {
        use std::os::unix::fs::MetadataExt as _;
        meta.blocks() * 512
    });
    assert!(blocks.sum::<u64>() >= 4 * MIB, "its space is reserved at once");
}

#[test]
fn every_world_reads_what_was_written() {
    let directory = tempfile::tempdir().unwrap();
    for io in [IoChoice::Auto, IoChoice::Uring, IoChoice::Threads] {
        let target = open(directory.path(), &OpenOptions { io, ..read_options() }).unwrap();
        match target.io(4) {
            Ok(opened) => common::write_and_read(opened),
            Err(error) if io == IoChoice::Uring => {
                assert!(matches!(error.problem, Problem::NoRing { .. }) && !error.is_usage(), "{error}");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn tmpfs_is_reported_as_buffered() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        common::skip("there is no /dev/shm to write to");
        return;
    };
    let target = open(directory.path(), &read_options()).unwrap();
    let opened = target.io(1).unwrap();
    assert!(matches!(&opened.device.shape.access, Access::Buffered { reason } if reason.contains("tmpfs")));
    let backend = opened.backend();
    assert!(!backend.direct && backend.stepped_down.iter().any(|line| line.contains("tmpfs")), "{backend:?}");
}

#[test]
fn a_missing_path_names_the_nearest_directory() {
    let directory = tempfile::tempdir().unwrap();
    let error = open_error(&directory.path().join("no/such"), &read_options());
    assert!(error.is_usage());
    assert!(
        error
            .to_string()
            .contains(&format!("nearest directory that exists is {}", directory.path().display()))
    );
    let error = open_error(Path::new("no-such-file-here"), &read_options());
    assert!(matches!(&error.problem, Problem::NotFound { nearest: Some(path) } if path == Path::new(".")));
    let link = directory.path().join("link");
    symlink("/nowhere", &link).unwrap();
    assert!(matches!(open_error(&link, &read_options()).problem, Problem::DanglingLink { .. }));
    assert!(matches!(open_error(Path::new("/dev/null"), &read_options()).problem, Problem::Kind { .. }));
}

#[test]
fn a_file_system_without_space_is_an_error() {
    let error = open_error(Path::new("/proc/self"), &read_options());
    assert!(error.to_string().starts_with("/proc/self: "), "{error}");
    assert!(
        matches!(error.problem, Problem::NoRoom { available_bytes: 0, .. } | Problem::System { .. }),
        "{error}"
    );
}

#[test]
fn too_large_a_test_file_is_refused_with_the_largest_size() {
    let directory = tempfile::tempdir().unwrap();
    let options = OpenOptions { test_file_bytes: WITHOUT_SPACE, ..read_options() };
    let error = open_error(directory.path(), &options);
    assert!(matches!(error.problem, Problem::NoRoom { wanted_bytes: WITHOUT_SPACE, .. }), "{error}");
    assert!(error.to_string().contains("--file-size") && !error.is_usage(), "{error}");
}

#[test]
fn a_file_is_read_and_never_written_unasked() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data, with *2 strange: name");
    let contents = vec![7; 2 << 20];
    fs::write(&path, &contents).unwrap();
    fs::File::open(&path).unwrap().sync_all().unwrap();
    let target = open(&path, &read_options()).unwrap();
    assert!(!target.is_writable() && !target.needs_fill());
    assert_eq!((target.kind(), target.area_bytes()), (TargetKind::File, 2 * MIB));
    let error = open_error(&path, &write_options());
    assert!(matches!(error.problem, Problem::ForeignFile) && error.is_usage(), "{error}");
    let target = open(&path, &OpenOptions { overwrite: true, ..write_options() }).unwrap();
    assert!(target.is_writable() && !target.needs_fill());
    target.mark_filled().unwrap();
    drop(target);
    assert!(fs::read(&path).unwrap() == contents, "opening alone changes nothing");
}

#[test]
fn holes_and_small_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let file = fs::File::create(&path).unwrap();
    assert!(matches!(open_error(&path, &read_options()).problem, Problem::TooSmall { got_bytes: 0, .. }));
    file.write_all_at(&vec![1; 1 << 20], 0).unwrap();
    file.write_all_at(&vec![1; 1 << 20], 3 * MIB).unwrap();
    file.sync_all().unwrap();
    let error = open_error(&path, &read_options());
    assert!(
        matches!(error.problem, Problem::Hole { offset_bytes, length_bytes } if (offset_bytes, length_bytes) == (MIB, 2 * MIB)),
        "{error}"
    );
    let target = open(&path, &OpenOptions { overwrite: true, ..read_options() }).unwrap();
    assert!(target.needs_fill() && target.is_writable(), "with the user's consent it is filled");
}

#[test]
fn a_kept_test_file_is_recognised() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kept");
    let target = open(&path, &OpenOptions { overwrite: true, ..read_options() }).unwrap();
    assert!(target.needs_fill());
    assert_eq!(target.area_bytes(), 4 * MIB);
    drop(target);
    let target = open(&path, &write_options()).unwrap();
    assert!(target.needs_fill(), "it was not filled yet");
    let file = target.files().next().unwrap().file().try_clone().unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&vec![3; 4 << 20], 0).unwrap();
    file.sync_all().unwrap();
    target.mark_filled().unwrap();
    drop(target);
    let target = open(&path, &write_options()).unwrap();
    assert!(!target.needs_fill() && target.is_writable());
    drop(target);
    for io in [IoChoice::Uring, IoChoice::Threads] {
        let target = open(&path, &OpenOptions { io, ..write_options() }).unwrap();
        let error = common::write(target.io(1).unwrap(), 4 * MIB).unwrap_err();
        assert!(matches!(error.cause, Cause::BeyondEnd { .. }), "the mark can't be addressed: {error}");
    }
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all_at(b"x", 0).unwrap();
    assert!(matches!(open_error(&path, &write_options()).problem, Problem::ForeignFile));
}

#[test]
fn a_link_is_followed_and_named() {
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("link");
    symlink(directory.path(), &link).unwrap();
    let target = open(&link, &read_options()).unwrap();
    assert!(target.remarks().iter().any(|remark| remark.contains("symbolic link")), "{:?}", target.remarks());
}

#[test]
fn loose_repeats_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let error = Target::open("model:x*2".parse().unwrap(), read_options()).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("nothing joins them"), "{error}");
    assert_eq!(target_entries(directory.path()), [""; 0]);
}

#[test]
fn arrays_have_the_requested_size_and_return_written_data() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().display();
    for text in [format!("raid0:64KiB:{path}*2"), format!("raid10:64KiB:{path}*4")] {
        for io in [IoChoice::Uring, IoChoice::Threads] {
            let spec: TargetSpec = text.parse().unwrap();
            let target = Target::open(spec, OpenOptions { io, ..read_options() }).unwrap();
            let opened = target.io(8).unwrap();
            assert!((4 * MIB..5 * MIB).contains(&target.area_bytes()), "{}", target.area_bytes());
            assert_eq!(opened.device.shape.capacity_bytes, target.area_bytes());
            common::write_and_read(opened);
        }
    }
    assert_eq!(target_entries(directory.path()), [""; 0]);
}

#[test]
fn the_system_reports_facts() {
    let directory = tempfile::tempdir().unwrap();
    let target = open(directory.path(), &read_options()).unwrap();
    let facts = system_facts(&target);
    let file_system = facts.file_system.unwrap();
    assert!(!file_system.kind.is_empty() && file_system.capacity_bytes.is_some(), "{file_system:?}");
    assert!(facts.machine.processors > 0 && facts.machine.memory_bytes.is_some());
    assert!(facts.machine.kernel.starts_with("Linux "));
    if facts.queue.is_some() {
        assert!(identity(&target).kernel_name.is_some());
    }
}
