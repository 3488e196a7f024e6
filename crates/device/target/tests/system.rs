//! Full, read-only and mounted devices, which need an administrator to set up. Each test reports
//! prominently when it can't run.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use common::{MIB, open, open_error, read_options, run, skip, write_options};
use nandle_target::{OpenOptions, Problem, TargetKind};
use rustix::io::Errno;

/// Reverts a set-up step on drop, even after a failure.
struct Undo(&'static str, Vec<String>);

impl Undo {
    fn now(&self) {
        let arguments: Vec<&str> = self.1.iter().map(String::as_str).collect();
        if let Err(error) = run(self.0, &arguments) {
            common::say(&format!("undoing the set-up: {error}"));
        }
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        self.now();
    }
}

/// Mounts something on a new directory in `parent`.
fn mount(parent: &Path, arguments: &[&str]) -> Result<(PathBuf, Undo), String> {
    let at = parent.join("mounted");
    fs::create_dir_all(&at).map_err(|error| error.to_string())?;
    let text = at.to_string_lossy().into_owned();
    run("mount", &[arguments, &[text.as_str()]].concat())?;
    Ok((at, Undo("umount", vec!["--lazy".into(), text])))
}

/// Loop device with an ext4 file system of 32 MiB.
fn loop_device(parent: &Path) -> Result<(PathBuf, Undo), String> {
    let image = parent.join("image");
    let file = fs::File::create(&image).and_then(|file| file.set_len(32 * MIB));
    file.map_err(|error| error.to_string())?;
    let image = image.to_string_lossy();
    run("mkfs.ext4", &["-q", "-F", &image])?;
    let device = run("losetup", &["--find", "--show", &image])?;
    Ok((device.clone().into(), Undo("losetup", vec!["--detach".into(), device])))
}

#[test]
fn a_full_disk_is_detected_before_any_write() {
    let parent = tempfile::tempdir().unwrap();
    let (at, _undo) = match mount(parent.path(), &["-t", "tmpfs", "-o", "size=8m", "none"]) {
        Ok(mounted) => mounted,
        Err(error) => return skip(&error),
    };
    let options = OpenOptions { test_file_bytes: 2 * MIB, ..read_options() };
    let first = open(&at, &options).unwrap();
    assert_eq!(first.area_bytes(), 2 * MIB);
    let error = open_error(&at, &OpenOptions { test_file_bytes: 6 * MIB, ..read_options() });
    assert!(
        matches!(error.problem, Problem::NoRoom { available_bytes, largest_bytes, .. }
            if available_bytes == 6 * MIB && largest_bytes == 5 * MIB),
        "{error:?}"
    );
    assert!(error.to_string().contains("--file-size 5MiB or less"), "{error}");
    assert!(open(&at, &OpenOptions { test_file_bytes: 5 * MIB, ..read_options() }).is_ok());
    drop(first);
    open_when_free(&at, &OpenOptions { test_file_bytes: 7 * MIB, ..read_options() });
}

#[test]
fn a_read_only_file_system_is_an_error() {
    let parent = tempfile::tempdir().unwrap();
    let (at, _undo) = match mount(parent.path(), &["-t", "tmpfs", "-o", "size=64m,ro", "none"]) {
        Ok(mounted) => mounted,
        Err(error) => return skip(&error),
    };
    let error = open_error(&at, &read_options());
    assert!(
        matches!(error.problem, Problem::System { errno: Errno::ROFS, .. }) && !error.is_usage(),
        "{error}"
    );
    assert!(error.to_string().contains("read-only"), "{error}");
}

#[test]
fn a_directory_without_permission_is_an_error() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("closed");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).unwrap();
    let as_unprivileged = std::thread::spawn(move || {
        if rustix::process::geteuid().is_root() {
            // Only this thread's identity changes.
            let unprivileged = rustix::thread::Uid::from_raw(65_534);
            rustix::thread::set_thread_res_uid(unprivileged, unprivileged, unprivileged).unwrap();
        }
        open_error(&directory, &read_options())
    });
    let error = as_unprivileged.join().unwrap();
    assert!(matches!(error.problem, Problem::System { errno: Errno::ACCESS, .. }), "{error}");
    assert!(error.to_string().contains("Permission denied"), "{error}");
}

#[test]
fn a_raw_device_in_use_is_not_written() {
    let parent = tempfile::tempdir().unwrap();
    let (device, _undo) = match loop_device(parent.path()) {
        Ok(device) => device,
        Err(error) => return skip(&error),
    };
    let destroy = OpenOptions { destroy_data: true, ..write_options() };
    let error = open_error(&device, &write_options());
    assert!(matches!(error.problem, Problem::DestroysData) && error.is_usage(), "{error}");

    let (at, unmount) = mount(parent.path(), &[device.to_str().unwrap()]).unwrap();
    let error = open_error(&device, &destroy);
    let mounted = format!("is mounted at {}", at.display());
    assert!(matches!(&error.problem, Problem::InUse { used } if used.contains(&mounted)), "{error}");
    let target = open(&device, &read_options()).unwrap();
    assert_eq!((target.kind(), target.area_bytes()), (TargetKind::BlockDevice, 32 * MIB));
    assert!(target.remarks().iter().any(|remark| remark.contains(&mounted)), "{:?}", target.remarks());
    assert!(!target.is_writable());
    drop((target, unmount));

    let target = open_when_free(&device, &destroy);
    assert!(target.is_writable());
    common::write_and_read(target.io(2).unwrap());
    let mounted_meanwhile = mount(parent.path(), &[device.to_str().unwrap()]);
    assert!(mounted_meanwhile.is_err(), "others can't use it while it is open");
}

/// Opens a device once it is free. A lazy unmount takes a moment, and a file only disappears when
/// no other test's newly forked child process holds it.
fn open_when_free(device: &Path, options: &OpenOptions) -> nandle_target::Target {
    for _ in 0..100 {
        match open(device, options) {
            Ok(target) => return target,
            Err(error) if is_passing(&error.problem) => {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            Err(error) => panic!("{error}"),
        }
    }
    panic!("{} stays busy", device.display());
}

fn is_passing(problem: &Problem) -> bool {
    matches!(problem, Problem::System { errno: Errno::BUSY, .. } | Problem::NoRoom { .. })
}

#[test]
fn a_loop_device_below_a_mapped_device_is_in_use() {
    let parent = tempfile::tempdir().unwrap();
    let (device, _undo) = match loop_device(parent.path()) {
        Ok(device) => device,
        Err(error) => return skip(&error),
    };
    let name = format!("nandle-test-{}", std::process::id());
    let table = format!("0 2048 linear {} 0", device.display());
    if let Err(error) = run("dmsetup", &["create", &name, "--table", &table]) {
        return skip(&error);
    }
    let _undo_mapping = Undo("dmsetup", vec!["remove".into(), name]);
    let error = open_error(&device, &OpenOptions { destroy_data: true, ..write_options() });
    assert!(matches!(&error.problem, Problem::InUse { used } if used.contains("is part of dm-")), "{error}");
}

/// Overlay with its upper layer in a directory.
fn overlay(parent: &Path, upper: &Path) -> Result<(PathBuf, Undo), String> {
    let lower = parent.join("lower");
    let layers = [&lower, &upper.join("files"), &upper.join("work")];
    layers.iter().try_for_each(fs::create_dir_all).map_err(|error| error.to_string())?;
    let [lower, files, work] = layers.map(|layer| layer.display());
    let options = format!("lowerdir={lower},upperdir={files},workdir={work}");
    mount(parent, &["-t", "overlay", "-o", &options, "overlay"])
}

#[test]
fn an_overlay_without_stated_alignment_has_a_remark() {
    let parent = tempfile::tempdir().unwrap();
    let in_memory = tempfile::tempdir_in("/dev/shm").unwrap();
    for (upper, doubted) in [(parent.path(), false), (in_memory.path(), true)] {
        let (at, undo) = match overlay(parent.path(), upper) {
            Ok(mounted) => mounted,
            Err(error) => return skip(&error),
        };
        let layer = open(upper, &read_options()).unwrap();
        let target = open(&at, &read_options()).unwrap();
        // A layer that states its alignment has a smaller one than the default for others.
        if doubted || layer.shapes().all(|shape| shape.logical_block_bytes < 4096) {
            let told = target.remarks().iter().any(|remark| remark.contains("overlay, and what"));
            assert_eq!(told, doubted, "{:?}", target.remarks());
        }
        drop((target, undo));
    }
}
