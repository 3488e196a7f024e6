use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use nandle_io::{
    Backend, Cause, Completion, Device, DeviceId, Full, Io, IoError, Nanos, Request, Wait, Waker,
};

use super::device::Media;
use super::pending::OperationId;
use crate::world::{Host, ModelWorld, ModelledDevice};

/// Media shared by a world and its tests.
pub type SharedMedia = Rc<RefCell<Media>>;

/// World around another one: the inner world decides when requests complete, and [`Media`] store
/// and return their data. The inner world's contents go unused, so it need not store any.
///
/// A modelled drive with contents, with a power cut at every event:
///
/// ```
/// use nandle_io::{Arena, Io as _};
/// use nandle_io::runtime::Runtime;
/// use nandle_model::library::Model;
/// use nandle_model::media::{CrashImages, MediaWorld, PowerCut};
/// use nandle_model::world::Host;
///
/// let mut world = MediaWorld::modelled(Host::with_slots(64));
/// let drive = Model::named("x25-m-g2")?.device()?;
/// let media = drive.media().recorded();
/// let (drive, media) = world.add(drive, media);
///
/// let runtime = Runtime::new(Box::new(world));
/// let device = runtime.handle().device(drive.id);
/// let arena = Arena::new(1 << 20)?;
/// let written = runtime.block_on(async {
///     device.write(0, arena.allocate(4096)?.freeze()).await?;
///     device.flush().await?;
///     Ok::<_, Box<dyn std::error::Error>>(media.borrow().position())
/// })?;
/// let media = media.borrow();
/// let recordings = [media.recording().ok_or("it is recorded")?];
/// for image in CrashImages::new(&recordings, PowerCut::seeded(1)) {
///     let must_be_there = image.cut >= written;
///     # let _ = must_be_there;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// For flushes, a request counts as complete when its completion is collected. That is the latest
/// time, and all that a host can rely on. A request that the inner world fails never completes on
/// the media, so its data stays volatile. Devices without media are served by the inner world
/// alone.
pub struct MediaWorld<W> {
    inner: W,
    media: Vec<Option<SharedMedia>>,
    in_flight: BTreeMap<u64, InFlight>,
    submitted: u64,
    /// Completions collected from the inner world and not yet returned, by time and order.
    ready: BTreeMap<(Nanos, u64), Completion>,
    collected: u64,
    /// Reused to save allocations.
    reaped: Vec<Completion>,
    woken_from_outside: bool,
}

/// Request to a device with media.
struct InFlight {
    token: u64,
    begun: Option<Result<OperationId, Cause>>,
}

impl MediaWorld<ModelWorld> {
    /// World of modelled devices, without devices.
    pub fn modelled(host: Host) -> Self {
        Self::new(ModelWorld::new(host))
    }

    /// Adds a modelled device with media, such as [its own](ModelledDevice::media). Returns a
    /// handle to them, as [`attach`](Self::attach) does.
    pub fn add(&mut self, device: ModelledDevice, media: Media) -> (Device, SharedMedia) {
        let device = self.inner.add(device);
        debug_assert_eq!(device.id.index() as usize, self.media.len(), "media have their device's number");
        let media = Rc::new(RefCell::new(media));
        self.media.push(Some(Rc::clone(&media)));
        (device, media)
    }
}

impl<W: Io> MediaWorld<W> {
    /// World with the devices of `inner`, without media.
    pub fn new(inner: W) -> Self {
        Self {
            media: inner.devices().iter().map(|_| None).collect(),
            inner,
            in_flight: BTreeMap::new(),
            submitted: 0,
            ready: BTreeMap::new(),
            collected: 0,
            reaped: Vec::new(),
            woken_from_outside: false,
        }
    }

    /// Attaches media to a device before its first request. They should have its capacity and
    /// logical block. Returns a handle to the faults, contents and recording. It must not be
    /// borrowed while the world runs.
    ///
    /// # Errors
    /// [`Cause::UnknownDevice`]: there is no such device.
    pub fn attach(&mut self, device: DeviceId, media: Media) -> Result<SharedMedia, Cause> {
        let place = self.media.get_mut(device.index() as usize);
        let place = place.ok_or(Cause::UnknownDevice { index: device.index() })?;
        Ok(Rc::clone(place.insert(Rc::new(RefCell::new(media)))))
    }

    /// World that decides when requests complete.
    pub fn inner(&self) -> &W {
        &self.inner
    }

    fn media(&self, device: DeviceId) -> Option<&SharedMedia> {
        self.media.get(device.index() as usize)?.as_ref()
    }

    /// Collects from the inner world and completes the operations on the media. Returns their
    /// number.
    fn collect(&mut self, wait: Wait) -> usize {
        let mut reaped = std::mem::take(&mut self.reaped);
        self.inner.reap(wait, &mut reaped);
        let count = reaped.len();
        for completion in reaped.drain(..) {
            let completion = self.answer(completion);
            self.collected += 1;
            let before = self.ready.insert((completion.completed_at, self.collected), completion);
            debug_assert!(before.is_none(), "completions are told apart by their number");
        }
        self.reaped = reaped;
        debug_assert_eq!(
            self.in_flight.len(),
            self.inner.in_flight(),
            "the inner world's requests are known"
        );
        count
    }

    fn answer(&mut self, mut completion: Completion) -> Completion {
        let submitted = self.in_flight.remove(&completion.token);
        debug_assert!(submitted.is_some(), "{completion:?} was not submitted here");
        let Some(InFlight { token, begun }) = submitted else { return completion };
        completion.token = token;
        debug_assert!(
            begun.is_none() || self.media(completion.device).is_some(),
            "media are attached for good"
        );
        let (Some(begun), Some(media)) = (begun, self.media(completion.device)) else { return completion };
        if completion.result.is_err() {
            return completion;
        }
        let result = begun.and_then(|id| {
            let outcome = media.borrow_mut().complete(id, &mut completion.operation);
            completion.completed_at += Nanos(outcome.extra_latency_ns);
            outcome.result
        });
        completion.result = result.map_err(|cause| IoError::new(&completion.operation, cause));
        completion
    }

    /// Returns the completions that are due.
    fn hand_out(&mut self, into: &mut Vec<Completion>) {
        let now = self.inner.now();
        while let Some(first) = self.ready.first_entry().filter(|first| first.key().0 <= now) {
            into.push(first.remove());
        }
    }

    /// Waits once. Returns true if another attempt may make progress.
    fn wait_once(&mut self, missing: usize, until: Option<Nanos>) -> bool {
        let next = self.ready.first_key_value().map(|((at, _), _)| *at);
        let deadline = next.into_iter().chain(until).min();
        let completions = if next.is_some() { 1 } else { missing };
        let came = self.collect(Wait { completions, until: deadline });
        let is_due = next.is_some_and(|next| next <= self.inner.now());
        came > 0 || is_due
    }
}

impl<W: Io> Io for MediaWorld<W> {
    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        if self.in_flight() >= self.slots() {
            return Err(Full(request));
        }
        let Request { token, operation } = request;
        // The inner world has a free slot: it has no more in flight than this one.
        let begun = self.media(device).map(|media| media.borrow_mut().begin(&operation));
        let number = self.submitted;
        self.inner
            .submit(device, Request { token: number, operation })
            .map_err(|Full(request)| Full(Request { token, ..request }))?;
        self.submitted += 1;
        let before = self.in_flight.insert(number, InFlight { token, begun });
        debug_assert!(before.is_none(), "request {number} is in flight already");
        debug_assert!(self.in_flight() <= self.slots(), "{} in {} slots", self.in_flight(), self.slots());
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let enough = into.len() + wait.target(self.in_flight(), self.woken_from_outside);
        self.collect(Wait::NONE);
        self.hand_out(into);
        while into.len() < enough {
            let again = self.wait_once(enough - into.len(), wait.until);
            self.hand_out(into);
            if !again {
                return;
            }
        }
    }

    fn in_flight(&self) -> usize {
        self.inner.in_flight() + self.ready.len()
    }

    nandle_io::forward_io!(inner: devices slots now cpu_time charge_cpu timer_slack register counters);

    fn waker(&mut self) -> Option<Waker> {
        let waker = self.inner.waker();
        self.woken_from_outside |= waker.is_some();
        waker
    }

    fn backend(&self) -> Backend {
        let mut backend = self.inner.backend();
        backend.features.push("modelled contents".into());
        backend
    }
}
