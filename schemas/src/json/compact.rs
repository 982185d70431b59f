//! Converts the output of any JSON reader to text, without building a tree of values.

use core::fmt;

use serde::Serialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// A visitor that appends the value it reads to a buffer, as JSON without whitespace.
pub(super) struct CompactWriter<'w>(pub(super) &'w mut Vec<u8>);

impl CompactWriter<'_> {
    fn scalar<E: de::Error>(self, value: impl Serialize) -> Result<(), E> {
        serde_json::to_writer(self.0, &value).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for CompactWriter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CompactWriter<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.scalar(())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.scalar(value)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.scalar(value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.scalar(value)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        self.scalar(value)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<(), E> {
        self.scalar(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let output = self.0;
        output.push(b'[');
        let mut is_first = true;
        loop {
            let entry_start = output.len();
            if !is_first {
                output.push(b',');
            }
            if list.next_element_seed(CompactWriter(output))?.is_none() {
                output.truncate(entry_start);
                break;
            }
            is_first = false;
        }
        output.push(b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let output = self.0;
        output.push(b'{');
        let mut is_first = true;
        loop {
            let entry_start = output.len();
            if !is_first {
                output.push(b',');
            }
            if map.next_key_seed(CompactWriter(output))?.is_none() {
                output.truncate(entry_start);
                break;
            }
            output.push(b':');
            map.next_value_seed(CompactWriter(output))?;
            is_first = false;
        }
        output.push(b'}');
        Ok(())
    }
}
