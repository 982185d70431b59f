//! What can be set on an effect.

/// A parameter of an effect. Everything that shows, stores or automates it goes by this.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name in projects, unit included; never changes.
    pub id: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// What its value counts.
    pub unit: Unit,
    /// Lowest value.
    pub min: f64,
    /// Highest value.
    pub max: f64,
    /// Value of a new effect.
    pub default: f64,
    /// How a knob divides the range.
    pub scale: Scale,
}

/// What the value of a parameter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Unit {
    /// A bare number.
    Number,
    /// Decibels.
    Decibels,
    /// Hertz.
    Hertz,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// 1 is the whole; shown as per cent.
    Share,
    /// So many to one.
    Ratio,
    /// Quarter notes.
    Beats,
    /// Degrees of a turn.
    Degrees,
    /// Octaves.
    Octaves,
    /// Bits.
    Bits,
}

/// How a knob divides a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal turns add equal amounts.
    Linear,
    /// Equal turns multiply by equal factors; the range is above 0.
    Logarithmic,
    /// One of some named values, counted from 0.
    Choice(&'static [&'static str]),
    /// Off (0) or on (1).
    Switch,
}

impl Parameter {
    /// A parameter on a linear scale.
    pub const fn linear(
        id: &'static str,
        name: &'static str,
        unit: Unit,
        [min, max]: [f64; 2],
        default: f64,
    ) -> Self {
        Self { id, name, unit, min, max, default, scale: Scale::Linear }
    }

    /// A parameter on a logarithmic scale.
    pub const fn logarithmic(
        id: &'static str,
        name: &'static str,
        unit: Unit,
        range: [f64; 2],
        default: f64,
    ) -> Self {
        Self { scale: Scale::Logarithmic, ..Self::linear(id, name, unit, range, default) }
    }

    /// A parameter that is one of some named values, the default by its place among them.
    pub const fn choice(
        id: &'static str,
        name: &'static str,
        choices: &'static [&'static str],
        default: usize,
    ) -> Self {
        let range = [0.0, (choices.len() - 1) as f64];
        Self { scale: Scale::Choice(choices), ..Self::linear(id, name, Unit::Number, range, default as f64) }
    }

    /// A parameter that is off or on.
    pub const fn switch(id: &'static str, name: &'static str, default: bool) -> Self {
        let default = if default { 1.0 } else { 0.0 };
        Self { scale: Scale::Switch, ..Self::linear(id, name, Unit::Number, [0.0, 1.0], default) }
    }

    /// The nearest value that the parameter can have; the default for what is no number.
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

    /// Whether the parameter can lie between its values, so that it can glide.
    pub fn is_continuous(&self) -> bool {
        matches!(self.scale, Scale::Linear | Scale::Logarithmic)
    }
}
