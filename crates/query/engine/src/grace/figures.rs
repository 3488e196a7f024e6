//! Metrics of a partition of a join: those of the engine's joins in total, and of partitioning.

use std::sync::Arc;

use datafusion::physical_plan::metrics::{
    BaselineMetrics, Count, ExecutionPlanMetricsSet, Metric, MetricBuilder, MetricCategory, MetricValue,
    MetricsSet, SpillMetrics, Time,
};

pub(super) struct Figures {
    partition: usize,
    all: ExecutionPlanMetricsSet,
    pub(super) rows: BaselineMetrics,
    pub(super) spill: SpillMetrics,
    /// Time to copy, partition and write rows.
    pub(super) dividing: Time,
    /// Time to decode rows that were read back.
    pub(super) restoring: Time,
    /// Number of partitioning passes over both sides.
    pub(super) divisions: Count,
    /// Number of the engine's joins.
    joins: Count,
}

impl Figures {
    pub(super) fn new(all: &ExecutionPlanMetricsSet, partition: usize, rows: BaselineMetrics) -> Self {
        let time = |name: &'static str| MetricBuilder::new(all).subset_time(name, partition);
        let count = |name: &'static str| {
            MetricBuilder::new(all).with_category(MetricCategory::Rows).counter(name, partition)
        };
        Self {
            partition,
            all: all.clone(),
            rows,
            spill: SpillMetrics::new(all, partition),
            dividing: time("dividing_time"),
            restoring: time("restoring_time"),
            divisions: count("divisions"),
            joins: count("joins"),
        }
    }

    /// Adds the metrics of a finished join of the engine. Output rows are counted where they are
    /// sent.
    pub(super) fn add(&self, of_join: &MetricsSet) {
        self.joins.add(1);
        let known = self.all.clone_inner();
        for metric in of_join.iter() {
            let value = metric.value();
            let is_same = |known: &&Arc<Metric>| {
                known.partition() == Some(self.partition) && known.value().name() == value.name()
            };
            match (value, known.iter().find(is_same)) {
                (MetricValue::ElapsedCompute(time), _) => self.rows.elapsed_compute().add(time),
                (_, Some(known)) => add_to(known.value(), value),
                (_, None) => self.register(metric),
            }
        }
    }

    fn register(&self, metric: &Metric) {
        let own = Metric::new(metric.value().clone(), Some(self.partition)).with_type(metric.metric_type());
        self.all.register(Arc::new(match metric.metric_category() {
            Some(category) => own.with_category(category),
            None => own,
        }));
    }
}

/// Partitioning and decoding count as time of the operator, like building and probing.
impl Drop for Figures {
    fn drop(&mut self) {
        self.rows.elapsed_compute().add(&self.dividing);
        self.rows.elapsed_compute().add(&self.restoring);
    }
}

/// Adds a metric. The joins of a partition run one after the other, so the largest memory counts.
fn add_to(known: &MetricValue, value: &MetricValue) {
    match (known, value) {
        (MetricValue::Count { count, .. }, MetricValue::Count { count: more, .. }) => count.add(more.value()),
        (MetricValue::Time { time, .. }, MetricValue::Time { time: more, .. }) => time.add(more),
        (MetricValue::PeakMemoryUsage { gauge, .. }, MetricValue::PeakMemoryUsage { gauge: other, .. }) => {
            gauge.set_max(other.value());
        }
        (MetricValue::Ratio { ratio_metrics, .. }, MetricValue::Ratio { ratio_metrics: more, .. }) => {
            ratio_metrics.merge(more);
        }
        // The operator records its own output metrics.
        _ => {}
    }
}
