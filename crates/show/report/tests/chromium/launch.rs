use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::page::Page;
use super::protocol::Connection;

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

const FLAGS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
];

/// Returns true, with a message, if the user disabled the browser tests.
pub(crate) fn skipped(test: &str) -> bool {
    let skip = std::env::var_os("NANDLE_SKIP_BROWSER").is_some_and(|value| value == "1");
    if skip {
        eprintln!("{test}: SKIPPED, because NANDLE_SKIP_BROWSER=1 is set");
    }
    skip
}

/// Browser with its own user directory; terminated when dropped.
pub(crate) struct Chromium {
    process: Child,
    folder: TempDir,
    endpoint: String,
}

impl Chromium {
    /// # Panics
    /// Panics if there is no browser or it doesn't start.
    pub(crate) fn start() -> Self {
        let browser = find().unwrap_or_else(|| {
            panic!(
                "no browser found: the report's test needs one of {NAMES:?} in PATH, or its path in NANDLE_BROWSER. \
                 On Debian: apt-get install chromium. To go without: NANDLE_SKIP_BROWSER=1."
            )
        });
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(&browser);
        command.args(FLAGS).arg(format!("--user-data-dir={}", folder.path().display())).arg("about:blank");
        let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = started.unwrap_or_else(|error| panic!("starting {}: {error}", browser.display()));
        let mut chromium = Self { process, folder, endpoint: String::new() };
        chromium.endpoint = chromium.wait_for_endpoint();
        chromium
    }

    /// Opens a page that saves downloads in the given directory.
    pub(crate) fn page(&self, downloads: &Path) -> Page {
        Page::open(Connection::open(&self.endpoint), downloads)
    }

    /// Waits for the file in which the browser stores port and path of its protocol.
    fn wait_for_endpoint(&mut self) -> String {
        let file = self.folder.path().join("DevToolsActivePort");
        let until = Instant::now() + Duration::from_mins(1);
        while Instant::now() < until {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some((port, path)) = text.split_once('\n') {
                return format!("ws://127.0.0.1:{port}{}", path.trim());
            }
            if let Some(status) = self.process.try_wait().unwrap() {
                panic!("the browser ended before it listened: {status}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the browser did not listen within a minute");
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("NANDLE_BROWSER") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let candidates = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates.into_iter().find(|candidate| candidate.is_file())
}
