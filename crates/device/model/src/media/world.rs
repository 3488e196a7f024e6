use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use nandle_io::{
    Backend, Cause, Completion, Device, DeviceId, Full, Io, IoError, Nanos, Request, Wait, Waker,
};

use super::device::Media;
use super::pending::OperationId;
use crate::world::{Host, ModelWorld, ModelledDevice};

/// Media that a world and its tests share.
pub type SharedMedia = Rc<RefCell<Media>>;

/// A world around another one: the inner world says when requests complete, and [`Media`] what they store and return.
/// What the inner world stores goes unused, so one that stores nothing will do.
///
/// A modelled drive with contents, its power cut at every event:
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
/// A request counts as complete, for what a flush covers, when its completion was collected: that is the latest time,
/// and all that a host can rely on. A request that the inner world fails never completes on the media, so what it
/// wrote stays volatile. Devices without media are the inner world's own.
pub struct MediaWorld<W> {
    inner: W,
    media: Vec<Option<SharedMedia>>,
    in_flight: BTreeMap<u64, InFlight>,
    submitted: u64,
    /// Completions, by their time and their order, that were collected from the inner world and not from this.
    ready: BTreeMap<(Nanos, u64), Completion>,
    collected: u64,
    /// Kept for its memory.
    reaped: Vec<Completion>,
    woken_from_outside: bool,
}

/// A request to a device that has media.
struct InFlight {
    token: u64,
    begun: Option<Result<OperationId, Cause>>,
}

impl MediaWorld<ModelWorld> {
    /// A world of modelled devices, none yet.
    pub fn modelled(host: Host) -> Self {
        Self::new(ModelWorld::new(host))
    }

    /// Puts a modelled device into the world, with media, which the device [makes](ModelledDevice::media). Returns a
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
    /// A world with the same devices as `inner`, which have no media yet.
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

    /// Gives a device media, which should have its capacity and its logical block, before its first request. Returns
    /// a handle by which faults, contents and the recording can be looked at; it must not be borrowed while the world
    /// works.
    ///
    /// # Errors
    /// [`Cause::UnknownDevice`]: there is no such device.
    pub fn attach(&mut self, device: DeviceId, media: Media) -> Result<SharedMedia, Cause> {
        let place = self.media.get_mut(device.index() as usize);
        let place = place.ok_or(Cause::UnknownDevice { index: device.index() })?;
        Ok(Rc::clone(place.insert(Rc::new(RefCell::new(media)))))
    }

    /// The world that says when requests complete.
    pub fn inner(&self) -> &W {
        &self.inner
    }

    fn media(&self, device: DeviceId) -> Option<&SharedMedia> {
        self.media.get(device.index() as usize)?.as_ref()
    }

    /// Collects from the inner world, and lets the media answer. Returns how many came.
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

    /// Hands out what is due.
    fn hand_out(&mut self, into: &mut Vec<Completion>) {
        let now = self.inner.now();
        while let Some(first) = self.ready.first_entry().filter(|first| first.key().0 <= now) {
            into.push(first.remove());
        }
    }

    /// Waits for something once. Returns whether it is worth trying again.
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
        // The inner world has room for it: it has no more in flight than this one.
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
