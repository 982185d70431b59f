//! Messages of the server that shows the window of a plugin (`songfoundry-bridge gui`).
//!
//! The server listens on the loopback interface only. Each request must have the header
//! [`SECRET_HEADER`] with the secret of [`crate::host::OpenWindow`].
//!
//! | request | answer |
//! |---|---|
//! | `GET /frame` | the picture of the window as JPEG; with `?stream=1`, a part of `multipart/x-mixed-replace` for each changed picture |
//! | `GET /live` | a WebSocket: the server sends [`WindowEvent`]s as text and changed parts of the picture as binary messages ([`PART_HEADER_BYTES`]); the client sends [`ClientMessage`]s |
//! | `POST /input` | carries out an [`Input`] |
//! | `POST /parameters` | sets the values of a [`ParameterChanges`] |
//! | `GET /ping` | 204 |
//! | `POST /hide`, `/show`, `/close` | hides or shows the window, or ends the helper |

use serde::{Deserialize, Serialize};

use crate::host::ParameterValue;

/// Environment variable form in which the helper prints the port to standard error, for people who
/// start it by hand.
pub const PORT_VARIABLE: &str = "SF_FXGUI_PORT";

/// Header of each request, with the secret of the window.
pub const SECRET_HEADER: &str = "x-fxgui-secret";

/// Minimum length of a secret.
pub const SECRET_BYTES_MIN: usize = 32;

/// Maximum size of the body of a request and of a message of a client.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024;

/// Maximum number of events in an [`Input`].
pub const INPUT_EVENTS_MAX: usize = 256;

/// Maximum number of values in a [`ParameterChanges`].
pub const VALUES_MAX: usize = 1_000;

/// Maximum number of pictures a second.
pub const FRAMES_PER_SEC_MAX: u32 = 30;

/// Maximum number of parts of the picture that were sent to a WebSocket and not yet confirmed by
/// [`ClientMessage::Received`].
pub const UNCONFIRMED_PARTS_MAX: u32 = 2;

/// Size of the header of a binary message. It has five little-endian 16-bit numbers: the position
/// of the part in the picture (x, y), the size of the whole picture (width, height), and 0. The
/// JPEG of the part follows.
pub const PART_HEADER_BYTES: usize = 10;

/// Input of the user, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Width that the coordinates of the events refer to; they are scaled to the picture.
    pub width: f64,
    /// Height that the coordinates of the events refer to.
    pub height: f64,
    /// At most [`INPUT_EVENTS_MAX`] events.
    pub events: Vec<InputEvent>,
}

/// An event of the pointer or the keyboard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum InputEvent {
    /// The pointer moves.
    Move {
        /// Horizontal position of the pointer, from 0 to [`Input::width`].
        x: f64,
        /// Vertical position of the pointer, from 0 to [`Input::height`].
        y: f64,
    },
    /// A button of the pointer is pressed or released.
    Button {
        /// Horizontal position of the pointer, from 0 to [`Input::width`].
        x: f64,
        /// Vertical position of the pointer, from 0 to [`Input::height`].
        y: f64,
        /// Number of the button as in the browser: 0 is the left one, 1 the middle one, 2 the right
        /// one.
        button: u8,
        /// Whether the button or key is pressed instead of released.
        down: bool,
    },
    /// The wheel turns.
    Wheel {
        /// Horizontal position of the pointer.
        x: f64,
        /// Vertical position of the pointer.
        y: f64,
        /// Number of wheel steps to the right; negative to the left.
        steps_x: i8,
        /// Number of wheel steps downwards; negative upwards.
        steps_y: i8,
    },
    /// A key is pressed or released.
    Key {
        /// Name of the key, as `KeyboardEvent.key` has it: a character, or a name such as `Enter`.
        key: String,
        /// Whether the button or key is pressed instead of released.
        down: bool,
    },
    /// Text is typed: each character is pressed and released.
    Text {
        /// The text to type.
        text: String,
    },
    /// All pressed buttons and keys are released.
    Release,
}

/// New values of parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterChanges {
    /// At most [`VALUES_MAX`] values.
    pub values: Vec<ParameterValue>,
}

/// A message from the client of a WebSocket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ClientMessage {
    /// Input of the user.
    Input(Input),
    /// New values of parameters.
    Parameters(ParameterChanges),
    /// The client has drawn a part of the picture.
    Received,
}

/// A message to the client of a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum WindowEvent {
    /// The user starts to change a parameter.
    BeginEdit {
        /// Id of the parameter.
        id: u32,
    },
    /// A parameter has a new value. It follows a [`WindowEvent::BeginEdit`], unless the plugin
    /// changed the parameter by itself.
    Edit {
        /// Id of the parameter.
        id: u32,
        /// Normalized value, 0 to 1.
        value: f64,
    },
    /// The user has finished changing a parameter.
    EndEdit {
        /// Id of the parameter.
        id: u32,
    },
    /// A message of the client cannot be carried out.
    Refused,
}

/// The X server on which windows are drawn, of Debian's package `xvfb`.
pub const X_SERVER: &str = "/usr/bin/Xvfb";

/// Size of the screen in pixels, which is the maximum size of a picture.
pub const SCREEN_WIDTH: u16 = 2_560;
/// Height of the screen in pixels.
pub const SCREEN_HEIGHT: u16 = 1_600;
