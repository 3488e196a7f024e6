use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

use crate::common::{MIB, NANDLE, ONE_CELL, Outcome, Place, is_root, program_exists, skip};

/// Place with the program that an ordinary user may read and write.
fn place() -> Option<Place> {
    if is_root() && !program_exists("setpriv") {
        skip("there is no setpriv to become an ordinary user");
        return None;
    }
    let place = Place::for_everybody();
    fs::copy(NANDLE, place.path("nandle")).unwrap();
    fs::set_permissions(place.path(""), fs::Permissions::from_mode(0o777)).unwrap();
    Some(place)
}

/// Runs the program as an ordinary user.
fn nandle(place: &Place, arguments: &str) -> Outcome {
    let setpriv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let program = place.path("nandle").display().to_string();
    let words: Vec<String> = if is_root() { setpriv.map(str::to_owned).to_vec() } else { Vec::new() };
    place.command_of(&[words, vec![program]].concat(), arguments).output().unwrap().into()
}

fn forbid(place: &Place, name: &str, mode: u32) {
    fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn an_ordinary_user_measures() {
    let Some(place) = place() else { return };
    nandle(&place, "probe . --budget 1s --file-size 16MiB").done();
    nandle(&place, &format!("sweep . {ONE_CELL}")).done();
}

#[test]
fn what_may_not_be_read_is_named() {
    let Some(place) = place() else { return };
    place.write_noise("secret", 2 * MIB);
    forbid(&place, "secret", 0o000);
    nandle(&place, "probe secret").refused(1, &["secret: ", "Permission denied", "run as a user who may"]);
    fs::create_dir(place.path("closed")).unwrap();
    forbid(&place, "closed", 0o555);
    nandle(&place, "sweep closed").refused(1, &["closed: ", "Permission denied", "name another one"]);
    nandle(&place, "report secret").refused(1, &["secret", "Permission denied"]);
}

#[test]
fn results_that_may_not_be_written_are_refused_before_the_measuring() {
    let Some(place) = place() else { return };
    fs::create_dir(place.path("closed")).unwrap();
    place.write("closed/mine.json", "");
    forbid(&place, "closed", 0o555);
    let began = Instant::now();
    for option in ["--profile closed/p.json", "--report closed/r.html", "--profile closed/mine.json"] {
        let outcome = nandle(&place, &format!("probe . --budget 20s --file-size 1MiB {option}"));
        outcome.refused(1, &["closed/", "Permission denied"]);
    }
    nandle(&place, "sweep . --output closed/cells.csv")
        .refused(1, &["closed/cells.csv", "Permission denied"]);
    place.write("secret.json", "{}");
    forbid(&place, "secret.json", 0o000);
    nandle(&place, "probe . --budget 20s --profile secret.json")
        .refused(1, &["secret.json", "Permission denied"]);
    assert!(began.elapsed().as_secs() < 5);
    assert_eq!(place.names(), ["closed", "nandle", "secret.json"]);
}
