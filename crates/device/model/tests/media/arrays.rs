//! Devices that lose power together.

use std::collections::BTreeSet;

use nandle_model::media::{CrashImages, PowerCut, Sequence};

use crate::common::{Held, Rig, held};

fn pair() -> [Rig; 2] {
    let sequence = Sequence::default();
    [(); 2].map(|()| {
        let mut rig = Rig::of_blocks(4);
        rig.media = rig.media.recorded_in(&sequence);
        rig
    })
}

/// Legs of a mirror after each cut, as (cut, first, second).
fn legs(pair: &[Rig; 2], choices: u32) -> BTreeSet<(u64, Held, Held)> {
    let recordings = pair.each_ref().map(|rig| rig.media.recording().unwrap());
    CrashImages::new(&recordings, PowerCut { choices, ..PowerCut::seeded(1) })
        .map(|image| (image.cut, held(&image.contents[0], 0), held(&image.contents[1], 0)))
        .collect()
}

#[test]
fn each_device_has_survivors_of_its_own() {
    let mut pair = pair();
    for leg in &mut pair {
        leg.put(0, 1).unwrap();
    }
    let now = pair[0].media.position();
    let found = legs(&pair, 4);
    let now_found: BTreeSet<_> =
        found.iter().filter(|(cut, ..)| *cut == now).map(|(_, a, b)| (a.clone(), b.clone())).collect();
    assert_eq!(now_found.len(), 4, "old and new in all combinations: {now_found:?}");
}

/// Also if there are too many ways to survive to enumerate them.
#[test]
fn what_is_drawn_for_one_device_is_not_for_another() {
    let mut pair = pair();
    for leg in &mut pair {
        for number in 1..10 {
            leg.put(number % 4, number).unwrap();
        }
    }
    let end = pair[0].media.position();
    let recordings = pair.each_ref().map(|rig| rig.media.recording().unwrap());
    let power = PowerCut { choices: 100, ..PowerCut::seeded(1) };
    let drawn = CrashImages::new(&recordings, power).within(end..end + 1).skip(4);
    let differ = drawn.filter(|image| image.contents[0].hash() != image.contents[1].hash()).count();
    assert!(differ > 60, "{differ} of 96");
}

#[test]
fn what_one_device_acknowledged_is_there_when_another_has_heard_of_it() {
    let mut pair = pair();
    let [first, second] = &mut pair;
    first.put(0, 1).unwrap();
    first.flush().unwrap();
    let flushed = first.media.position();
    second.put(0, 1).unwrap();
    for (cut, first, second) in legs(&pair, 50) {
        assert!(cut < flushed || first == Held::Number(1));
        assert!(
            second == Held::Number(0) || first == Held::Number(1),
            "the second began after the first's flush"
        );
    }
}
