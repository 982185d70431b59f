//! Fields that this version does not define.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The fields of an object that this version does not define. They are kept, so that they survive
/// reading and writing. An empty `Extra` has the size of one pointer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extra(Option<Box<Map<String, Value>>>);

impl Extra {
    /// Returns the value of an unknown field; `None` if the object has no such field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.as_deref()?.get(name)
    }

    /// Sets an unknown field.
    pub fn insert(&mut self, name: impl Into<String>, value: Value) {
        self.0.get_or_insert_default().insert(name.into(), value);
    }

    /// Whether there are no unknown fields.
    pub fn is_empty(&self) -> bool {
        self.0.as_deref().is_none_or(Map::is_empty)
    }
}

impl<'de> Deserialize<'de> for Extra {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::deserialize(deserializer)?;
        Ok(Self((!map.is_empty()).then(|| Box::new(map))))
    }
}

impl Serialize for Extra {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_deref() {
            Some(map) => map.serialize(serializer),
            None => Map::new().serialize(serializer),
        }
    }
}
