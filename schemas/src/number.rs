//! Whole numbers as JSON Schema understands them: `960.0` is the integer 960.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{self, Deserializer, Visitor};

/// Reads a whole number, whether it is written as an integer or with a zero fraction.
pub(crate) fn whole<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<i128>,
{
    deserializer.deserialize_any(Whole(PhantomData))
}

/// Like [`whole`], for a field that may be left out.
pub(crate) fn optional_whole<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<i128>,
{
    whole(deserializer).map(Some)
}

struct Whole<T>(PhantomData<T>);

impl<T: TryFrom<i128>> Whole<T> {
    fn convert<E: de::Error>(value: i128) -> Result<T, E> {
        T::try_from(value).map_err(|_| {
            let type_name = core::any::type_name::<T>();
            E::custom(format_args!("the number {value} is out of the range of the type {type_name}"))
        })
    }
}

impl<T: TryFrom<i128>> Visitor<'_> for Whole<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a whole number")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<T, E> {
        Self::convert(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<T, E> {
        Self::convert(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<T, E> {
        // A double represents every whole number up to 2^53 exactly.
        if value.trunc() == value && value.abs() <= 9_007_199_254_740_992.0 {
            Self::convert(value as i128)
        } else {
            Err(E::custom(format_args!("{value} is not a whole number from -2^53 to 2^53")))
        }
    }
}
