use std::collections::BTreeMap;

use maud::{Markup, html};
use nandle_profile::{is_near_full, isotonic};

use super::Level;
use super::fold::{anchor_of, fold};
use crate::device::Device;
use crate::text::Quantity;

/// Field of the map. Its bandwidth doesn't fall with the depth: an apparent loss is noise and is
/// averaged over neighbours, as for the derived depths and blocks.
struct Field {
    bandwidth_bytes_per_s: f64,
    measured: bool,
}

type Fields = BTreeMap<(u64, u32), Field>;

/// Map of random reads by block size and depth: each field shows its share of the best bandwidth,
/// and near-full fields are marked. Empty for fewer than two block sizes or depths.
pub(crate) fn map(device: &Device, level: Level) -> Markup {
    let fields = fields(device);
    let blocks = crate::plots::distinct(fields.keys().map(|(block, _)| *block));
    let depths = crate::plots::distinct(fields.keys().map(|(_, depth)| *depth));
    let best = fields.values().map(|field| field.bandwidth_bytes_per_s).fold(0.0, f64::max);
    if blocks.len() < 2 || depths.len() < 2 || best <= 0.0 {
        return html! {};
    }
    let body = html! {
        div class="map-section" {
            p.finding { (crate::text::bind(&finding(&fields, best))) }
            div.scroll tabindex="0" role="region" aria-label="Bandwidth by block size and queue depth" {
                table.map {
                    caption { span {
                        "Random reads, per cent of " (Quantity::bandwidth(best))
                        ". Framed: near full, within 10 % of it. In italics: from the fitted curve."
                    } }
                    thead { tr {
                        th scope="col" { "Block ↓ depth →" }
                        @for depth in &depths { th scope="col" { (depth) } }
                    } }
                    tbody {
                        @for block in &blocks {
                            tr {
                                th scope="row" { (Quantity::size(*block)) }
                                @for depth in &depths { (field(fields.get(&(*block, *depth)), best)) }
                            }
                        }
                    }
                }
            }
        }
    };
    fold(&anchor_of("grid", device, level), "The whole grid", level, &body)
}

fn fields(device: &Device) -> Fields {
    let fitted = device.profile.fitted_cells.iter().map(|fitted| {
        let bandwidth = fitted.bandwidth_bytes_per_s.value;
        (
            (fitted.block_bytes, fitted.queue_depth),
            Field { bandwidth_bytes_per_s: bandwidth, measured: false },
        )
    });
    let measured = device.random_reads().map(|measured| {
        let bandwidth = measured.steady_bandwidth_bytes_per_s.value;
        let key = (measured.cell.block_bytes, measured.cell.queue_depth);
        (key, Field { bandwidth_bytes_per_s: bandwidth, measured: true })
    });
    pooled(fitted.chain(measured).filter(|(_, field)| field.bandwidth_bytes_per_s.is_finite()).collect())
}

/// Makes bandwidths non-decreasing in the depth.
fn pooled(mut fields: Fields) -> Fields {
    for block in crate::plots::distinct(fields.keys().map(|(block, _)| *block)) {
        let row = || (block, 0)..=(block, u32::MAX);
        let measured: Vec<f64> = fields.range(row()).map(|(_, field)| field.bandwidth_bytes_per_s).collect();
        for ((_, field), bandwidth) in fields.range_mut(row()).zip(isotonic(&measured)) {
            field.bandwidth_bytes_per_s = bandwidth;
        }
    }
    fields
}

fn field(field: Option<&Field>, best: f64) -> Markup {
    let Some(field) = field else {
        return html! { td.none { "–" } };
    };
    let share = (100.0 * field.bandwidth_bytes_per_s / best).clamp(0.0, 100.0);
    let number = format!("{share:.0}");
    html! {
        td.near[is_near_full(field.bandwidth_bytes_per_s, best)] style=(format!("--share: {share:.0}%")) title=(Quantity::bandwidth(field.bandwidth_bytes_per_s)) {
            @if field.measured { (number) } @else { em { (number) } }
        }
    }
}

fn finding(fields: &Fields, best: f64) -> String {
    let near = fields.iter().filter(|(_, field)| is_near_full(field.bandwidth_bytes_per_s, best));
    let near: Vec<_> = near.map(|(key, _)| *key).collect();
    let smallest = near.iter().min();
    let shallowest = near.iter().min_by_key(|(block, depth)| (*depth, *block));
    let say = |(block, depth): &(u64, u32)| format!("{} at depth {depth}", Quantity::size(*block));
    match (smallest, shallowest) {
        (Some(smallest), Some(shallowest)) if smallest != shallowest => format!(
            "{} of {} combinations are near full bandwidth; the smallest block is {}, the least \
            queue depth {}.",
            near.len(),
            fields.len(),
            say(smallest),
            say(shallowest)
        ),
        (Some(only), _) => {
            format!(
                "{} of {} combinations are near full bandwidth, beginning with {}.",
                near.len(),
                fields.len(),
                say(only)
            )
        }
        _ => "No combination is near full bandwidth.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apparent_loss_at_depth_is_averaged() {
        let field = |bandwidth| Field { bandwidth_bytes_per_s: bandwidth, measured: true };
        let fields = pooled(
            [((4096, 1), 50.0), ((4096, 2), 100.0), ((4096, 4), 80.0)]
                .map(|(key, of)| (key, field(of)))
                .into(),
        );
        let bandwidths: Vec<f64> = fields.values().map(|field| field.bandwidth_bytes_per_s).collect();
        assert_eq!(bandwidths, [50.0, 90.0, 90.0]);
    }

    #[test]
    fn finding_names_the_smallest_block_and_the_least_depth() {
        let field = |bandwidth| Field { bandwidth_bytes_per_s: bandwidth, measured: true };
        let fields: Fields = [((4096, 1), 10.0), ((4096, 64), 95.0), ((65536, 1), 50.0), ((65536, 8), 100.0)]
            .map(|(key, bandwidth)| (key, field(bandwidth)))
            .into();
        assert_eq!(
            finding(&fields, 100.0),
            "2 of 4 combinations are near full bandwidth; the smallest block is 4KiB at depth 64, the least queue depth \
             64KiB at depth 8."
        );
    }
}
