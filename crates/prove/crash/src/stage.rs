use std::ops::Range;

use nandle_io::array::{Arrays, Leg};
use nandle_io::runtime::Runtime;
use nandle_io::{DeviceId, Io};
use nandle_model::library::Model;
use nandle_model::media::{
    Contents, Fault, FaultPlan, Media, MediaWorld, Recording, Sequence, SharedMedia, When, faults::Lasts,
};
use nandle_model::world::{Host, ModelWorld};

use crate::scenario::{Scenario, Timing, Trouble};
use crate::world::jumble;

/// Chunk of a mirror, small enough that reads use both legs.
const CHUNK_BYTES: u64 = 8192;
const SLOTS: usize = 128;

/// Devices with contents and a runtime, for one life of a store.
pub(crate) struct Stage {
    pub(crate) runtime: Runtime,
    pub(crate) device: DeviceId,
    pub(crate) media: Vec<SharedMedia>,
}

/// Use of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Purpose {
    /// True if writes are recorded, for power cuts.
    pub(crate) is_recorded: bool,
    /// True if the scenario's failures are injected.
    pub(crate) has_trouble: bool,
    /// Seed of the order of completions and of the valid leg.
    pub(crate) seed: u64,
}

impl Stage {
    /// Stage on the contents left by a power cut. A mirror's legs are resynchronised first.
    pub(crate) fn new(scenario: &Scenario, contents: &[Contents], purpose: Purpose) -> Result<Self, String> {
        match scenario.timing {
            Timing::Drive(name) if !scenario.is_mirrored => {
                let model = Model::named(name).and_then(|model| model.device());
                let mut world = ModelWorld::new(Host::with_slots(SLOTS));
                world.add(model.map_err(|error| error.to_string())?);
                Self::on(world, scenario, contents, purpose)
            }
            Timing::Drive(_) | Timing::Jumbled => {
                let capacity_bytes = contents.first().ok_or("a stage without devices")?.capacity_bytes();
                let devices = u32::try_from(contents.len()).map_err(|_| "too many devices")?;
                let block_bytes = u64::from(scenario.logical_block_bytes);
                let world = jumble(devices, capacity_bytes, block_bytes, purpose.seed);
                Self::on(world, scenario, contents, purpose)
            }
        }
    }

    fn on<W: Io + 'static>(
        timing: W,
        scenario: &Scenario,
        contents: &[Contents],
        purpose: Purpose,
    ) -> Result<Self, String> {
        let mut world = MediaWorld::new(timing);
        let sequence = Sequence::default();
        let mut media = Vec::new();
        for (index, contents) in (0_u32..).zip(contents) {
            let mut one = Media::on(contents.clone()).with_cache(scenario.cache);
            one = one.with_discards(scenario.after_discard);
            if purpose.has_trouble {
                one = one.with_faults(trouble(scenario).for_device(u64::from(index)));
            }
            if purpose.is_recorded {
                one = one.recorded_in(&sequence);
            }
            media.push(world.attach(DeviceId::from_index(index), one).map_err(|cause| cause.to_string())?);
        }
        let (world, device): (Box<dyn Io>, _) = if scenario.is_mirrored {
            let (arrays, device) = mirror(scenario, Box::new(world), purpose)?;
            (Box::new(arrays), device)
        } else {
            (Box::new(world), DeviceId::from_index(0))
        };
        Ok(Self { runtime: Runtime::new(world), device, media })
    }

    /// One device on which these bytes are unreadable until rewritten.
    pub(crate) fn with_unreadable(
        scenario: &Scenario,
        contents: &Contents,
        bytes: Range<u64>,
        purpose: Purpose,
    ) -> Result<Self, String> {
        let world = jumble(1, contents.capacity_bytes(), contents.logical_block_bytes(), purpose.seed);
        let device = DeviceId::from_index(0);
        let block_bytes = contents.logical_block_bytes();
        let blocks = bytes.start / block_bytes..bytes.end.div_ceil(block_bytes);
        let media = Media::on(contents.clone()).with_discards(scenario.after_discard);
        let mut world = MediaWorld::new(world);
        let media = world.attach(device, media.with_unreadable(blocks)).map_err(|cause| cause.to_string())?;
        Ok(Self { runtime: Runtime::new(Box::new(world)), device, media: vec![media] })
    }

    pub(crate) fn blank(scenario: &Scenario) -> Result<Vec<Contents>, String> {
        let bytes = scenario.device_bytes().map_err(|error| error.to_string())?;
        let devices = if scenario.is_mirrored { 2 } else { 1 };
        let bytes = bytes.next_multiple_of(CHUNK_BYTES);
        Ok(vec![Contents::new(bytes, scenario.logical_block_bytes); devices])
    }

    /// Contents of the devices as read.
    pub(crate) fn contents(&self) -> Vec<Contents> {
        self.media.iter().map(|media| media.borrow().contents().clone()).collect()
    }
}

/// Number of events on all devices.
pub(crate) fn position(media: &[SharedMedia]) -> u64 {
    let first = media.first().unwrap_or_else(|| panic!("a stage has a device"));
    first.borrow().position()
}

/// Accesses the recordings of a life.
pub(crate) fn with_recordings<T>(media: &[SharedMedia], look: impl FnOnce(&[&Recording]) -> T) -> T {
    let borrowed: Vec<_> = media.iter().map(|media| media.borrow()).collect();
    let recordings: Vec<_> = borrowed.iter().filter_map(|media| media.recording()).collect();
    look(&recordings)
}

fn mirror(scenario: &Scenario, world: Box<dyn Io>, purpose: Purpose) -> Result<(Arrays, DeviceId), String> {
    let mut arrays = Arrays::new(world);
    let legs = [DeviceId::from_index(0), DeviceId::from_index(1)];
    let device = arrays.raid10(&legs, CHUNK_BYTES).map_err(|error| error.to_string())?.id;
    // Devices with injected failures start with equal legs.
    if scenario.resynchronises && !purpose.has_trouble {
        // The owner chooses the valid leg. Either must work, as both hold all durable writes.
        let newest = if purpose.seed.is_multiple_of(2) { Leg::First } else { Leg::Second };
        arrays.resynchronise(device, newest).map_err(|error| error.to_string())?;
    }
    Ok((arrays, device))
}

fn trouble(scenario: &Scenario) -> FaultPlan {
    let plan = FaultPlan::seeded(scenario.seed);
    match scenario.trouble {
        Trouble::None => plan,
        Trouble::FailedFlush => plan.and(Fault::FailedFlush(Lasts::Once), When::PerMillion(20_000)),
        Trouble::FailedWrite => plan.and(Fault::FailedWrite(Lasts::Once), When::PerMillion(1000)),
        Trouble::NoSpace => plan.and(Fault::NoSpace, When::PerMillion(10_000)),
    }
}
