use nandle_io::Nanos;
use nandle_profile::{Contradiction, Derived, ROTATIONAL_LATENCY_NS_MIN, SystemFacts};
use nandle_units::{format_bytes, format_duration};

/// Contradictions between the measurement and the system's facts about the device.
pub fn contradictions(system: &SystemFacts, derived: &Derived) -> Vec<Contradiction> {
    [rotational(system, derived), requests(system, derived), optimal_io(system, derived)]
        .into_iter()
        .flatten()
        .collect()
}

fn rotational(system: &SystemFacts, derived: &Derived) -> Option<Contradiction> {
    let stated = system.queue.as_ref()?.rotational?;
    let latency_ns = derived.random_read_latency_ns?;
    let behaves = latency_ns >= ROTATIONAL_LATENCY_NS_MIN;
    if stated == behaves {
        return None;
    }
    let latency = format_duration(Nanos(latency_ns / 1000 * 1000));
    Some(if stated {
        Contradiction {
            stated: "rotational (queue/rotational is 1)".into(),
            measured: format!("half of the random reads at depth 1 take {latency} or less, too fast for a rotating disk"),
            advice: "treat it as flash; virtual disks often report themselves as rotational, which selects the kernel's \
                     and some databases' defaults for disks"
                .into(),
        }
    } else {
        Contradiction {
            stated: "not rotational (queue/rotational is 0)".into(),
            measured: format!("a random read at depth 1 takes {latency}, as on a disk or a distant volume"),
            advice: "don't rely on cheap random reads".into(),
        }
    })
}

/// Kernel queue shorter than the saturating depth.
fn requests(system: &SystemFacts, derived: &Derived) -> Option<Contradiction> {
    let stated = system.queue.as_ref()?.requests_max?;
    let needed = derived.saturating_queue_depth.iter().map(|knee| knee.queue_depth.low).max()?;
    (u64::from(needed) > stated).then(|| Contradiction {
        stated: format!("the kernel queues {stated} requests (queue/nr_requests)"),
        measured: format!("bandwidth grows up to {needed} outstanding requests"),
        advice: format!("raise queue/nr_requests to {needed} or more"),
    })
}

/// Preferred I/O size far from the efficient block size.
fn optimal_io(system: &SystemFacts, derived: &Derived) -> Option<Contradiction> {
    let stated = system.queue.as_ref()?.optimal_io_bytes.filter(|bytes| *bytes > 0)?;
    let efficient = derived.efficient_block_bytes?;
    (efficient.low > stated || efficient.high.saturating_mul(4) < stated).then(|| Contradiction {
        stated: format!("the preferred request is {} (queue/optimal_io_size)", format_bytes(stated)),
        measured: format!("random reads are near full bandwidth from {} on", format_bytes(efficient.value)),
        advice: "choose read sizes by the measurement".into(),
    })
}
