//! Findings with few figures, as sentences instead of plots.

use nandle_profile::Experiments;

use crate::text::{self, Quantity};

/// Largest write that is never torn, and the source of the claim.
pub(super) fn atomic_writes(found: &Experiments) -> Vec<String> {
    let Some(conducted) = &found.atomic_write else { return Vec::new() };
    let source = text::clean(&conducted.findings.source);
    let stated = conducted.findings.stated.as_ref().map(|units| {
        format!(
            "Writes of {} to {} are reported to be atomic. {source}",
            Quantity::size(units.unit_bytes_min),
            Quantity::size(units.unit_bytes_max)
        )
    });
    vec![text::sentence(&stated.unwrap_or(source))]
}

/// Bandwidth of large sequential writes.
pub(super) fn large_writes(found: &Experiments) -> Vec<String> {
    let Some(conducted) = &found.large_writes else { return Vec::new() };
    let cells = conducted.findings.cells.iter();
    let told: Vec<_> = cells
        .map(|cell| {
            let (block, rate) =
                (Quantity::size(cell.block_bytes), text::bandwidth(&cell.bandwidth_bytes_per_s));
            format!("{rate} in {block} at depth {}", cell.queue_depth)
        })
        .collect();
    if told.is_empty() { Vec::new() } else { vec![format!("Sequential writes reach {}.", text::join(&told))] }
}

/// Cost of a discard and its effect on reads.
pub(super) fn discards(found: &Experiments) -> Vec<String> {
    let Some(costs) = found.discard.as_ref().map(|conducted| &conducted.findings) else { return Vec::new() };
    let medians = costs.discards.iter().filter_map(|cost| Some((cost.discard_bytes, cost.latency_ns.p50?)));
    let times: Vec<_> =
        medians.map(|(bytes, ns)| format!("{} for {}", text::time_ns(ns), Quantity::size(bytes))).collect();
    let text = (!times.is_empty()).then(|| format!("A discard takes {} (median).", text::join(&times)));
    let (alone, beside) = (&costs.read_latency_alone_ns, &costs.read_latency_beside_ns);
    let tails = alone.p99.zip(beside.p99).map(|(alone, beside)| {
        let (alone, beside) = (text::time_ns(alone), text::time_ns(beside));
        format!(
            "The 99th percentile of random reads is {alone} alone and {beside} during \
            discards."
        )
    });
    text.into_iter().chain(tails).collect()
}

/// Chunk size and members of an array behind the device.
pub(super) fn array_layout(found: &Experiments) -> Vec<String> {
    let Some(layout) = found.array_layout.as_ref().map(|conducted| &conducted.findings) else {
        return Vec::new();
    };
    let told = match (layout.chunk_bytes, layout.members) {
        (Some(chunk), Some(members)) => format!(
            "Addresses are striped in chunks of {} over {members} members, according to the \
            latencies of {} reads.",
            Quantity::size(chunk),
            text::grouped(&layout.observations.to_string())
        ),
        _ => format!(
            "No sign of an array in the latencies of {} reads.",
            text::grouped(&layout.observations.to_string())
        ),
    };
    vec![told]
}
