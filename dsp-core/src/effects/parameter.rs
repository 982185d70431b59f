//! The description of an effect's parameter.

/// A parameter of an effect. The page, projects and automation use this description.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Id in projects, for example `threshold_db`. It never changes.
    pub id: &'static str,
    /// Name for users, in English.
    pub name: &'static str,
    /// Unit of the parameter's values.
    pub unit: Unit,
    /// Lowest value, in the unit of the parameter.
    pub min: f64,
    /// Highest value, in the unit of the parameter.
    pub max: f64,
    /// Value of a new effect.
    pub default: f64,
    /// Mapping of the positions of a knob to the values.
    pub scale: Scale,
}

/// The unit of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Unit {
    /// A number without a unit.
    Number,
    /// Decibels.
    Decibels,
    /// Hertz.
    Hertz,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// A proportion, for example 1 for 100 %. The page shows it in per cent.
    #[cfg_attr(feature = "serde", serde(rename = "share"))]
    Proportion,
    /// A ratio to one, such as the ratio of a compressor: 4 is 4:1.
    Ratio,
    /// Quarter notes.
    Beats,
    /// Degrees of phase: 360 are a whole period.
    Degrees,
    /// Octaves.
    Octaves,
    /// Bits.
    Bits,
}

/// The mapping of the positions of a knob to the values of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal turns of the knob add equal amounts.
    Linear,
    /// Equal turns of the knob multiply by equal factors. The range is above 0.
    Logarithmic,
    /// One of some named values. The value is the index of the name.
    Choice(&'static [&'static str]),
    /// Off (0) or on (1).
    Switch,
}

impl Parameter {
    /// Creates a parameter on a linear scale.
    pub const fn linear(
        id: &'static str,
        name: &'static str,
        unit: Unit,
        [min, max]: [f64; 2],
        default: f64,
    ) -> Self {
        Self { id, name, unit, min, max, default, scale: Scale::Linear }
    }

    /// Creates a parameter on a logarithmic scale.
    pub const fn logarithmic(
        id: &'static str,
        name: &'static str,
        unit: Unit,
        range: [f64; 2],
        default: f64,
    ) -> Self {
        Self { scale: Scale::Logarithmic, ..Self::linear(id, name, unit, range, default) }
    }

    /// Creates a parameter with named values. `default` is an index of `choices`.
    pub const fn choice(
        id: &'static str,
        name: &'static str,
        choices: &'static [&'static str],
        default: usize,
    ) -> Self {
        let range = [0.0, (choices.len() - 1) as f64];
        Self { scale: Scale::Choice(choices), ..Self::linear(id, name, Unit::Number, range, default as f64) }
    }

    /// Creates a parameter that is off (0) or on (1). If its id ends in `_on`, the page shows it
    /// with the parameters whose ids begin like its own, such as `low_on` with `low_gain`.
    pub const fn switch(id: &'static str, name: &'static str, is_on_by_default: bool) -> Self {
        let default = if is_on_by_default { 1.0 } else { 0.0 };
        Self { scale: Scale::Switch, ..Self::linear(id, name, Unit::Number, [0.0, 1.0], default) }
    }

    /// Returns the nearest value that the parameter can have, or the default if `value` is NaN.
    pub fn clamp(&self, value: f64) -> f64 {
        if value.is_nan() {
            return self.default;
        }
        let value = value.clamp(self.min, self.max);
        match self.scale {
            Scale::Linear | Scale::Logarithmic => value,
            Scale::Choice(_) | Scale::Switch => libm::round(value),
        }
    }

    /// Whether the parameter is continuous and can ramp. Choices and switches are not continuous.
    pub fn is_continuous(&self) -> bool {
        matches!(self.scale, Scale::Linear | Scale::Logarithmic)
    }
}
