//! Counts the values in JSON without storing them.

use core::cell::Cell;
use core::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// Counts the values, without the names of fields, and stops when there are more than `max`.
/// Returns `None` if the JSON is malformed.
pub(super) fn count_values(bytes: &[u8], max: usize) -> Option<usize> {
    let count = Cell::new(0);
    let counter = Counter { count: &count, max };
    let outcome = counter.deserialize(&mut serde_json::Deserializer::from_slice(bytes));
    (outcome.is_ok() || count.get() > max).then(|| count.get())
}

#[derive(Clone, Copy)]
struct Counter<'c> {
    count: &'c Cell<usize>,
    max: usize,
}

impl Counter<'_> {
    fn add<E: de::Error>(self) -> Result<(), E> {
        self.count.set(self.count.get() + 1);
        if self.count.get() > self.max { Err(E::custom("too many values")) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for Counter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counter<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.add()
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        self.add()
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        self.add()
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        self.add()
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        self.add()
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        self.add()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.add()?;
        while list.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.add()?;
        while map.next_key::<de::IgnoredAny>()?.is_some() {
            map.next_value_seed(self)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::count_values;

    #[test]
    fn values_are_counted_up_to_the_limit() {
        for (text, expected) in [
            ("7", Some(1)),
            ("[]", Some(1)),
            (r#"{"a":[1,2],"b":null}"#, Some(5)),
            ("[1,2", None),
            ("", None),
        ] {
            assert_eq!(count_values(text.as_bytes(), 10), expected, "{text}");
        }
        let many_values = format!("[{}0]", "0,".repeat(1_000_000));
        assert_eq!(count_values(many_values.as_bytes(), 100), Some(101));
    }
}
