//! An HTTP client with one request per connection.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use crate::Outcome;

/// Timeout of the server's replies.
const PATIENCE: Duration = Duration::from_mins(2);

/// Resources that a page loads. Other names are links.
const LOADED: [&str; 3] = ["js", "css", "svg"];

pub(super) struct Client {
    pub(super) address: SocketAddr,
}

impl Client {
    /// Body at a path.
    pub(super) fn get(&self, path: &str) -> Outcome<String> {
        Ok(String::from_utf8(self.bytes(path, "identity")?)?)
    }

    /// Bytes of the page and its resources, recursively, compressed where the server does so.
    pub(super) fn page_bytes(&self) -> Outcome<usize> {
        let (mut known, mut left) = (BTreeSet::from(["/".to_owned()]), vec!["/".to_owned()]);
        let mut bytes = 0;
        while let Some(path) = left.pop() {
            bytes += self.bytes(&path, "gzip")?.len();
            let Ok(text) = self.get(&path) else { continue };
            left.extend(named(&text).filter(|path| known.insert(path.clone())));
        }
        Ok(bytes)
    }

    fn bytes(&self, path: &str, encoding: &str) -> Outcome<Vec<u8>> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        // A reply of version 1.0 is never chunked.
        write!(
            stream,
            "GET {path} HTTP/1.0\r\nHost: {}\r\nAccept-Encoding: {encoding}\r\n\r\n",
            self.address
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").ok_or("an answer without a head")?;
        let body = answer.split_off(end + 4);
        let head = String::from_utf8_lossy(&answer).into_owned();
        if head.split(' ').nth(1) != Some("200") {
            let body = String::from_utf8_lossy(&body).into_owned();
            return Err(format!("{path}: {}{body}", head.lines().next().unwrap_or_default()).into());
        }
        Ok(body)
    }
}

/// File names in quotes within a text.
fn named(text: &str) -> impl Iterator<Item = String> {
    let quoted = text.split('"').skip(1).step_by(2);
    let paths = quoted.filter_map(|name| match name.strip_prefix("./") {
        Some(module) => Some(format!("/assets/js/{module}")),
        None => name.starts_with("/assets/").then(|| name.to_owned()),
    });
    let is_loaded = |path: &String| {
        let extension = Path::new(path).extension().and_then(OsStr::to_str);
        extension.is_some_and(|extension| LOADED.contains(&extension))
    };
    paths.filter(is_loaded).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_text_names_are_found() {
        let text =
            r#"import { ask } from "./ask.js"; <link href="/assets/a.css"> "/assets/licence.txt" "else""#;
        assert_eq!(named(text).collect::<Vec<_>>(), ["/assets/js/ask.js", "/assets/a.css"]);
    }
}
