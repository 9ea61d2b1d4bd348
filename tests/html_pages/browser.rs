//! A headless Chromium over the DevTools protocol, through the pipe that it offers: no port, no second program, and it ends
//! when the pipe does.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Longest wait for an answer or an event; a loaded machine takes its time to start a browser.
const PATIENCE: Duration = Duration::from_secs(60);

/// Names that the browser goes by.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A running browser; ended when dropped.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    last_id: u64,
    /// What happened that was not an answer.
    events: Vec<Value>,
    _profile: TempDir,
}

/// A tab.
pub struct Tab<'a> {
    browser: &'a mut Browser,
    session: String,
}

/// How a page is to be shown.
#[derive(Clone, Copy)]
pub struct Screen {
    pub width: u32,
    pub is_dark: bool,
}

fn installed() -> &'static str {
    let runs = |name: &&str| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    NAMES.iter().find(|name| runs(name)).unwrap_or_else(|| {
        panic!(
            "the pages are looked at in Chromium, and none of {NAMES:?} runs here: install it, on Debian or Ubuntu with \
             `apt-get install chromium`"
        )
    })
}

impl Browser {
    pub fn start() -> Self {
        let profile = tempfile::tempdir().expect("a scratch folder");
        // The protocol speaks on descriptors 3 and 4. A root user, as in a container, has no sandbox.
        let script = format!(
            "exec {} --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run \
             --user-data-dir=\"$0\" --remote-debugging-pipe about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1",
            installed()
        );
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh runs");
        let input = child.stdin.take().expect("standard input is piped");
        let mut output = BufReader::new(child.stdout.take().expect("standard output is piped"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop();
                let value = serde_json::from_slice(&message).expect("the browser speaks JSON");
                if sender.send(value).is_err() {
                    return;
                }
                message.clear();
            }
        });
        Self { child, input, messages, last_id: 0, events: Vec::new(), _profile: profile }
    }

    fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).expect("the browser listens");
        let deadline = Instant::now() + PATIENCE;
        loop {
            let message = self.next(deadline, method);
            if message["id"] == id {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn next(&mut self, deadline: Instant, waited_for: &str) -> Value {
        let left = deadline.saturating_duration_since(Instant::now());
        self.messages
            .recv_timeout(left)
            .unwrap_or_else(|error| panic!("the browser does not come to `{waited_for}`: {error}"))
    }

    /// A new tab that shows `page`, loaded whole.
    pub fn open(&mut self, page: &Path, screen: Screen) -> Tab<'_> {
        let target = self.call(None, "Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = self.call(None, "Target.attachToTarget", attach);
        let session = attached["sessionId"].as_str().expect("a session has an id").to_owned();
        let mut tab = Tab { browser: self, session };
        for domain in ["Page", "Runtime", "Log", "Network", "Audits"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab.show_on(screen);
        tab.browser.events.clear();
        tab.call("Page.navigate", json!({ "url": format!("file://{}", page.display()) }));
        tab.wait_for("Page.loadEventFired");
        tab
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Tab<'_> {
    fn call(&mut self, method: &str, params: Value) -> Value {
        let session = self.session.clone();
        self.browser.call(Some(&session), method, params)
    }

    fn wait_for(&mut self, event: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.browser.events.iter().any(|seen| seen["method"] == event) {
            let message = self.browser.next(deadline, event);
            self.browser.events.push(message);
        }
    }

    /// Another width, another colour scheme.
    pub fn show_on(&mut self, screen: Screen) {
        let metrics = json!({
            "width": screen.width, "height": 800, "deviceScaleFactor": 1, "mobile": screen.width < 600
        });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = if screen.is_dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// As the page is styled for paper.
    pub fn emulate_print(&mut self) {
        self.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    }

    /// The value of a JavaScript expression.
    pub fn value(&mut self, expression: &str) -> Value {
        let evaluated =
            self.call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true }));
        assert!(evaluated.get("exceptionDetails").is_none(), "{expression}: {evaluated}");
        evaluated["result"]["value"].clone()
    }

    /// The whole page as a PNG.
    pub fn screenshot(&mut self) -> Vec<u8> {
        let whole = json!({ "format": "png", "captureBeyondViewport": true });
        decoded(&self.call("Page.captureScreenshot", whole)["data"])
    }

    /// The page as it is printed on A4, as a PDF.
    pub fn printed(&mut self) -> Vec<u8> {
        let paper = json!({ "paperWidth": 8.27, "paperHeight": 11.69, "printBackground": false });
        decoded(&self.call("Page.printToPDF", paper)["data"])
    }

    /// What the page complained of: exceptions, console messages, log entries such as blocked styles, audit issues.
    pub fn complaints(&self) -> Vec<&Value> {
        let kinds =
            ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Audits.issueAdded"];
        self.of(&kinds)
    }

    /// Addresses that were asked for.
    pub fn requests(&self) -> Vec<&str> {
        let events = self.of(&["Network.requestWillBeSent"]);
        events.iter().filter_map(|event| event["params"]["request"]["url"].as_str()).collect()
    }

    fn of(&self, methods: &[&str]) -> Vec<&Value> {
        let is_one = |event: &&Value| methods.iter().any(|method| event["method"] == *method);
        self.browser.events.iter().filter(is_one).collect()
    }
}

fn decoded(data: &Value) -> Vec<u8> {
    let text = data.as_str().expect("data come as text");
    base64::engine::general_purpose::STANDARD.decode(text).expect("data are base64")
}
