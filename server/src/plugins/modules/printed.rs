//! Reads what a module prints, and recognizes why it fails.

use std::io::Read;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Number of bytes at the end of the text that are kept.
const KEPT_BYTES: usize = 4096;

/// Maximum length of a quotation of the text, in characters.
const QUOTED_MAX_CHARS: usize = 200;

/// Maximum time to wait for the last text of a module that has ended.
const LAST_TEXT_TIMEOUT: Duration = Duration::from_millis(500);

/// Parts of messages, in lower case, of modules that need a display, such as those of GTK and Qt.
const NEEDS_DISPLAY: &[&str] = &[
    "cannot open display",
    "can't open display",
    "could not open display",
    "unable to open display",
    "could not connect to display",
    "failed to open display",
];

/// Parts of messages, in lower case, of modules that need an activation.
const NEEDS_ACTIVATION: &[&str] =
    &["activat", "license", "licence", "dongle", "ilok", "not authorized", "not authorised", "unregistered"];

/// The text that a module prints. A thread reads it until the pipe closes.
pub(super) struct Printed {
    last_bytes: Arc<Mutex<Vec<u8>>>,
    /// Closes when the pipe does.
    closed: Receiver<()>,
}

impl Printed {
    /// Starts to read `pipe`. The thread is not joined, because a process that the module started
    /// may keep the pipe open.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub(super) fn read(pipe: Option<impl Read + Send + 'static>) -> std::io::Result<Self> {
        let last_bytes = Arc::new(Mutex::new(Vec::new()));
        let (sender, closed) = mpsc::channel();
        let kept_bytes = Arc::clone(&last_bytes);
        std::thread::Builder::new().name("plugin-print".to_owned()).spawn(move || {
            let _closes_with_the_pipe = sender;
            let Some(mut pipe) = pipe else { return };
            let mut buffer = [0; KEPT_BYTES];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                let mut kept_bytes = kept_bytes.lock().unwrap_or_else(PoisonError::into_inner);
                kept_bytes.extend_from_slice(&buffer[..count]);
                let surplus = kept_bytes.len().saturating_sub(KEPT_BYTES);
                kept_bytes.drain(..surplus);
            }
        })?;
        Ok(Self { last_bytes, closed })
    }

    /// Returns the reason why the module fails, if its text contains one. Waits at most
    /// [`LAST_TEXT_TIMEOUT`] for the last text.
    pub(super) fn cause(&self) -> Option<String> {
        let _ = self.closed.recv_timeout(LAST_TEXT_TIMEOUT);
        let last_bytes = self.last_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        cause_in(&String::from_utf8_lossy(&last_bytes))
    }
}

/// Returns the cause that the last line with a known message contains.
fn cause_in(text: &str) -> Option<String> {
    text.lines().rev().find_map(|line| {
        let lower = line.to_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
        let need = match () {
            () if has(NEEDS_DISPLAY) => "a display, which the scan does not have",
            () if has(NEEDS_ACTIVATION) => "an activation or a licence",
            () => return None,
        };
        let quoted: String =
            line.trim().chars().filter(|character| !character.is_control()).take(QUOTED_MAX_CHARS).collect();
        Some(format!("it seems to need {need}: it printed \"{quoted}\""))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &'static str, expected: Option<&str>) {
        let printed_text = Printed::read(Some(text.as_bytes())).expect("starts");
        assert_eq!(printed_text.cause().as_deref(), expected, "{text}");
    }

    #[test]
    fn a_missing_display_or_activation_is_recognized() {
        check(
            "Loading\nGtk-WARNING: cannot open display: \n",
            Some(
                "it seems to need a display, which the scan does not have: it printed \"Gtk-WARNING: cannot open \
                 display:\"",
            ),
        );
        check(
            "Foo: License not found\nbye",
            Some("it seems to need an activation or a licence: it printed \"Foo: License not found\""),
        );
        check("Display size 640\n", None);
        check("", None);
    }
}
