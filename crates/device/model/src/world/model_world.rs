use nandle_io::virtual_world::VirtualWorld;
use nandle_io::{Device, Io, Nanos};

use super::device::ModelledDevice;
use super::timings::Timings;

/// Host computer of a world, with one processor that submits requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    /// Limit of requests in flight.
    pub slots: usize,
    /// Processor time of a request, for submission and completion. It is charged at submission; the
    /// next request waits for it, and so do completions that arrive meanwhile.
    pub request_cpu: Nanos,
}

impl Host {
    /// Processor time of a request on this project's own ring at depth 128, measured on a machine
    /// of 2026 (`cargo xtask bench io`).
    pub const REQUEST_CPU: Nanos = Nanos::from_micros(2);

    /// Host with `slots` requests in flight; each costs [`Host::REQUEST_CPU`].
    pub const fn with_slots(slots: usize) -> Self {
        Self { slots, request_cpu: Self::REQUEST_CPU }
    }
}

/// World of modelled devices with one virtual clock, which starts at zero; see the [module](super).
///
/// # Panics
/// Panics, like every [`VirtualWorld`], when a device's timing breaks its contract.
#[derive(Debug)]
pub struct ModelWorld {
    world: VirtualWorld<Timings>,
}

impl ModelWorld {
    /// World without devices.
    pub fn new(host: Host) -> Self {
        let world = VirtualWorld::from_behaviour(Timings::default(), host.slots);
        Self { world: world.with_request_cpu(host.request_cpu) }
    }

    /// Adds a device to the world.
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
