use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// Connection to the browser: commands with their responses, and the events received meanwhile.
pub(crate) struct Connection {
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    last_id: u64,
    pub(crate) session: Option<String>,
    pub(crate) events: Vec<Value>,
}

impl Connection {
    pub(crate) fn open(endpoint: &str) -> Self {
        let (socket, _) = tungstenite::connect(endpoint).expect("connecting to the browser");
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        }
        Self { socket, last_id: 0, session: None, events: Vec::new() }
    }

    /// Sends a command and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last_id += 1;
        let mut command = json!({ "id": self.last_id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = session.clone().into();
        }
        self.socket.send(Message::text(command.to_string())).unwrap();
        loop {
            let message = self.receive(method);
            if message["id"] == self.last_id {
                assert!(message.get("error").is_none(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// Waits for an event received since the events were last cleared.
    pub(crate) fn wait_for(&mut self, event: &str) {
        while !self.events.iter().any(|message| message["method"] == event) {
            let message = self.receive(event);
            self.events.push(message);
        }
    }

    fn receive(&mut self, what: &str) -> Value {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => return serde_json::from_str(&text).unwrap(),
                Ok(_) => {}
                Err(error) => panic!("waiting for the browser's {what}: {error}"),
            }
        }
    }
}
