//! Locates the kernel's trace events.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use nandle_terminal::words::quoted_os;

use crate::error::CliError;

/// Mount points of tracefs; the second is that of older systems.
pub(super) const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// First mount point that this process may read.
pub(super) fn find<P: AsRef<Path>>(places: &[P]) -> Result<PathBuf, CliError> {
    let mut denied = None;
    for place in places.iter().map(AsRef::as_ref) {
        match place.join("instances").metadata() {
            Ok(_) => return Ok(place.into()),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                denied = denied.or(Some(place));
            }
            Err(_) => {}
        }
    }
    let first = places.first().map_or_else(String::new, |place| place.as_ref().display().to_string());
    Err(CliError::failed(match denied {
        Some(place) => {
            format!("{}: reading the kernel's trace events takes root: {}", place.display(), with_sudo())
        }
        None => format!(
            "{first}: no tracefs is mounted there; as root: `mount -t tracefs nodev {first}`; in a container, run nandle on its host"
        ),
    }))
}

/// This command line under sudo, with the absolute path of the program.
fn with_sudo() -> String {
    let program = std::env::current_exe().map_or_else(|_| "nandle".into(), PathBuf::into_os_string);
    let words = [program].into_iter().chain(std::env::args_os().skip(1));
    let words: Vec<String> = words.map(|word| quoted_os(&word)).collect();
    format!("sudo {}", words.join(" "))
}

/// Error with a remedy if something in tracefs can't be created or written.
pub(super) fn refused(action: &str, path: &Path, error: &std::io::Error) -> CliError {
    let advice = match error.kind() {
        ErrorKind::PermissionDenied => {
            "; it takes root, and a kernel that is not locked down (`cat /sys/kernel/security/lockdown`)"
        }
        ErrorKind::ReadOnlyFilesystem => "; in a container, run nandle on its host",
        ErrorKind::NotFound => {
            "; this kernel has no such trace event or file: it takes Linux 4.18 with CONFIG_BLK_DEV_IO_TRACE"
        }
        ErrorKind::OutOfMemory => "; name a smaller --buffer",
        _ => "",
    };
    CliError::failed(format!("{action} {}: {error}{advice}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_is_said_where_it_is_not_mounted() {
        let directory = tempfile::tempdir().unwrap();
        let places = ["tracing", "debug"].map(|name| directory.path().join(name));
        let said = find(&places).unwrap_err().to_string();
        let first = places[0].display();
        assert!(said.contains(&format!("mount -t tracefs nodev {first}")), "{said}");
        std::fs::create_dir_all(places[1].join("instances")).unwrap();
        assert_eq!(find(&places).unwrap(), places[1]);
    }
}
