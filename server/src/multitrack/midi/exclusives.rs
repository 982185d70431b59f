//! System exclusive messages of an imported file. They are stored in the project, and its export
//! contains them.
//!
//! The project's field `midi_exclusives`, which is not in the schema, contains the messages. Each
//! message has `tick`, `data` (hexadecimal, without the first byte), `port` if above 0, and
//! `escape` for raw data.

use schemas::Project;
use schemas::json::View;
use schemas::limits::MAX_TICK;
use serde_json::json;

/// Field of a project that contains its system exclusive messages.
const EXCLUSIVES_FIELD: &str = "midi_exclusives";

/// Maximum total size of the messages of a project, in bytes. The largest known files have a few
/// thousand bytes.
pub(super) const MAX_BYTES: usize = 256 * 1024;

/// Maximum number of messages in a project.
pub(super) const MAX_MESSAGES: usize = 10_000;

/// Number of ports that the port meta event can name.
const PORT_COUNT: u64 = 128;

/// A system exclusive message of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SystemExclusive {
    /// Position from the start of the project, in 960ths of a quarter note.
    pub(super) tick: u32,
    /// MIDI port, 0 to 127.
    pub(super) port: u8,
    /// Whether the data is sent without a preceding 0xf0.
    pub(super) is_escape: bool,
    /// All bytes after the first.
    pub(super) bytes: Vec<u8>,
}

/// Stores the messages in the project's field.
pub(super) fn store(project: &mut Project, exclusives: &[SystemExclusive]) {
    if exclusives.is_empty() {
        return;
    }
    let entry = |exclusive: &SystemExclusive| {
        let hex_data: String = exclusive.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut entry = json!({"tick": exclusive.tick, "data": hex_data});
        if exclusive.port > 0 {
            entry["port"] = exclusive.port.into();
        }
        if exclusive.is_escape {
            entry["escape"] = true.into();
        }
        entry
    };
    project.extra.insert(EXCLUSIVES_FIELD, exclusives.iter().map(entry).collect());
}

/// Loads the messages from a project document. Skips invalid entries, because the schema does not
/// check the field.
pub(super) fn load(document: View<'_>) -> Vec<SystemExclusive> {
    let mut total_bytes = 0;
    let mut exclusives = Vec::new();
    for entry in document.list(EXCLUSIVES_FIELD).take(MAX_MESSAGES) {
        let Some(exclusive) = parse(entry) else { continue };
        total_bytes += exclusive.bytes.len();
        if total_bytes > MAX_BYTES {
            break;
        }
        exclusives.push(exclusive);
    }
    exclusives
}

fn parse(entry: View<'_>) -> Option<SystemExclusive> {
    let number = |view: View<'_>| view.as_json().parse::<u64>().ok();
    let tick = entry.get("tick").and_then(number).filter(|tick| *tick <= u64::from(MAX_TICK))?;
    let hex_data = entry.text("data").filter(|hex_data| hex_data.len() <= 2 * MAX_BYTES)?;
    let (pairs, []) = hex_data.as_bytes().as_chunks::<2>() else { return None };
    let digit = |letter: u8| char::from(letter).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| Some((digit(*high)? * 16 + digit(*low)?) as u8);
    let port = entry.get("port").map_or(Some(0), number).filter(|port| *port < PORT_COUNT)?;
    Some(SystemExclusive {
        tick: tick as u32,
        port: port as u8,
        is_escape: entry.get("escape").is_some_and(|escape| escape.as_json() == "true"),
        bytes: pairs.iter().map(byte).collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use schemas::json::JsonText;
    use serde_json::Value;

    use super::*;

    fn reload(project: &Project) -> Vec<SystemExclusive> {
        load(JsonText::of_value(&serde_json::to_value(project).expect("JSON")).view())
    }

    #[test]
    fn stored_messages_are_loaded_unchanged() {
        let exclusive = |tick, port, escape, data: &[u8]| SystemExclusive {
            tick,
            port,
            is_escape: escape,
            bytes: data.into(),
        };
        let exclusives = [exclusive(0, 0, false, &[0x7e, 0xf7]), exclusive(MAX_TICK, 127, true, &[0, 255])];
        let mut project = Project::new("p", "P");
        store(&mut project, &[]);
        assert!(project.extra.is_empty());
        store(&mut project, &exclusives);
        assert_eq!(reload(&project), exclusives);
    }

    #[test]
    fn invalid_entries_are_skipped() {
        let mut project = Project::new("p", "P");
        assert_eq!(reload(&project), []);
        let good = json!({"tick": 1, "data": "7ef7"});
        project.extra.insert(
            EXCLUSIVES_FIELD,
            json!([5, {"tick": -1, "data": ""}, {"tick": 1, "data": "7"}, {"tick": 1, "data": "zz"},
                   {"tick": 1, "data": "é"}, {"tick": 1_000_000_001, "data": ""}, {"tick": 1},
                   {"tick": 1, "data": "00", "port": 128}, good]),
        );
        assert_eq!(reload(&project).len(), 1);
        project.extra.insert(EXCLUSIVES_FIELD, "no list".into());
        assert_eq!(reload(&project), []);
        let many_exclusives: Value = (0..MAX_BYTES + 5).map(|_| json!({"tick": 0, "data": "00"})).collect();
        project.extra.insert(EXCLUSIVES_FIELD, many_exclusives);
        assert_eq!(reload(&project).len(), MAX_MESSAGES);
    }
}
