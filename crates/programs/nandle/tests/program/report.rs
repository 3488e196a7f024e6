use crate::common::{ONE_CELL, Place, SHORT};

#[test]
fn one_profile_and_several_make_a_report() {
    let place = Place::new();
    place.nandle(&format!("probe . {SHORT} --profile a.json")).done();
    place.nandle(&format!("probe . {SHORT} --profile b.json --seed 2")).done();
    let first = place.read("report.html").len();
    place.nandle("report a.json --output one.html").done().says(&["report: one.html"]);
    place.nandle("report a.json b.json --output both.html").done();
    assert!(place.read("both.html").len() > place.read("one.html").len());
    assert!(first > 10_000, "the page carries its data and its library");
    place.nandle("report a.json b.json --output one.html").done();
    assert_eq!(place.read("one.html"), place.read("both.html"), "an older report may be replaced");
}

#[test]
fn what_is_no_profile_is_named_with_what_to_do() {
    let place = Place::new();
    place.nandle("report none.json").refused(1, &["none.json", "No such file", "nandle probe"]);
    place.write("damaged.json", "{\"schema_version\": 0, \"made_by\":");
    place.nandle("report damaged.json").refused(1, &["damaged.json", "not a nandle profile", "nandle probe"]);
    place.write("empty.json", "");
    place.nandle("report empty.json").refused(1, &["empty.json", "not a nandle profile"]);
    place.write("binary.json", [0xff, 0xfe, 0, 1]);
    place.nandle("report binary.json").refused(1, &["binary.json", "not a nandle profile"]);
    place.write("newer.json", "{\"schema_version\": 99, \"made_by\": \"nandle 99.0.0\"}");
    place
        .nandle("report newer.json")
        .refused(1, &["newer.json", "version 99", "versions up to 1", "probe the device again"]);
    place.nandle(&format!("sweep . {ONE_CELL} --output sweep.json")).done();
    place.nandle("report sweep.json").refused(1, &["sweep.json", "not a nandle profile"]);
    place.nandle("report .").refused(1, &["reading the profile ."]);
    place.nandle("report").refused(2, &["<PROFILE>", "Usage"]);
    assert!(!place.names().contains(&"report.html".to_owned()));
}

#[test]
fn a_report_replaces_nothing_but_reports() {
    let place = Place::new();
    place.nandle(&format!("probe . {SHORT}")).done();
    let profile = place.read("profile.json");
    place.nandle("report profile.json --output profile.json").refused(2, &["profile.json", "left alone"]);
    assert_eq!(place.read("profile.json"), profile);
    place.write("mine.html", "<html>my own page</html>");
    place.nandle("report profile.json --output mine.html").refused(2, &["mine.html", "left alone"]);
    assert_eq!(place.read("mine.html"), b"<html>my own page</html>");
    place.nandle("report profile.json --output no/such/report.html").refused(2, &["no/such", "no directory"]);
}

#[test]
fn a_replay_makes_a_report_and_one_of_a_later_version_is_refused() {
    let place = Place::new();
    place.write("a.csv", "time_us,op,address,length\n1,write,0,4096\n2,write,8192,4096\n3,sync,0,16384\n");
    let replay = "replay a.csv --on model:mtron-16 --policies direct,stable-ring";
    let told = place.nandle(&format!("{replay} --json --report at-once.html")).done();
    place.write("replay.json", &told.stdout);
    place.nandle("report replay.json --output later.html").done().says(&["report: later.html"]);
    assert_eq!(place.read("later.html"), place.read("at-once.html"), "the file says all that the page says");
    place.write("newer.json", told.stdout.replace("\"schema_version\": 2", "\"schema_version\": 3"));
    place
        .nandle("report newer.json --output newer.html")
        .refused(1, &["newer.json", "replay schema version 3", "versions up to 2", "replay the trace again"]);
    place.nandle("report replay.json replay.json").refused(1, &["not a nandle profile"]);
}

#[test]
fn a_play_makes_a_report_and_one_of_a_later_version_is_refused() {
    let place = Place::new();
    place.write("a.csv", "time_us,op,address,length\n1,write,0,4096\n2,read,8192,4096\n3,sync,0,16384\n");
    let told = place.nandle("trace play a.csv --on model:mtron-16 --json --report at-once.html").done();
    place.write("play.json", &told.stdout);
    place.nandle("report play.json --output later.html").done().says(&["report: later.html"]);
    assert_eq!(place.read("later.html"), place.read("at-once.html"), "the file says all that the page says");
    place.write("newer.json", told.stdout.replace("\"schema_version\": 1", "\"schema_version\": 2"));
    place
        .nandle("report newer.json --output newer.html")
        .refused(1, &["newer.json", "play schema version 2", "versions up to 1", "play the trace again"]);
}
