use nandle_workloads::{
    AreaFigures, ClusterCell, ClusterRow, Finding, Operator, Outcome, PLACE_SCHEMA_VERSION, Pattern,
    PatternPoint, Phase, PlaceFile, Placement, PlacementRow, Role, SortFigures, WORKLOAD_SCHEMA_VERSION,
    WorkloadFile, WorkloadRun,
};

/// Synthetic sort that writes in sequence and reads at random.
fn outcome(slowness: u64) -> Outcome {
    let [first_ns, second_ns] = [3_000_000_000 * slowness, 9_000_000_000 * slowness];
    let point =
        |at_ns: u64, place: u64| PatternPoint { at_ns, offset_bytes: place << 18, length_bytes: 1 << 18 };
    let writes = (0..800).map(|number| point(first_ns * number / 800, number)).collect();
    let reads =
        (0..1500).map(|number| point(first_ns + second_ns * number / 1500, number * 7919 % 800)).collect();
    let area = |role, read_requests: u64, write_requests: u64| AreaFigures {
        role,
        read_requests,
        read_bytes: read_requests << 18,
        sequential_reads_share: Some(0.02),
        write_requests,
        written_bytes: write_requests << 18,
        sequential_writes_share: Some(0.99),
    };
    Outcome {
        memory_bytes: 2 << 20,
        cluster_bytes: 4096,
        phases: [
            Phase { name: "making runs", elapsed_ns: first_ns },
            Phase { name: "merging", elapsed_ns: second_ns },
        ],
        elapsed_ns: first_ns + second_ns,
        result_records: 2_000_000,
        memory_used_bytes: 1_900_000,
        sort: Some(SortFigures {
            runs: 340,
            fan_in: 130,
            merges_before_the_last: 3,
            last_fan_in: 120,
            predicted_merge_ns: None,
        }),
        join: None,
        areas: vec![
            area(Role::Input, 200, 0),
            area(Role::Temporary, 51_000, 800),
            area(Role::Output, 0, 200),
        ],
        pattern: Some(Pattern { read_requests: 51_000, reads, write_requests: 800, writes }),
    }
}

/// Synthetic file, as `nandle workload` writes it.
pub(crate) fn workload_file() -> WorkloadFile {
    WorkloadFile {
        schema_version: WORKLOAD_SCHEMA_VERSION,
        operator: Operator::Sort,
        records: 2_000_000,
        row_bytes: 100,
        key_bytes: 10,
        seed: 1,
        is_modelled: true,
        input: "model:<b>drive</b>".into(),
        temporary: "model:<b>drive</b>".into(),
        output: "model:<b>drive</b>".into(),
        costs: "Clusters follow from made-up costs.".into(),
        remarks: vec!["A remark.".into()],
        runs: vec![WorkloadRun {
            wanted_cluster_bytes: None,
            memory_bytes: 2 << 20,
            outcome: Some(outcome(1)),
            refusal: None,
        }],
    }
}

/// Synthetic placement on two drives, as `nandle place` writes it.
pub(crate) fn place_file() -> PlaceFile {
    let row = |(placement, slowness): (Placement, u64)| PlacementRow {
        placement,
        outcome: outcome(slowness),
        elapsed_ratio: slowness as f64 / 9.0,
    };
    let cell = |cluster_bytes: u64, second_phase_ns: u64| ClusterCell {
        cluster_bytes,
        fan_in: (1 << 20) / cluster_bytes,
        rewrites: cluster_bytes >> 14,
        first_phase_ns: 2_000_000_000,
        second_phase_ns,
    };
    let clusters = (1..8).map(|power| {
        let bytes = 1024_u64 << power;
        ClusterRow {
            wanted_cluster_bytes: Some(bytes),
            from: Some(cell(bytes, 200_000_000_000 >> power)),
            to: Some(cell(bytes, 9_000_000_000 + (power << 30))),
            refusals: Vec::new(),
        }
    });
    PlaceFile {
        schema_version: PLACE_SCHEMA_VERSION,
        operator: Operator::Sort,
        records: 2_000_000,
        row_bytes: 100,
        key_bytes: 10,
        memory_bytes: 2 << 20,
        seed: 1,
        is_modelled: true,
        from: "model:made-up-disk".into(),
        to: "model:made-up-flash".into(),
        costs: vec!["Clusters follow from made-up costs.".into()],
        remarks: vec!["A remark.".into()],
        placements: Placement::ALL.into_iter().zip([9, 8, 4, 8, 2]).map(row).collect(),
        clusters: clusters.collect(),
        findings: vec![Finding { claim: "C51", study: "it is faster", here: "it is faster".into() }],
    }
}
