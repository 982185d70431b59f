//! Controllers, bends, pressure, program and parameter changes.

use serde::{Deserialize, Serialize};

use crate::Extra;
use crate::number::{optional_whole, whole};

/// A change of an instrument's state at a tick from the start of its item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Control {
    /// A continuous controller.
    Cc(CcControl),
    /// The pitch bend wheel.
    Bend(BendControl),
    /// Pressure of the whole channel.
    Pressure(PressureControl),
    /// Pressure of one key.
    KeyPressure(KeyPressureControl),
    /// A program change.
    Program(ProgramControl),
    /// A registered parameter.
    Rpn(ParameterControl),
    /// A non-registered parameter.
    Nrpn(ParameterControl),
}

impl Control {
    /// Returns the position of the change, in ticks from the start of its item.
    pub fn tick(&self) -> u32 {
        match self {
            Self::Cc(control) => control.tick,
            Self::Bend(control) => control.tick,
            Self::Pressure(control) => control.tick,
            Self::KeyPressure(control) => control.tick,
            Self::Program(control) => control.tick,
            Self::Rpn(control) | Self::Nrpn(control) => control.tick,
        }
    }
}

/// A value of a continuous controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CcControl {
    /// Ticks from the start of the item.
    #[serde(deserialize_with = "whole")]
    pub tick: u32,
    /// Controller number, 0 to 127.
    #[serde(deserialize_with = "whole")]
    pub controller: u8,
    /// Value of the controller, 0 to 127.
    #[serde(deserialize_with = "whole")]
    pub value: u8,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// A position of the pitch bend wheel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BendControl {
    /// Ticks from the start of the item.
    #[serde(deserialize_with = "whole")]
    pub tick: u32,
    /// -8192 is the full bend range down, 0 the centre, 8191 the full range up.
    #[serde(deserialize_with = "whole")]
    pub value: i16,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// Pressure of the whole channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PressureControl {
    /// Ticks from the start of the item.
    #[serde(deserialize_with = "whole")]
    pub tick: u32,
    /// Pressure, 0 to 127.
    #[serde(deserialize_with = "whole")]
    pub value: u8,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// Pressure of one key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeyPressureControl {
    /// Ticks from the start of the item.
    #[serde(deserialize_with = "whole")]
    pub tick: u32,
    /// MIDI key number, 0 to 127.
    #[serde(deserialize_with = "whole")]
    pub key: u8,
    /// Pressure, 0 to 127.
    #[serde(deserialize_with = "whole")]
    pub value: u8,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// A program change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramControl {
    /// Ticks from the start of the item.
    #[serde(deserialize_with = "whole")]
    pub tick: u32,
    /// Program, 0 to 127.
    #[serde(deserialize_with = "whole")]
    pub program: u8,
    /// SoundFont bank of the program, 0 to 128; `None` for the current bank.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_whole")]
    pub bank: Option<u8>,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}

/// A 14-bit value of a registered or non-registered parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParameterControl {
    /// Ticks from the start of the item.
    #[serde(deserialize_with = "whole")]
    pub tick: u32,
    /// Parameter number, 0 to 16383.
    #[serde(deserialize_with = "whole")]
    pub parameter: u16,
    /// Value of the parameter, 0 to 16383.
    #[serde(deserialize_with = "whole")]
    pub value: u16,
    /// Unknown fields.
    #[cfg_attr(feature = "whole-documents", serde(flatten))]
    #[cfg_attr(not(feature = "whole-documents"), serde(skip))]
    pub extra: Extra,
}
