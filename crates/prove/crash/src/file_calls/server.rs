use std::fs::File;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::file::Contents;
use super::folder::Folder;
use super::kind::CallKind;
use super::messages::{
    Body, HEADER_BYTES, LARGEST_WRITE_BYTES, Opcode, ROOT, attributes_reply, entry_reply, file_system_reply,
    initialise_reply, open_reply, reply,
};

const ENOENT: i32 = 2;
const ENOSYS: i32 = 38;
const ESTALE: i32 = 116;
/// The request sets the length (`FATTR_SIZE`).
const SETS_LENGTH: u32 = 1 << 3;
/// The request sets permissions, user or group (`FATTR_MODE | FATTR_UID | FATTR_GID`).
const SETS_OWNER: u32 = 1 | 1 << 1 | 1 << 2;
/// The names are exchanged (`RENAME_EXCHANGE`).
const EXCHANGES: u32 = 1 << 1;
/// Length of the fields before the names in a request.
const CREATE_HEADER_BYTES: usize = 16;
const RENAME_HEADER_BYTES: usize = 8;
const EXCHANGE_HEADER_BYTES: usize = 16;
/// Length of a write's header, before its contents.
const WRITE_HEADER_BYTES: usize = 40;

/// FUSE server of the folder.
pub(super) struct Server {
    pub(super) device: File,
    pub(super) folder: Arc<Mutex<Folder>>,
}

type Answer = Result<Vec<u8>, i32>;

pub(super) fn lock(folder: &Mutex<Folder>) -> MutexGuard<'_, Folder> {
    folder.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// Serves requests until the file system is unmounted and reads of the device fail.
    pub(super) fn serve(mut self) {
        let mut message = vec![0; HEADER_BYTES + 4096 + LARGEST_WRITE_BYTES as usize];
        while let Ok(length) = self.device.read(&mut message) {
            let message = Body(message.get(..length).unwrap_or_default());
            let (opcode, unique, number) = (message.short(4), message.long(8), message.long(16));
            let opcode = Opcode::of(opcode);
            if opcode == Opcode::Unanswered {
                continue;
            }
            let body = Body(message.0.get(HEADER_BYTES..).unwrap_or_default());
            let answer = answer(&mut lock(&self.folder), opcode, number, body);
            // The caller may have ended.
            let _ = self.device.write(&reply(unique, answer));
        }
    }
}

fn answer(folder: &mut Folder, opcode: Opcode, number: u64, body: Body<'_>) -> Answer {
    match opcode {
        Opcode::Lookup => {
            let number = folder.number_of(first_name(body, 0)).ok_or(ENOENT)?;
            Ok(entry_reply(number, file(folder, number)?.len() as u64))
        }
        Opcode::GetAttributes if number == ROOT => Ok(attributes_reply(ROOT, 0)),
        Opcode::GetAttributes => Ok(attributes_reply(number, file(folder, number)?.len() as u64)),
        Opcode::SetAttributes => set_attributes(folder, number, body),
        Opcode::Remove => {
            let fails = folder.fails(CallKind::Remove);
            if !fails {
                folder.remove(first_name(body, 0));
            }
            outcome(fails, CallKind::Remove)
        }
        Opcode::Rename => rename(folder, body, RENAME_HEADER_BYTES),
        Opcode::Exchange => rename(folder, body, EXCHANGE_HEADER_BYTES),
        Opcode::Open | Opcode::OpenFolder => Ok(open_reply()),
        Opcode::Create => create(folder, body),
        Opcode::Read => read(folder, number, body),
        Opcode::Write => write(folder, number, body),
        Opcode::Sync => {
            let fails = folder.fails(CallKind::Sync);
            if !folder.has_ended() {
                file(folder, number)?.sync(fails);
            }
            outcome(fails, CallKind::Sync)
        }
        Opcode::SyncFolder => {
            let fails = folder.fails(CallKind::SyncFolder);
            if !folder.has_ended() {
                folder.sync_names(fails);
            }
            outcome(fails, CallKind::SyncFolder)
        }
        Opcode::Reserve => reserve(folder, number, body),
        Opcode::FileSystem => Ok(file_system_reply()),
        Opcode::Initialise => Ok(initialise_reply()),
        Opcode::Acknowledged | Opcode::Unanswered => Ok(Vec::new()),
        Opcode::Unknown => Err(ENOSYS),
    }
}

fn outcome(fails: bool, kind: CallKind) -> Answer {
    if fails { Err(kind.errno()) } else { Ok(Vec::new()) }
}

fn file(folder: &mut Folder, number: u64) -> Result<&mut Contents, i32> {
    folder.file(number).ok_or(ESTALE)
}

fn first_name(body: Body<'_>, at: usize) -> &str {
    let end = |bytes: &[u8]| bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let bytes = body.0.get(at..).unwrap_or_default();
    std::str::from_utf8(bytes.get(..end(bytes)).unwrap_or_default()).unwrap_or_default()
}

/// Renames a file, or exchanges two. Both names follow the request's header.
fn rename(folder: &mut Folder, body: Body<'_>, header_bytes: usize) -> Answer {
    let fails = folder.fails(CallKind::Rename);
    let from = first_name(body, header_bytes);
    let to = first_name(body, header_bytes + from.len() + 1);
    let is_exchange = header_bytes == EXCHANGE_HEADER_BYTES && body.short(8) & EXCHANGES != 0;
    if !fails {
        folder.rename(from, to, is_exchange);
    }
    outcome(fails, CallKind::Rename)
}

fn create(folder: &mut Folder, body: Body<'_>) -> Answer {
    if folder.fails(CallKind::Create) {
        return Err(CallKind::Create.errno());
    }
    let number = folder.create(first_name(body, CREATE_HEADER_BYTES));
    Ok([entry_reply(number, 0), open_reply()].concat())
}

fn set_attributes(folder: &mut Folder, number: u64, body: Body<'_>) -> Answer {
    if number == ROOT {
        return Ok(attributes_reply(ROOT, 0));
    }
    if body.short(0) & SETS_LENGTH != 0 {
        if folder.fails(CallKind::Truncate) {
            return Err(CallKind::Truncate.errno());
        }
        file(folder, number)?.set_len(body.place(16));
    } else if body.short(0) & SETS_OWNER != 0 && folder.fails(CallKind::Owner) {
        return Err(CallKind::Owner.errno());
    }
    Ok(attributes_reply(number, file(folder, number)?.len() as u64))
}

fn read(folder: &mut Folder, number: u64, body: Body<'_>) -> Answer {
    if folder.fails(CallKind::Read) {
        return Err(CallKind::Read.errno());
    }
    Ok(file(folder, number)?.read(body.place(8), body.short(16) as usize))
}

fn write(folder: &mut Folder, number: u64, body: Body<'_>) -> Answer {
    let length = body.short(16);
    let end = WRITE_HEADER_BYTES + length as usize;
    let bytes = body.0.get(WRITE_HEADER_BYTES..end).unwrap_or_default();
    if folder.fails(CallKind::Write) {
        let half = bytes.get(..bytes.len() / 2 / 512 * 512).unwrap_or_default();
        if !folder.has_ended() {
            file(folder, number)?.write(body.place(8), half);
        }
        return Err(CallKind::Write.errno());
    }
    file(folder, number)?.write(body.place(8), bytes);
    Ok(u64::from(length).to_le_bytes().into())
}

fn reserve(folder: &mut Folder, number: u64, body: Body<'_>) -> Answer {
    let fails = folder.fails(CallKind::Reserve);
    if folder.has_ended() {
        return outcome(true, CallKind::Reserve);
    }
    let contents = file(folder, number)?;
    let end = body.place(8).saturating_add(body.place(16)).max(contents.len());
    let reserved = if fails { contents.len() + (end - contents.len()) / 2 } else { end };
    contents.set_len(reserved);
    outcome(fails, CallKind::Reserve)
}
