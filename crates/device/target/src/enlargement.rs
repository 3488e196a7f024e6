//! Enlargement of modelled flash drives for workloads that need more space.

use nandle_model::library::Parameters;

use crate::Target;
use crate::spec::{ArraySpec, ModelSpec, StateSpec, TargetSpec};

impl Target {
    /// Returns this target with modelled flash drives large enough to address `bytes`, each
    /// enlarged in proportion.
    ///
    /// Returns `None` if the target has other devices than modelled flash drives, if the user set a
    /// capacity, or if a drive's initial state was recorded with its capacity.
    pub fn enlarged(&self, bytes: u64) -> Option<TargetSpec> {
        let enlargement = Enlargement { to_bytes: bytes, from_bytes: self.area_bytes() };
        let is_flash = |leaf: &crate::target::Leaf| {
            leaf.model().is_some_and(|drive| matches!(drive.model.parameters(), Parameters::Flash(_)))
        };
        let own_bytes: Vec<u64> = self.shapes().map(|shape| shape.capacity_bytes).collect();
        self.leaves.iter().all(is_flash).then(|| enlargement.spec(&self.spec, &mut own_bytes.into_iter()))?
    }
}

struct Enlargement {
    to_bytes: u64,
    from_bytes: u64,
}

impl Enlargement {
    /// Enlarges a spec. `own_bytes` yields the capacity of each leaf.
    fn spec(&self, spec: &TargetSpec, own_bytes: &mut impl Iterator<Item = u64>) -> Option<TargetSpec> {
        Some(match spec {
            TargetSpec::Path(_) | TargetSpec::Repeat { .. } => return None,
            TargetSpec::Model(model) => TargetSpec::Model(self.model(model, own_bytes.next()?, 0)?),
            TargetSpec::Array(array) => TargetSpec::Array(self.array(array, own_bytes)?),
        })
    }

    /// Enlarges an array. Only whole chunks of a member are used.
    fn array(&self, array: &ArraySpec, own_bytes: &mut impl Iterator<Item = u64>) -> Option<ArraySpec> {
        let mut member = |member: &TargetSpec| {
            let (one, count) = match member {
                TargetSpec::Repeat { target, count } => (target.as_ref(), *count),
                single => (single, 1),
            };
            let TargetSpec::Model(model) = one else { return None };
            let own_bytes = own_bytes.by_ref().take(count as usize).max()?;
            let target = TargetSpec::Model(self.model(model, own_bytes, array.chunk_bytes)?);
            Some(if count > 1 { TargetSpec::Repeat { target: Box::new(target), count } } else { target })
        };
        let members = array.members.iter().map(&mut member).collect::<Option<Vec<_>>>()?;
        Some(ArraySpec { members, ..array.clone() })
    }

    fn model(&self, model: &ModelSpec, own_bytes: u64, extra_bytes: u64) -> Option<ModelSpec> {
        if model.capacity_bytes.is_some() || matches!(model.state, StateSpec::File(_)) {
            return None;
        }
        let grown = u128::from(own_bytes) * u128::from(self.to_bytes);
        let grown = u64::try_from(grown.div_ceil(u128::from(self.from_bytes.max(1)))).unwrap_or(u64::MAX);
        let capacity_bytes = Some(grown.max(own_bytes).saturating_add(extra_bytes));
        Some(ModelSpec { capacity_bytes, ..model.clone() })
    }
}
