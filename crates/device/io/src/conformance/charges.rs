use super::session::Session;
use crate::{Arena, Device, Io, Nanos, Operation};

/// Longer than any request of a modelled device takes.
const LONG: Nanos = Nanos::from_secs(60);

/// Processor time that the caller charges passes in virtual time, with the device at work meanwhile; in a real world it
/// costs nothing, since the work itself takes its time.
pub fn charged_time_passes(io: &mut dyn Io, device: &Device, seed: u64) {
    let mut session = Session::new(io, device, "charges", seed);
    let is_virtual = session.io.timer_slack() == Nanos::ZERO;
    for span in [Nanos::ZERO, Nanos(1), Nanos::from_micros(50), LONG] {
        charge(&mut session, span, is_virtual);
    }
    devices_work_meanwhile(&mut session, is_virtual);
}

/// The clock and the processor's account move by exactly the span, or the world is real and hardly any time passes.
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

/// So many requests are tried: a world may delay some, as one with faults does.
const TRIES: u32 = 8;

/// A request in flight is done when its caller has computed for long enough, and the caller sees it only afterwards.
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
