//! A server on a port chosen by the system, stopped with its test.

use std::io::{Read, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::place::{Place, said};

/// Timeout of a step.
pub(super) const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) struct Server {
    child: Child,
    pub(super) port: u16,
}

impl Server {
    /// Serves the numbers and the tables in `arguments`.
    pub(super) fn start(place: &Place, arguments: &[&str]) -> Self {
        Self::of(place.command_of("serve", &Self::arguments(arguments)))
    }

    /// The server's arguments, followed by others.
    pub(crate) fn arguments<'a>(others: &[&'a str]) -> Vec<&'a str> {
        [&["Numbers.parquet", "--pg", "127.0.0.1:0", "--json"], others].concat()
    }

    /// Starts a server by this command.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let said = said(&mut child);
        assert_eq!(said["tables"][0], "numbers");
        let (address, port) = said["pg"].as_str().unwrap().rsplit_once(':').unwrap();
        assert_eq!(address, "127.0.0.1");
        Self { child, port: port.parse().unwrap() }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn psql(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("psql");
        command.args([
            "-X",
            "-h",
            "127.0.0.1",
            "-U",
            "any-user",
            "-d",
            "nandle",
            "-p",
            &self.port.to_string(),
        ]);
        command.args(arguments);
        command
    }

    /// Output of psql for a statement: bare rows.
    #[track_caller]
    pub(crate) fn rows(&self, statement: &str) -> String {
        let output = self.psql(&["-At", "-c", statement]).output().unwrap();
        assert!(output.status.success(), "{statement}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Error code of a statement, and psql's message.
    #[track_caller]
    pub(crate) fn refused(&self, statement: &str) -> (String, String) {
        let mut psql = self.psql(&["-At", "-v", "VERBOSITY=verbose", "-f", "-"]);
        let mut child =
            psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(format!("{statement};\n").as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let (_, error) =
            said.split_once("ERROR:  ").unwrap_or_else(|| panic!("{statement:.100}: {said:.300}"));
        let (code, _) = error.split_once(": ").unwrap();
        (code.to_owned(), said)
    }

    /// Sends a signal, by its `kill` name, and waits for the end.
    pub(super) fn end(mut self, signal: &str) -> (Option<i32>, Duration) {
        let begun = Instant::now();
        kill(signal, self.child.id());
        let ended = self.child.wait().unwrap();
        (ended.code(), begun.elapsed())
    }

    /// Connection after a completed startup.
    pub(super) fn connect(&self) -> TcpStream {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let body = b"user\0anybody\0\0";
        let length = u32::try_from(body.len() + 8).unwrap();
        let message = [&length.to_be_bytes()[..], &196_608_u32.to_be_bytes(), body].concat();
        socket.write_all(&message).unwrap();
        while read_message(&mut socket).unwrap().0 != b'Z' {}
        socket
    }

    /// Resident memory of the server in bytes.
    pub(super) fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // May have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn kill(signal: &str, pid: u32) {
    let killed = Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status().unwrap();
    assert!(killed.success());
}

/// Sends a statement without reading the response.
pub(super) fn ask(socket: &mut TcpStream, statement: &str) {
    send(socket, b'Q', &[statement.as_bytes(), b"\0"].concat());
}

/// Prepares a statement without reading the response.
pub(super) fn prepare(socket: &mut TcpStream, name: &str, statement: &str) {
    send(socket, b'P', &[name.as_bytes(), b"\0", statement.as_bytes(), b"\0\0\0"].concat());
    send(socket, b'S', b"");
}

fn send(socket: &mut TcpStream, letter: u8, body: &[u8]) {
    let length = u32::try_from(body.len() + 4).unwrap();
    let message = [&[letter][..], &length.to_be_bytes(), body].concat();
    socket.write_all(&message).unwrap();
}

/// Number of rows in the response, or the code of its error.
pub(super) fn answer(socket: &mut TcpStream) -> Result<usize, String> {
    let mut answer = Ok(0);
    loop {
        match read_message(socket).unwrap() {
            (b'D', _) => answer = answer.map(|rows| rows + 1),
            (b'E', body) => {
                let mut parts = body.split(|byte| *byte == 0).map(String::from_utf8_lossy);
                answer = Err(parts.find_map(|part| part.strip_prefix('C').map(str::to_owned)).unwrap());
            }
            (b'Z', _) => return answer,
            _ => {}
        }
    }
}

/// Type and body of a message.
pub(super) fn read_message(socket: &mut impl Read) -> std::io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    socket.read_exact(&mut head)?;
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    let mut body = vec![0; usize::try_from(length).unwrap() - 4];
    socket.read_exact(&mut body)?;
    Ok((head[0], body))
}

/// Returns true if psql isn't available.
pub(crate) fn is_skipped() -> bool {
    let is_skipped = std::env::var_os("NANDLE_SKIP_PSQL").is_some();
    if is_skipped {
        eprintln!("skipped: NANDLE_SKIP_PSQL is set");
    }
    is_skipped
}

/// Runs a Python that has psycopg and pyarrow.
pub(super) fn python(arguments: &[&str]) -> Option<Output> {
    let Some(python) = std::env::var_os("NANDLE_PYARROW") else {
        eprintln!("skipped: NANDLE_PYARROW names no Python with psycopg and pyarrow");
        return None;
    };
    let mut command = Command::new(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/serve/clients.py"));
    Some(command.args(arguments).output().unwrap())
}
