use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::protocol::Connection;

/// Colour scheme that the reader prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    Light,
    Dark,
}

/// Page of the browser. The inspection script runs in every document before its own scripts.
pub(crate) struct Page {
    connection: Connection,
}

impl Page {
    pub(crate) fn open(mut connection: Connection, downloads: &Path) -> Self {
        let behaviour = json!({ "behavior": "allow", "downloadPath": downloads, "eventsEnabled": true });
        connection.call("Browser.setDownloadBehavior", &behaviour);
        let target = connection.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = connection.call("Target.attachToTarget", &attach);
        connection.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            connection.call(&format!("{domain}.enable"), &json!({}));
        }
        let script = json!({ "source": include_str!("inspect.js") });
        connection.call("Page.addScriptToEvaluateOnNewDocument", &script);
        Self { connection }
    }

    /// Loads a file at a width and theme, and waits until it is loaded.
    pub(crate) fn load(&mut self, file: &Path, width: u32, theme: Theme) {
        self.resize(width);
        self.prefer(theme);
        self.connection.events.clear();
        let answer =
            self.connection.call("Page.navigate", &json!({ "url": format!("file://{}", file.display()) }));
        assert!(answer.get("errorText").is_none(), "loading {}: {answer}", file.display());
        self.connection.wait_for("Page.loadEventFired");
    }

    pub(crate) fn resize(&mut self, width: u32) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.connection.call("Emulation.setDeviceMetricsOverride", &metrics);
    }

    pub(crate) fn prefer(&mut self, theme: Theme) {
        let value = if theme == Theme::Dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.connection.call("Emulation.setEmulatedMedia", &media);
    }

    /// Evaluates an expression, and waits for it if it is a promise.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let call = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true });
        let answer = self.connection.call("Runtime.evaluate", &call);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Script errors, console errors, browser warnings and external requests since the page was
    /// loaded.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        self.evaluate("0");
        self.connection.events.iter().filter_map(complaint).collect()
    }

    pub(crate) fn wait_for(&mut self, event: &str) {
        self.connection.wait_for(event);
    }

    /// Saves a screenshot of the whole page if `NANDLE_SCREENSHOTS` names a directory.
    pub(crate) fn screenshot(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("NANDLE_SCREENSHOTS") else { return };
        let picture =
            self.connection.call("Page.captureScreenshot", &json!({ "captureBeyondViewport": true }));
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), decoded(&picture)).unwrap();
    }

    /// Prints the page as PDF, and saves it if `NANDLE_SCREENSHOTS` names a directory.
    pub(crate) fn print(&mut self, name: &str) -> Vec<u8> {
        let print = json!({ "preferCSSPageSize": false, "paperWidth": 8.27, "paperHeight": 11.69, "printBackground": false });
        let pdf = decoded(&self.connection.call("Page.printToPDF", &print));
        if let Some(folder) = std::env::var_os("NANDLE_SCREENSHOTS") {
            std::fs::write(Path::new(&folder).join(format!("{name}.pdf")), &pdf).unwrap();
        }
        pdf
    }
}

fn decoded(answer: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(answer["data"].as_str().unwrap()).unwrap()
}

fn complaint(event: &Value) -> Option<String> {
    let parameters = &event["params"];
    match event["method"].as_str()? {
        "Runtime.exceptionThrown" => Some(format!("exception: {}", parameters["exceptionDetails"])),
        "Runtime.consoleAPICalled" if parameters["type"] == "error" => {
            Some(format!("console.error: {parameters}"))
        }
        "Log.entryAdded" if parameters["entry"]["level"] == "error" => {
            Some(format!("log: {}", parameters["entry"]))
        }
        "Network.requestWillBeSent" => {
            let url = parameters["request"]["url"].as_str()?;
            let inside = ["file:", "data:", "blob:"].iter().any(|scheme| url.starts_with(scheme));
            (!inside).then(|| format!("request to {url}"))
        }
        _ => None,
    }
}
