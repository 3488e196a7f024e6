use std::fs;
use std::process::Command;

use nandle_advise::Product;
use nandle_advise::settings::Version;

use crate::fragments;
use crate::programs::{find, run};

const SKIP: &str = "NANDLE_SKIP_ROCKSDB";

/// `db_bench` loads each fragment and runs with it; the database then stores these options.
#[test]
fn library_accepts_every_line() {
    let Some(db_bench) = find("db_bench", "rocksdb-tools", SKIP) else { return };
    let version = Version::new(7, 8);
    for fragment in fragments(Product::Rocksdb, version) {
        let home = tempfile::tempdir().unwrap();
        let (file, database) = (home.path().join("nandle.ini"), home.path().join("db"));
        fs::write(&file, &fragment).unwrap();
        let options = [format!("--options_file={}", file.display()), format!("--db={}", database.display())];
        run(Command::new(&db_bench).args(options).args(["--benchmarks=fillseq", "--num=100"]));
        let kept = fs::read_dir(&database).unwrap().flatten();
        let kept = kept.filter(|entry| entry.file_name().to_string_lossy().starts_with("OPTIONS-"));
        let kept = fs::read_to_string(kept.last().unwrap().path()).unwrap();
        let set = fragment.lines().filter(|line| line.starts_with("  ") && !line.contains("version"));
        for line in set.filter(|line| !line.contains("create_if_missing")) {
            assert!(kept.lines().any(|kept| kept.trim() == line.trim()), "{line} is missing in {kept}");
        }
    }
}
