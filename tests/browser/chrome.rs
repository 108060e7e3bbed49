//! Chromium over `--remote-debugging-pipe`: JSON on two pipes, each message ended by a NUL.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than any answer of the browser should take.
const ANSWER: Duration = Duration::from_secs(60);

/// A browser with a profile of its own; it ends when this is dropped.
#[derive(Clone)]
pub(crate) struct Chrome(Rc<RefCell<Pipe>>);

struct Pipe {
    child: Child,
    input: ChildStdin,
    output: Receiver<Value>,
    n_sent: u64,
    events: Vec<Value>,
    _profile: TempDir,
}

/// A tab of the browser.
pub(crate) struct Tab {
    chrome: Chrome,
    target: Value,
    session: String,
}

impl Chrome {
    pub(crate) fn start(program: &str) -> Chrome {
        let profile = tempfile::Builder::new().prefix("remindb-browser-").tempdir().unwrap();
        // Descriptors 3 and 4 are the two pipes; a shell is the simplest way to make them so.
        let line = "exec \"$0\" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
                    --no-first-run --disable-extensions --disable-background-networking \
                    --user-data-dir=\"$1\" --remote-debugging-pipe \
                    3<&0 4>&1 </dev/null >/dev/null 2>/dev/null";
        let mut child = Command::new("sh")
            .args(["-c", line, program])
            .arg(profile.path())
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, pipe) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, output) = channel();
        super::spawn(move || {
            let mut pipe = BufReader::new(pipe);
            loop {
                let mut message = Vec::new();
                let n = pipe.read_until(0, &mut message).unwrap_or(0);
                if n == 0 || message.pop() != Some(0) {
                    return;
                }
                if sender.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    return;
                }
            }
        });
        let pipe = Pipe { child, input, output, n_sent: 0, events: Vec::new(), _profile: profile };
        Chrome(Rc::new(RefCell::new(pipe)))
    }

    /// Opens a tab, which takes note of all that happens in it.
    pub(crate) fn tab(&self) -> Tab {
        self.tab_in(None)
    }

    /// Opens a tab without what other tabs stored.
    pub(crate) fn private_tab(&self) -> Tab {
        let context = self.call(None, "Target.createBrowserContext", json!({})).unwrap();
        self.tab_in(Some(context["browserContextId"].clone()))
    }

    fn tab_in(&self, context: Option<Value>) -> Tab {
        let mut asked = json!({"url": "about:blank"});
        if let Some(context) = context {
            asked["browserContextId"] = context;
        }
        let made = self.call(None, "Target.createTarget", asked).unwrap();
        let target = made["targetId"].clone();
        let attach = json!({"targetId": target, "flatten": true});
        let attached = self.call(None, "Target.attachToTarget", attach).unwrap();
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        let tab = Tab { chrome: self.clone(), target, session };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab
    }

    fn call(&self, session: Option<&str>, method: &str, params: Value) -> Result<Value, String> {
        let mut pipe = self.0.borrow_mut();
        pipe.n_sent += 1;
        let id = pipe.n_sent;
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        pipe.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let answer = pipe.output.recv_timeout(ANSWER);
            let answer = answer.unwrap_or_else(|_| panic!("no answer to {method}"));
            if answer["id"] != id {
                pipe.events.push(answer);
                continue;
            }
            return match answer.get("error") {
                Some(error) => Err(format!("{method}: {error}")),
                None => Ok(answer["result"].clone()),
            };
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let close = json!({"id": 0, "method": "Browser.close"});
        let _ = self.input.write_all(format!("{close}\0").as_bytes());
        while self.output.recv_timeout(Duration::from_secs(5)).is_ok() {}
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Tab {
    #[track_caller]
    pub(crate) fn call(&self, method: &str, params: Value) -> Value {
        self.chrome.call(Some(&self.session), method, params).unwrap()
    }

    /// Loads an address from nothing, so that a new part behind `#` is a new page, too.
    #[track_caller]
    pub(crate) fn open(&self, url: &str) {
        self.call("Page.navigate", json!({"url": "about:blank"}));
        self.call("Page.navigate", json!({"url": url}));
    }

    /// Returns the value of an expression, or of its promise.
    #[track_caller]
    pub(crate) fn value(&self, js: &str) -> Value {
        self.evaluate(js).unwrap()
    }

    fn evaluate(&self, js: &str) -> Result<Value, String> {
        let asked = json!({"expression": js, "awaitPromise": true, "returnByValue": true});
        let answer = self.chrome.call(Some(&self.session), "Runtime.evaluate", asked)?;
        match answer.get("exceptionDetails") {
            Some(thrown) => Err(format!("{js}: {thrown}")),
            None => Ok(answer["result"]["value"].clone()),
        }
    }

    /// Waits in the page until a condition holds.
    #[track_caller]
    pub(crate) fn until(&self, condition: &str) {
        // The page looks each few milliseconds; after a navigation the next page is asked.
        let js = format!(
            "new Promise((done) => {{
               const end = performance.now() + 15000;
               const look = () => {{
                 let is = false;
                 try {{ is = !!({condition}); }} catch {{ /* Not yet. */ }}
                 if (is || end < performance.now()) done(is); else setTimeout(look, 5);
               }};
               look();
             }})"
        );
        for _ in 0..20 {
            match self.evaluate(&js) {
                Ok(Value::Bool(true)) => return,
                Ok(_) => break,
                Err(_) => (),
            }
        }
        let shown = self.value("location.href + '\\n' + document.body.innerText.slice(0, 2000)");
        panic!("never: {condition}\n{}", shown.as_str().unwrap_or_default());
    }

    /// Presses a key; `text` is the letter that it types.
    pub(crate) fn key(&self, key: &str, text: &str) {
        for kind in ["keyDown", "keyUp"] {
            let mut pressed = json!({"type": kind, "key": key, "code": key});
            if let Some(code) = KEYS.iter().find(|(name, _)| *name == key) {
                pressed["windowsVirtualKeyCode"] = code.1.into();
            }
            if kind == "keyDown" && !text.is_empty() {
                pressed["text"] = text.into();
            }
            self.call("Input.dispatchKeyEvent", pressed);
        }
    }

    pub(crate) fn typed(&self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Shows the page in a size, light or dark.
    pub(crate) fn look(&self, scheme: &str, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1,
                          "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{"name": "prefers-color-scheme", "value": scheme},
                              {"name": "prefers-reduced-motion", "value": "reduce"}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Returns a PNG of what is seen.
    pub(crate) fn picture(&self) -> Vec<u8> {
        let shot = self.call("Page.captureScreenshot", json!({"format": "png"}));
        decoded(shot["data"].as_str().unwrap())
    }

    /// Returns the events of a kind so far.
    pub(crate) fn events(&self, method: &str) -> Vec<Value> {
        // A call returns after the events before it.
        self.call("Runtime.evaluate", json!({"expression": "0"}));
        let pipe = self.chrome.0.borrow();
        let is_ours = |it: &&Value| it["sessionId"] == self.session && it["method"] == method;
        pipe.events.iter().filter(is_ours).map(|it| it["params"].clone()).collect()
    }

    /// Returns errors, dialogs, and requests of other origins than `origin`.
    pub(crate) fn problems(&self, origin: &str) -> Vec<String> {
        let mut problems: Vec<String> = Vec::new();
        for kind in ["Runtime.exceptionThrown", "Page.javascriptDialogOpening"] {
            problems.extend(self.events(kind).iter().map(|it| format!("{kind}: {it}")));
        }
        let said = self.events("Runtime.consoleAPICalled");
        problems.extend(said.iter().map(|it| format!("console: {}", it["args"])));
        let logged = self.events("Log.entryAdded");
        problems.extend(logged.iter().map(|it| format!("log: {}", it["entry"]["text"])));
        for sent in self.events("Network.requestWillBeSent") {
            let url = sent["request"]["url"].as_str().unwrap_or_default().to_owned();
            if !url.starts_with(origin) && !url.starts_with("data:") && url != "about:blank" {
                problems.push(format!("request: {url}"));
            }
        }
        problems
    }

    pub(crate) fn close(&self) {
        let _ = self.chrome.call(None, "Target.closeTarget", json!({"targetId": self.target}));
    }
}

/// Keys whose default action depends on their number.
const KEYS: &[(&str, u32)] = &[
    ("Tab", 9),
    ("Enter", 13),
    ("Escape", 27),
    ("ArrowLeft", 37),
    ("ArrowUp", 38),
    ("ArrowRight", 39),
    ("ArrowDown", 40),
];

/// Decodes base64.
fn decoded(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |it: u8| ALPHABET.iter().position(|known| *known == it).map(|at| at as u32);
    let digits: Vec<u32> = text.bytes().filter_map(digit).collect();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let bits = group.iter().enumerate().fold(0, |bits, (i, it)| bits | it << (18 - 6 * i));
        bytes.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}
