use super::session::Session;
use crate::{Arena, Device, Io, Nanos, Operation};

/// Longer than any request of a modelled device.
const LONG: Nanos = Nanos::from_secs(60);

/// Checks that charged processor time passes in virtual time, while the device works. In a real
/// world a charge takes no time, since the work itself does.
pub fn charged_time_passes(io: &mut dyn Io, device: &Device, seed: u64) {
    let mut session = Session::new(io, device, "charges", seed);
    let is_virtual = session.io.timer_slack() == Nanos::ZERO;
    for span in [Nanos::ZERO, Nanos(1), Nanos::from_micros(50), LONG] {
        charge(&mut session, span, is_virtual);
    }
    devices_work_meanwhile(&mut session, is_virtual);
}

/// Checks that clock and processor time advance by exactly the span, or hardly at all in a real
/// world.
fn charge(session: &mut Session<'_>, span: Nanos, is_virtual: bool) {
    let (began_at, used) = (session.io.now(), session.io.cpu_time());
    session.io.charge_cpu(span);
    if is_virtual {
        assert_eq!(session.io.now(), began_at + span, "the charged time passes");
        assert_eq!(session.io.cpu_time(), used + span, "the charged time is processor time");
    } else {
        assert!(session.io.now() < began_at + LONG, "a real world waits for no charged time");
    }
}

/// Number of tries: a world may delay some requests, for instance by faults.
const TRIES: u32 = 8;

/// Checks that a request completes during a long charge, and that the caller sees it only
/// afterwards.
fn devices_work_meanwhile(session: &mut Session<'_>, is_virtual: bool) {
    // One logical block: the smallest array in the smallest world sends it at once.
    let bytes = session.block_bytes();
    let arena = Arena::new(bytes).unwrap();
    let mut done_at_once = 0;
    for _ in 0..TRIES {
        let token = session.submit(Operation::read(0, arena.allocate(bytes).unwrap()));
        session.io.charge_cpu(LONG);
        assert_eq!(session.io.in_flight(), 1, "completions are handed out by `reap` alone");
        let now = session.io.now();
        let completions = session.drain();
        let [completion] = &completions[..] else { panic!("{} completions of one read", completions.len()) };
        assert_eq!(completion.token, token);
        assert!(completion.result.is_ok());
        assert!(completion.completed_at >= now || !is_virtual, "the caller sees it when its work is done");
        done_at_once += u32::from(completion.completed_at == now);
    }
    assert!(done_at_once > 0 || !is_virtual, "devices work while the caller computes");
}
