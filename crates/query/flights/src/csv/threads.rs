//! Parallel parsing. One thread reads, and distributes pieces round-robin among the parsing
//! threads. Their results are taken in the same order, which is that of the files.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::chunks::{Chunks, Piece};
use super::parse::Parsed;
use super::parse_piece;
use crate::LoadError;

/// Message of the reader: a piece, a final error, or the end.
type Given = Result<Option<Piece>, LoadError>;
type Returned = Result<Option<Parsed>, LoadError>;

pub(super) struct Threads {
    /// `None` at the end: threads end when their results are no longer taken.
    returned: Option<Vec<Receiver<Returned>>>,
    turn: usize,
    handles: Vec<JoinHandle<()>>,
}

impl Threads {
    pub(super) fn new(chunks: Chunks, threads: usize, batch_rows: usize) -> Self {
        let mut handles = Vec::new();
        let (mut givers, mut returned) = (Vec::new(), Vec::new());
        for _ in 0..threads {
            let (giver, pieces) = sync_channel(1);
            let (returns, receiver) = sync_channel(1);
            handles.push(std::thread::spawn(move || parse_all(&pieces, &returns, batch_rows)));
            givers.push(giver);
            returned.push(receiver);
        }
        handles.push(std::thread::spawn(move || read_all(chunks, &givers)));
        Self { returned: Some(returned), turn: 0, handles }
    }

    pub(super) fn next(&mut self) -> Returned {
        let Some(returned) = &self.returned else { return Ok(None) };
        let receiver = returned.get(self.turn % returned.len()).ok_or(LoadError::Thread)?;
        self.turn += 1;
        let next = receiver.recv().map_err(|_| LoadError::Thread)?;
        if !matches!(next, Ok(Some(_))) {
            self.returned = None;
        }
        next
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.returned = None;
        for handle in self.handles.drain(..) {
            // A panic was reported as `LoadError::Thread`.
            let _ = handle.join();
        }
    }
}

fn read_all(mut chunks: Chunks, givers: &[SyncSender<Given>]) {
    for giver in givers.iter().cycle() {
        let given = chunks.next();
        let is_last = !matches!(given, Ok(Some(_)));
        if giver.send(given).is_err() || is_last {
            return;
        }
    }
}

fn parse_all(pieces: &Receiver<Given>, returns: &SyncSender<Returned>, batch_rows: usize) {
    while let Ok(piece) = pieces.recv() {
        let parsed = piece.and_then(|piece| piece.map(|piece| parse_piece(piece, batch_rows)).transpose());
        if returns.send(parsed).is_err() {
            return;
        }
    }
}
