//! Chromium, driven over two pipes: each message is JSON that ends with a NUL.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::support::spawn;

/// Time in which a browser does anything.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with its events so far.
pub(super) struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    last_id: u64,
    events: Vec<Value>,
    _profile: TempDir,
}

/// Returns the program, if there is one; says what is left out where there is none.
pub(super) fn program() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let known = ["chromium", "chromium-browser", "google-chrome"];
    let mut found = std::env::split_paths(&path)
        .flat_map(|folder| known.map(|name| folder.join(name)))
        .filter(|it| it.is_file());
    let program = named.or_else(|| found.next());
    if program.is_none() {
        assert!(std::env::var_os("BROWSER_REQUIRED").is_none(), "no Chromium is in PATH");
        eprintln!("left out: no Chromium is in PATH; `make browser` installs one");
    }
    program
}

impl Browser {
    /// Starts a browser, if there is one.
    pub(super) fn start() -> Option<Browser> {
        let profile = tempfile::tempdir().unwrap();
        let run = "exec \"$0\" --headless --no-sandbox --disable-gpu --no-first-run \
                   --disable-dev-shm-usage --disable-background-networking --force-color-profile=srgb \
                   --user-data-dir=\"$1\" --remote-debugging-pipe 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut child = Command::new("sh")
            .args(["-c", run])
            .arg(program()?)
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (tell, messages) = channel();
        spawn(move || {
            let mut output = BufReader::new(output);
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|it| 0 < it) {
                message.pop();
                if tell.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let events = Vec::new();
        Some(Browser { child, input, messages, last_id: 0, events, _profile: profile })
    }

    fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.input.write_all(message.to_string().as_bytes()).unwrap();
        self.input.write_all(&[0]).unwrap();
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect(method);
            if message["id"] == self.last_id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// Opens a tab at an address.
    pub(super) fn open(&mut self, address: &str) -> Tab {
        let target = self.call(None, "Target.createTarget", json!({"url": "about:blank"}));
        let params = json!({"targetId": target["targetId"], "flatten": true});
        let attached = self.call(None, "Target.attachToTarget", params);
        let tab = Tab { session: attached["sessionId"].as_str().unwrap().to_owned() };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(self, &format!("{domain}.enable"), json!({}));
        }
        tab.call(self, "Page.navigate", json!({"url": address}));
        tab
    }

    /// Returns what a page must not do: errors, dialogs, and requests beyond its origin.
    pub(super) fn complaints(&self, origin: &str) -> Vec<String> {
        let complaint = |it: &Value| {
            let params = &it["params"];
            let is_bad = match it["method"].as_str()? {
                "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => true,
                "Runtime.consoleAPICalled" => params["type"] == "error",
                "Log.entryAdded" => params["entry"]["level"] == "error",
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str()?;
                    !url.starts_with(origin) && !url.starts_with("data:,")
                }
                "Page.frameNavigated" => {
                    let url = params["frame"]["url"].as_str()?;
                    !url.starts_with(origin) && url != "about:blank"
                }
                _ => false,
            };
            is_bad.then(|| it.to_string())
        };
        self.events.iter().filter_map(complaint).collect()
    }

    /// Forgets what happened so far.
    pub(super) fn forget_events(&mut self) {
        self.events.clear();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A tab of a browser.
pub(super) struct Tab {
    session: String,
}

impl Tab {
    pub(super) fn call(&self, browser: &mut Browser, method: &str, params: Value) -> Value {
        browser.call(Some(&self.session), method, params)
    }

    /// Returns the value of an expression; a promise is awaited.
    #[track_caller]
    pub(super) fn eval(&self, browser: &mut Browser, script: &str) -> Value {
        let params = json!({"expression": script, "awaitPromise": true, "returnByValue": true});
        let answer = self.call(browser, "Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{script}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true, and returns how many milliseconds it took.
    #[track_caller]
    pub(super) fn until(&self, browser: &mut Browser, condition: &str) -> f64 {
        let script = format!(
            "new Promise((resolve) => {{
                const begun = performance.now();
                const look = () => {{
                    let is = false;
                    try {{ is = !!({condition}); }} catch {{}}
                    const took = performance.now() - begun;
                    if (is || took > 60000) resolve(is ? took : -1);
                    else setTimeout(look, 10);
                }};
                look();
            }})"
        );
        let took = self.eval(browser, &script).as_f64().unwrap_or(-1.0);
        let text = if took < 0.0 { self.text(browser) } else { String::new() };
        assert!(0.0 <= took, "never: {condition}\n{text}");
        took
    }

    /// Returns all that a person can read.
    pub(super) fn text(&self, browser: &mut Browser) -> String {
        let text = self.eval(browser, "document.body.innerText");
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Goes to a view, and waits until it is shown.
    #[track_caller]
    pub(super) fn show(&self, browser: &mut Browser, place: &str) {
        let name = place.split('/').next().unwrap();
        let go = format!(
            "delete document.body.dataset.shown;
             if (location.hash === '#{place}') dispatchEvent(new HashChangeEvent('hashchange'));
             else location.hash = '#{place}';"
        );
        self.eval(browser, &go);
        self.until(browser, &format!("document.body.dataset.shown === '{name}'"));
    }

    /// Sets the size of the window and the colours that the reader wishes.
    pub(super) fn look(&self, browser: &mut Browser, scheme: &str, width: u32) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call(browser, "Emulation.setDeviceMetricsOverride", size);
        let features = json!([{"name": "prefers-color-scheme", "value": scheme},
                              {"name": "prefers-reduced-motion", "value": "reduce"}]);
        self.call(browser, "Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Presses a key.
    pub(super) fn press(&self, browser: &mut Browser, key: &str) {
        let text = match key {
            "Enter" => Some("\r"),
            it if it.chars().count() == 1 => Some(it),
            _ => None,
        };
        let code = match key {
            "Enter" => 13,
            "Tab" => 9,
            "Escape" => 27,
            _ => 0,
        };
        for kind in ["keyDown", "keyUp"] {
            let mut params = json!({"type": kind, "key": key, "windowsVirtualKeyCode": code});
            if let Some(text) = text.filter(|_| kind == "keyDown") {
                params["text"] = text.into();
            }
            self.call(browser, "Input.dispatchKeyEvent", params);
        }
    }

    /// Types a text where the focus is.
    pub(super) fn write(&self, browser: &mut Browser, text: &str) {
        self.call(browser, "Input.insertText", json!({"text": text}));
    }

    /// Takes a picture.
    pub(super) fn picture(&self, browser: &mut Browser, path: &Path) {
        let shot = self.call(browser, "Page.captureScreenshot", json!({"format": "png"}));
        std::fs::write(path, decoded(shot["data"].as_str().unwrap())).unwrap();
    }
}

/// Decodes Base64 (RFC 4648, section 4).
fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|it| DIGITS.iter().position(|digit| *digit == it));
    let (mut bytes, mut bits, mut n_bits) = (Vec::new(), 0_usize, 0);
    for digit in digits {
        bits = bits << 6 | digit;
        n_bits += 6;
        if 8 <= n_bits {
            n_bits -= 8;
            bytes.push((bits >> n_bits & 255) as u8);
        }
    }
    bytes
}
