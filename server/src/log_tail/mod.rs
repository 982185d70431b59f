//! Keeps the last lines of the log in memory for administrators, without secrets.

mod redact;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use redact::RedactingWriter;
use redact::redact;
use serde_json::Value;
use tracing_subscriber::fmt::MakeWriter;

/// Maximum number of lines that are kept.
const LINES_MAX: usize = 1_000;

/// Maximum length of a kept line, in bytes. A longer line is replaced with its length.
const LINE_MAX_BYTES: usize = 8_192;

/// The last lines of the log. Each line is a JSON object. Clones share the lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogTail(Arc<Mutex<VecDeque<String>>>);

impl LogTail {
    /// Returns the log lines of this process. A process has only one log.
    pub(crate) fn of_process() -> Self {
        static TAIL: std::sync::LazyLock<LogTail> = std::sync::LazyLock::new(LogTail::default);
        TAIL.clone()
    }

    /// Returns the newest lines for which `is_match` returns true, at most `limit`, the oldest
    /// first.
    pub(crate) fn newest(&self, limit: usize, is_match: impl Fn(&Value) -> bool) -> Vec<Value> {
        let log_lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let parsed_lines = log_lines.iter().rev().filter_map(|log_line| serde_json::from_str(log_line).ok());
        let mut newest_lines: Vec<Value> = parsed_lines.filter(is_match).take(limit).collect();
        newest_lines.reverse();
        newest_lines
    }

    fn push(&self, log_line: &str) {
        let log_line = match log_line.len() {
            0..=LINE_MAX_BYTES => redact(log_line.trim_end()).into_owned(),
            line_bytes => {
                serde_json::json!({ "message": format!("(omitted: a log line of {line_bytes} bytes)") })
                    .to_string()
            }
        };
        let mut log_lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if log_lines.len() == LINES_MAX {
            log_lines.pop_front();
        }
        log_lines.push_back(log_line);
    }
}

/// Adds each written text as one line, because the log writes each line with one call.
impl Write for LogTail {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogTail {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_lines_are_kept_without_secrets() {
        let mut tail = LogTail::default();
        for number in 0..LINES_MAX + 5 {
            tail.write_all(format!("{{\"number\":{number}}}\n").as_bytes()).expect("adds the line");
        }
        let all_lines = tail.newest(usize::MAX, |_| true);
        assert_eq!((all_lines.len(), &all_lines[0]["number"]), (LINES_MAX, &Value::from(5)));
        let even = tail.newest(2, |line| line["number"].as_u64().is_some_and(|number| number % 2 == 0));
        assert_eq!(
            even.iter().map(|line| line["number"].as_u64().unwrap()).collect::<Vec<_>>(),
            [1002, 1004]
        );

        tail.write_all(b"{\"message\":\"came with Bearer abc.def\"}\n").expect("adds the line");
        tail.write_all("x".repeat(LINE_MAX_BYTES + 1).as_bytes()).expect("adds the line");
        let last = tail.newest(2, |_| true);
        assert_eq!(last[0]["message"], "came with Bearer (hidden)");
        assert_eq!(last[1]["message"], "(omitted: a log line of 8193 bytes)");
    }

    #[test]
    fn logged_lines_are_kept() {
        use tracing_subscriber::prelude::*;
        let tail = LogTail::default();
        let layer = tracing_subscriber::fmt::layer().json().flatten_event(true).with_writer(tail.clone());
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(song = "one", "GET /x?token=hunter2&a=b");
        });
        let lines = tail.newest(10, |_| true);
        assert_eq!((&lines[0]["level"], &lines[0]["song"]), (&"WARN".into(), &"one".into()));
        assert_eq!(lines[0]["message"], "GET /x?token=(hidden)&a=b");
    }
}
