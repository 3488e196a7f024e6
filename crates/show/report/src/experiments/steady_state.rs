use nandle_profile::experiments::{Departure, DepartureKind, SteadyState};

use super::label;
use crate::device::Device;
use crate::figures::Figure;
use crate::plots::{Curve, Look, Plot, Point, View, XAxis, YAxis, per_device};
use crate::text::{self, Quantity};

/// Bandwidth of random writes over time. A single device has seconds and rounds, several devices
/// have rounds.
pub(super) fn plot(devices: &[Device]) -> Option<Figure> {
    let found: Vec<_> = devices.iter().map(findings).collect();
    let curves: Vec<_> = match (devices, found.as_slice()) {
        ([_], [Some(found)]) => of_one(found),
        _ => devices.iter().zip(&found).map(|(device, found)| compared(devices, device, *found)).collect(),
    };
    if curves.iter().all(Curve::is_empty) {
        return None;
    }
    let axes = (XAxis::Seconds("Time since random writes began, s"), YAxis::Bandwidth);
    let plot = Plot::joined("steady-rounds", "Random writes over time", axes, "", View::single(curves));
    Some(Figure::Plot(match (devices, found.as_slice()) {
        ([device], [Some(found)]) => Plot {
            finding: finding(device, found),
            note: note(found),
            marks: found.departures.iter().filter(|departure| of_random(departure)).map(at_s).collect(),
            ..plot
        },
        _ => {
            Plot { finding: finding_of_several(devices), note: "Rounds of random writes.".to_owned(), ..plot }
        }
    }))
}

fn findings<'a>(device: &Device<'a>) -> Option<&'a SteadyState> {
    device.profile.experiments.steady_state.as_ref().map(|conducted| &conducted.findings)
}

/// Curves of seconds and rounds. Rounds shorter than a second have no curve of seconds.
fn of_one(found: &SteadyState) -> Vec<Curve> {
    let both = [seconds(found), rounds("rounds".to_owned(), Look::Kind(1), found)];
    both.into_iter().filter(|curve| !curve.is_empty()).collect()
}

fn compared(devices: &[Device], device: &Device, found: Option<&SteadyState>) -> Curve {
    let (name, look) = (label(devices, device, "rounds"), Look::Kind(device.index));
    found.map_or_else(
        || Curve::joined(name.clone(), look, Vec::new()),
        |found| rounds(name.clone(), look, found),
    )
}

fn seconds(found: &SteadyState) -> Curve {
    let points = found.seconds.iter().enumerate();
    let points = points.map(|(second, sample)| Point::bare(second as f64 + 0.5, sample.bytes as f64));
    Curve::joined("each second", Look::Kind(0), points.collect())
}

fn rounds(label: String, look: Look, found: &SteadyState) -> Curve {
    let began_ns = found.rounds.first().map_or(0, |round| round.began_ns);
    let middle_s =
        |began: u64, elapsed: u64| (began.saturating_sub(began_ns) as f64 + elapsed as f64 / 2.0) / 1e9;
    let points = found
        .rounds
        .iter()
        .map(|round| Point::bare(middle_s(round.began_ns, round.elapsed_ns), round.bandwidth_bytes_per_s));
    Curve::joined(label, look, points.collect())
}

/// Returns true if the departure happened during random writing, not during the sequential fill.
fn of_random(departure: &Departure) -> bool {
    departure.kind != DepartureKind::FastRegionFull
}

fn at_s(departure: &Departure) -> f64 {
    departure.at_ns as f64 / 1e9
}

fn finding(device: &Device, found: &SteadyState) -> String {
    let rounds = text::plural(found.rounds.len() as u64, "round");
    let steady = found.steady_bytes_per_s.as_ref().map(text::bandwidth);
    let writing = device.profile.long_writing();
    let is_steady = writing.map_or(found.reached, |writing| writing.is_steady());
    let told = match (is_steady, steady) {
        (true, Some(steady)) => format!("Steady after {rounds}: {steady}"),
        (false, Some(steady)) if found.reached => {
            format!("Even over the last five of {rounds}: {steady}")
        }
        (_, Some(steady)) => {
            format!("Not steady after {rounds}: the last five gave {steady}{}", spread(found))
        }
        (_, None) => format!("Too few rounds to judge the steady state: {}", found.rounds.len()),
    };
    let fresh = found.steady_bytes_per_s.zip(found.first_bytes_per_s).filter(|(_, first)| *first > 0.0);
    let fresh = fresh.map_or_else(String::new, |(steady, first)| {
        format!(", {} % of the first second’s", text::significant(100.0 * steady.value / first, 2))
    });
    let amplification = found.write_amplification.as_ref().map_or_else(String::new, |amplification| {
        let factor = text::significant(amplification.factor, 3);
        format!(" For each byte of the host’s, {factor} are written to flash.")
    });
    let departures: Vec<_> = found.departures.iter().map(departure).collect();
    let writing_duration = writing
        .map_or_else(String::new, |writing| format!(" {}", text::writing_duration(&writing, device.profile)));
    format!("{told}{fresh}.{writing_duration}{amplification}{}", departures.concat())
}

fn spread(found: &SteadyState) -> String {
    let percent = |share: f64| text::significant(100.0 * share.abs(), 2);
    found.window_range.zip(found.window_slope).map_or_else(String::new, |(range, slope)| {
        format!(", a range of {} % and a slope of {} % (steady: 20 and 10)", percent(range), percent(slope))
    })
}

fn departure(departure: &Departure) -> String {
    let speeds = format!(
        "from {} to {} after {}",
        Quantity::bandwidth(departure.before_bytes_per_s),
        Quantity::bandwidth(departure.after_bytes_per_s),
        Quantity::size(departure.after_bytes)
    );
    match departure.kind {
        DepartureKind::FastRegionFull => {
            format!(
                " The sequential fill slowed down {speeds}: a faster region (SLC cache) was \
                full."
            )
        }
        DepartureKind::CleaningBegan => format!(
            " It slowed down {speeds}, when garbage \
            collection began."
        ),
        DepartureKind::Throttled => format!(
            " It changed {speeds} and swings since: it is \
            throttled."
        ),
        DepartureKind::BurstCreditsSpent => {
            format!(" It slowed down {speeds} and stays exactly there: burst credits are used up.")
        }
        DepartureKind::Unexplained => format!(" It changed {speeds}, for no visible reason."),
    }
}

fn note(found: &SteadyState) -> String {
    let marks = if found.departures.iter().any(of_random) {
        " Dashed vertical lines: lasting changes of the speed."
    } else {
        ""
    };
    format!(
        "{} writes at depth {} over {}, after a sequential fill of {}. Steady by SNIA’s \
        criterion: over five rounds a range of at most 20 % and a slope of at most 10 % of the \
        mean.{marks}",
        Quantity::size(found.block_bytes),
        found.queue_depth,
        Quantity::size(found.area_bytes),
        Quantity::size(found.sequential_fill_bytes),
    )
}

fn finding_of_several(devices: &[Device]) -> String {
    let steady = |device: &Device| findings(device)?.steady_bytes_per_s.map(|steady| steady.value);
    let speeds: Vec<_> = devices.iter().map(steady).collect();
    let speed = |value| Quantity::bandwidth(value).to_string();
    format!("Long random writing sustains {}.", per_device(devices, &speeds, "unknown", speed))
}
