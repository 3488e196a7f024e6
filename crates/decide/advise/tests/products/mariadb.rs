use std::fs;
use std::process::Command;

use nandle_advise::Product;
use nandle_advise::settings::Version;

use crate::programs::{find, run};
use crate::{fragments, with_shown};

const SKIP: &str = "NANDLE_SKIP_MARIADB";

/// The server reads each fragment as its only configuration and lists the resulting variables. It
/// refuses an unknown variable or an illegal value, and changes a value out of range.
#[test]
fn server_accepts_every_line() {
    let Some(mariadbd) = find("mariadbd", "mariadb-server", SKIP) else { return };
    let home = tempfile::tempdir().unwrap();
    let said = run(Command::new(&mariadbd).args(["--no-defaults", "--version"]));
    let version = said.split_whitespace().skip_while(|word| *word != "Ver").nth(1).unwrap();
    let version: Version = version.split('-').next().unwrap().parse().unwrap();
    for fragment in fragments(Product::Mariadb, version) {
        let fragment = with_shown(&fragment);
        let file = home.path().join("nandle.cnf");
        fs::write(&file, &fragment).unwrap();
        let option = format!("--defaults-file={}", file.display());
        let listed = run(Command::new(&mariadbd).args([&option, "--help", "--verbose", "--user=root"]));
        assert!(!listed.contains("[ERROR]") && !listed.contains("adjusted"), "{listed}");
        for line in fragment.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, value)) = line.split_once(" = ") else { continue };
            let shown = listed.lines().find_map(|line| {
                let (listed, shown) = line.split_once(char::is_whitespace)?;
                (listed == name.replace('_', "-")).then(|| shown.trim())
            });
            assert!(equal(value, shown.unwrap()), "{name} = {value} became {shown:?}");
        }
    }
}

fn equal(wrote: &str, shown: &str) -> bool {
    let bytes = wrote.strip_suffix('M').and_then(|megabytes| megabytes.parse::<u64>().ok());
    let switch = |text: &str| matches!(text, "ON" | "TRUE");
    bytes.map_or(wrote == shown, |megabytes| shown == (megabytes << 20).to_string())
        || (switch(wrote) && switch(shown))
}
