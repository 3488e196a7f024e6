use nandle_profile::experiments::{FlushCosts, GroupCommitCost};

use crate::device::Device;
use crate::figures::Figure;
use crate::plots::{Curve, Look, Plot, Point, View, XAxis, YAxis, per_device};
use crate::text;

/// Commits per second by number of writers.
pub(super) fn plot(devices: &[Device]) -> Option<Figure> {
    let curves = match devices {
        [device] => {
            let found = findings(device)?;
            vec![
                curve("shared flush".to_owned(), Look::Kind(0), &found.group_commit),
                curve("separate durable writes".to_owned(), Look::Kind(1), &found.each_durable),
            ]
        }
        _ => devices.iter().map(shared).collect(),
    };
    if curves.iter().all(Curve::is_empty) {
        return None;
    }
    let axes = (XAxis::Count("Concurrent writers"), YAxis::Rate("Commits of all writers"));
    let plot = Plot::joined("group-commit", "Group commit", axes, "", View::single(curves));
    let finding = match devices {
        [device] => finding(device),
        _ => finding_of_several(devices),
    };
    let note = "Writers whose writes share a flush also share its cost; each waits for all. On \
        the device itself and not in a file."
        .to_owned();
    Some(Figure::Plot(Plot { finding, note, ..plot }))
}

fn findings<'a>(device: &Device<'a>) -> Option<&'a FlushCosts> {
    device.profile.experiments.flush.as_ref().map(|conducted| &conducted.findings)
}

fn shared(device: &Device) -> Curve {
    let costs = findings(device).map_or(&[][..], |found| &found.group_commit);
    curve(device.label(), Look::Kind(device.index), costs)
}

fn curve(label: String, look: Look, costs: &[GroupCommitCost]) -> Curve {
    let point = |cost: &GroupCommitCost| Point::new(f64::from(cost.writers), &cost.commits_per_s);
    Curve::joined(label, look, costs.iter().map(point).collect())
}

fn finding(device: &Device) -> String {
    let Some(gain) = device.profile.derived.group_commit else {
        return "The gain of more writers was not determined.".to_owned();
    };
    format!(
        "One writer commits {} times a second; {} that share a flush {} times, and more gain less \
        than 10 %.",
        text::iops(&gain.alone_per_s),
        text::depth(&gain.writers),
        text::iops(&gain.together_per_s)
    )
}

fn finding_of_several(devices: &[Device]) -> String {
    let together =
        |device: &Device| device.profile.derived.group_commit.map(|gain| gain.together_per_s.value);
    let rates: Vec<_> = devices.iter().map(together).collect();
    let words = per_device(devices, &rates, "unknown", |rate| text::significant(rate, 3));
    format!("Commits per second with the number of writers that helps: {words}.")
}
