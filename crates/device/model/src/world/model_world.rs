use nandle_io::virtual_world::VirtualWorld;
use nandle_io::{Device, Io, Nanos};

use super::device::ModelledDevice;
use super::timings::Timings;

/// The computer that a world's requests come from: one processor that submits them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    /// Most requests in flight.
    pub slots: usize,
    /// Processor time of a request, from its submission to the handling of its completion. It is charged when the
    /// request is submitted, and the next one waits for it, as do completions that come meanwhile.
    pub request_cpu: Nanos,
}

impl Host {
    /// What this project's own ring spends on a request at depth 128, as measured on a machine of 2026
    /// (`cargo xtask bench io`).
    pub const REQUEST_CPU: Nanos = Nanos::from_micros(2);

    /// With room for `slots` requests in flight, each of which costs [`Host::REQUEST_CPU`].
    pub const fn with_slots(slots: usize) -> Self {
        Self { slots, request_cpu: Self::REQUEST_CPU }
    }
}

/// A world of modelled devices with one virtual clock, which starts at zero; see the [module](super).
///
/// # Panics
/// As every [`VirtualWorld`], when a device's timing breaks its contract.
#[derive(Debug)]
pub struct ModelWorld {
    world: VirtualWorld<Timings>,
}

impl ModelWorld {
    /// A world without devices.
    pub fn new(host: Host) -> Self {
        let world = VirtualWorld::from_behaviour(Timings::default(), host.slots);
        Self { world: world.with_request_cpu(host.request_cpu) }
    }

    /// Puts a device into the world.
    pub fn add(&mut self, device: ModelledDevice) -> Device {
        let ModelledDevice { shape, timing, write_cache: _ } = device;
        self.world.behaviour_mut().add(timing);
        self.world.add_device(shape)
    }
}

impl Io for ModelWorld {
    nandle_io::forward_io!(
        world: devices submit reap in_flight slots now cpu_time charge_cpu timer_slack waker register backend counters
    );
}
