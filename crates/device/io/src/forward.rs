/// Implements [`Io`](crate::Io) methods of an outer world by forwarding them to its inner world.
///
/// ```
/// # use nandle_io::{Completion, DeviceId, Full, Io, Request, Wait};
/// /// Counts the requests to the inner world.
/// struct Counting<W> {
///     inner: W,
///     requests: u64,
/// }
///
/// impl<W: Io> Io for Counting<W> {
///     nandle_io::forward_io!(inner: devices reap in_flight slots now cpu_time charge_cpu timer_slack waker register backend counters);
///
///     fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
///         self.requests += 1;
///         self.inner.submit(device, request)
///     }
/// }
/// ```
#[macro_export]
macro_rules! forward_io {
    ($inner:ident: $($method:ident)+) => { $($crate::forward_io!(@$method $inner);)+ };
    (@devices $inner:ident) => {
        fn devices(&self) -> &[$crate::Device] {
            self.$inner.devices()
        }
    };
    (@submit $inner:ident) => {
        fn submit(&mut self, device: $crate::DeviceId, request: $crate::Request) -> Result<(), $crate::Full> {
            self.$inner.submit(device, request)
        }
    };
    (@reap $inner:ident) => {
        fn reap(&mut self, wait: $crate::Wait, into: &mut Vec<$crate::Completion>) {
            self.$inner.reap(wait, into);
        }
    };
    (@in_flight $inner:ident) => {
        fn in_flight(&self) -> usize {
            self.$inner.in_flight()
        }
    };
    (@slots $inner:ident) => {
        fn slots(&self) -> usize {
            self.$inner.slots()
        }
    };
    (@now $inner:ident) => {
        fn now(&self) -> $crate::Nanos {
            self.$inner.now()
        }
    };
    (@cpu_time $inner:ident) => {
        fn cpu_time(&self) -> $crate::Nanos {
            self.$inner.cpu_time()
        }
    };
    (@charge_cpu $inner:ident) => {
        fn charge_cpu(&mut self, span: $crate::Nanos) {
            self.$inner.charge_cpu(span);
        }
    };
    (@timer_slack $inner:ident) => {
        fn timer_slack(&self) -> $crate::Nanos {
            self.$inner.timer_slack()
        }
    };
    (@waker $inner:ident) => {
        fn waker(&mut self) -> Option<$crate::Waker> {
            self.$inner.waker()
        }
    };
    (@register $inner:ident) => {
        fn register(&mut self, arena: &$crate::Arena) -> usize {
            self.$inner.register(arena)
        }
    };
    (@backend $inner:ident) => {
        fn backend(&self) -> $crate::Backend {
            self.$inner.backend()
        }
    };
    (@counters $inner:ident) => {
        fn counters(&self, device: $crate::DeviceId) -> Option<$crate::DriveCounters> {
            self.$inner.counters(device)
        }
    };
}
