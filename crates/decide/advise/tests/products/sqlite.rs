use nandle_advise::Product;
use nandle_advise::settings::Version;
use rusqlite::Connection;

use crate::made_up::{DISK, NVME};
use crate::{advice, fragments};

/// The library runs each fragment, and each pragma then reports its value.
#[test]
fn library_accepts_every_pragma() {
    for fragment in fragments(Product::Sqlite, Version::new(3, 40)) {
        let home = tempfile::tempdir().unwrap();
        let connection = Connection::open(home.path().join("test.db")).unwrap();
        connection.execute_batch(&fragment).unwrap();
    }
    for drive in [DISK, NVME] {
        let home = tempfile::tempdir().unwrap();
        let connection = Connection::open(home.path().join("test.db")).unwrap();
        let advice = advice(&drive.profile(), Product::Sqlite, Version::new(3, 40));
        let shown = nandle_advise::fragment(&advice).replace("\n-- PRAGMA", "\nPRAGMA");
        connection.execute_batch(&shown).unwrap();
        for setting in advice.settings() {
            let value = connection
                .pragma_query_value(None, &setting.name, |row| row.get::<_, rusqlite::types::Value>(0));
            let text = match value.unwrap() {
                rusqlite::types::Value::Integer(number) => number.to_string(),
                rusqlite::types::Value::Text(text) => text.to_uppercase(),
                other => panic!("{other:?}"),
            };
            // The library reports the levels of `synchronous` as numbers.
            let wanted = if setting.name == "synchronous" { "2" } else { &setting.value };
            assert_eq!(text, wanted, "{}", setting.name);
        }
    }
}
