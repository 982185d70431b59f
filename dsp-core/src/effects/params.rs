//! Declaration of parameters and of their named values.
//!
//! [`parameters!`] declares all parameters of an effect as an enum, and generates the table of
//! [`EffectKind::parameters`](super::effect::EffectKind::parameters) from it. [`choices!`] declares
//! the named values of one parameter. Effects match on the variants. The compiler thus reports
//! every `match` that lacks a new variant.

use super::parameter::Parameter;

/// The parameters of an effect, in the order of their indices. [`parameters!`] implements it.
pub(crate) trait ParameterEnum: Copy + PartialEq + 'static {
    /// All parameters, in the order of their indices.
    const ALL: &'static [Self];
    /// Descriptions of the parameters, in the same order.
    const TABLE: &'static [Parameter];
    /// Number of parameters.
    const COUNT: usize = Self::ALL.len();

    /// Returns the index of the parameter.
    fn index(self) -> usize;

    /// Returns the parameter with an index, or `None` if there is none.
    fn from_index(index: usize) -> Option<Self> {
        Self::ALL.get(index).copied()
    }

    /// Returns the value of the parameter in a new effect.
    fn default_value(self) -> f64 {
        Self::TABLE[self.index()].default
    }
}

/// The named values of a parameter, in the order of their indices. [`choices!`] implements it.
pub(crate) trait ChoiceEnum: Copy + 'static {
    /// All choices, in the order of their indices.
    const ALL: &'static [Self];

    /// Returns the choice for a parameter's value. [`Parameter::clamp`] has already limited the
    /// value.
    fn from_value(value: f64) -> Self {
        Self::ALL[(value as usize).min(Self::ALL.len() - 1)]
    }
}

/// Declares the parameters of an effect: an enum that implements [`ParameterEnum`].
///
/// Each variant is followed by a constructor of [`Parameter`]: `linear`, `logarithmic`, `choice` or
/// `switch`, with its arguments. The order of the variants is the order of the indices.
///
/// ```ignore
/// parameters! {
///     enum GainParam {
///         /// Gain in decibels.
///         GainDb = linear("gain_db", "Gain", Unit::Decibels, [-144.0, 36.0], 0.0),
///         /// Whether the left channel is inverted.
///         InvertLeft = switch("invert_left", "Invert left", false),
///     }
/// }
/// ```
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $constructor:ident($($argument:expr),+ $(,)?),)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visibility enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $crate::effects::params::ParameterEnum for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),+];
            const TABLE: &'static [$crate::effects::parameter::Parameter] =
                &[$($crate::effects::parameter::Parameter::$constructor($($argument),+)),+];

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

/// Declares the named values of a parameter: an enum that implements [`ChoiceEnum`], with the names
/// in its constant `NAMES`.
///
/// ```ignore
/// choices! {
///     enum Mode { Stereo = "Stereo", PingPong = "Ping-pong" }
/// }
/// ```
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $text:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visibility enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            $visibility const NAMES: &'static [&'static str] = &[$($text),+];
        }

        impl $crate::effects::params::ChoiceEnum for $name {
            const ALL: &'static [Self] = &[$(Self::$variant),+];
        }
    };
}

pub(crate) use choices;
pub(crate) use parameters;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::parameter::Unit;

    choices! {
        enum Slope { Flat = "Flat", Steep = "Steep" }
    }

    parameters! {
        enum TestParam {
            GainDb = linear("gain_db", "Gain", Unit::Decibels, [-12.0, 12.0], 1.5),
            Slope = choice("slope", "Slope", Slope::NAMES, Slope::Steep as usize),
        }
    }

    #[test]
    fn indices_and_tables_match_the_order_of_the_declaration() {
        assert_eq!(TestParam::COUNT, 2);
        assert_eq!(TestParam::from_index(1), Some(TestParam::Slope));
        assert_eq!(TestParam::from_index(2), None);
        assert_eq!(TestParam::Slope.index(), 1);
        assert_eq!(TestParam::GainDb.default_value(), 1.5);
        assert_eq!(TestParam::Slope.default_value(), 1.0);
        assert_eq!(TestParam::TABLE[1].id, "slope");
    }

    #[test]
    fn a_value_above_the_last_index_selects_the_last_choice() {
        assert_eq!(Slope::from_value(0.0), Slope::Flat);
        assert_eq!(Slope::from_value(9.0), Slope::Steep);
    }
}
