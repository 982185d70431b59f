//! The pointer and the keyboard of the user, as input of the X server (XTEST).

use std::collections::BTreeSet;

use songfoundry_bridge_protocol::window::{INPUT_EVENTS_MAX, Input, InputEvent};
use x11rb::CURRENT_TIME;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, InputFocus, KEY_PRESS_EVENT,
    KEY_RELEASE_EVENT, Keycode, MOTION_NOTIFY_EVENT, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use super::display::Display;
use super::keyboard::{Key, Keyboard, SHIFT};
use super::keys::{symbol_of_character, symbol_of_key};
use crate::module::FailureReason;

/// Maximum number of characters that are typed at once.
const TEXT_MAX_CHARS: usize = 1_000;

/// Buttons of X11 that stand for a step of the wheel.
const WHEEL_UP: u8 = 4;
const WHEEL_DOWN: u8 = 5;
const WHEEL_LEFT: u8 = 6;
const WHEEL_RIGHT: u8 = 7;

/// Buttons of X11 for those of the browser.
const BUTTONS: [u8; 3] = [1, 2, 3];

/// Maximum steps of the wheel in one event.
const WHEEL_STEPS_MAX: u8 = 20;

/// A connection to the X server for input.
pub(super) struct InputDevice {
    connection: RustConnection,
    root: Window,
    keyboard: Keyboard,
    buttons: BTreeSet<u8>,
    keys: BTreeSet<Keycode>,
}

impl InputDevice {
    pub(super) fn connect(display: &Display) -> anyhow::Result<Self> {
        let connection = display.connect()?;
        let root = connection.setup().roots[0].root;
        let keyboard = Keyboard::read(&connection)?;
        Ok(Self { connection, root, keyboard, buttons: BTreeSet::new(), keys: BTreeSet::new() })
    }

    /// Whether a button of the pointer is pressed.
    pub(super) fn is_button_pressed(&self) -> bool {
        !self.buttons.is_empty()
    }

    /// Carries out events on a picture of `width` x `height` pixels.
    pub(super) fn carry_out(&mut self, input: &Input, (width, height): (u16, u16)) -> anyhow::Result<()> {
        let scale = |value: f64, from: f64, to: u16| (value * f64::from(to) / from).floor() as i16;
        let position = |x, y| (scale(x, input.width, width), scale(y, input.height, height));
        for event in coalesced(&input.events) {
            match event {
                InputEvent::Move { x, y } => self.move_to(position(*x, *y))?,
                InputEvent::Button { x, y, button, down } => {
                    self.move_to(position(*x, *y))?;
                    let Some(button) = BUTTONS.get(usize::from(*button)) else { continue };
                    if *down {
                        self.focus_window_under_pointer()?;
                    }
                    self.press_button(*button, *down)?;
                }
                InputEvent::Wheel { x, y, steps_x, steps_y } => {
                    self.move_to(position(*x, *y))?;
                    self.turn_wheel(*steps_y, WHEEL_UP, WHEEL_DOWN)?;
                    self.turn_wheel(*steps_x, WHEEL_LEFT, WHEEL_RIGHT)?;
                }
                InputEvent::Key { key, down } => {
                    if let Some(symbol) = symbol_of_key(key)
                        && let Some(Key { code, .. }) = self.keyboard.key(&self.connection, symbol)?
                    {
                        self.press_key(code, *down)?;
                    }
                }
                InputEvent::Text { text } => self.type_text(text)?,
                InputEvent::Release => self.release()?,
            }
        }
        Ok(self.connection.flush()?)
    }

    /// Releases all buttons and keys.
    pub(super) fn release(&mut self) -> anyhow::Result<()> {
        for button in self.buttons.clone() {
            self.press_button(button, false)?;
        }
        for code in self.keys.clone() {
            self.press_key(code, false)?;
        }
        Ok(self.connection.flush()?)
    }

    fn send(&self, kind: u8, detail: u8, (x, y): (i16, i16)) -> anyhow::Result<()> {
        self.connection.xtest_fake_input(kind, detail, CURRENT_TIME, self.root, x, y, 0)?;
        Ok(())
    }

    fn move_to(&self, position: (i16, i16)) -> anyhow::Result<()> {
        self.send(MOTION_NOTIFY_EVENT, 0, position)
    }

    fn press_button(&mut self, button: u8, down: bool) -> anyhow::Result<()> {
        let changes = if down { self.buttons.insert(button) } else { self.buttons.remove(&button) };
        if changes {
            self.send(if down { BUTTON_PRESS_EVENT } else { BUTTON_RELEASE_EVENT }, button, (0, 0))?;
        }
        Ok(())
    }

    fn turn_wheel(&self, steps: i8, back: u8, forward: u8) -> anyhow::Result<()> {
        let button = if steps < 0 { back } else { forward };
        for _ in 0..steps.unsigned_abs().min(WHEEL_STEPS_MAX) {
            self.send(BUTTON_PRESS_EVENT, button, (0, 0))?;
            self.send(BUTTON_RELEASE_EVENT, button, (0, 0))?;
        }
        Ok(())
    }

    /// Presses a key, which may be pressed already: the browser repeats keys.
    fn press_key(&mut self, code: Keycode, down: bool) -> anyhow::Result<()> {
        if down {
            self.keys.insert(code);
            return self.send(KEY_PRESS_EVENT, code, (0, 0));
        }
        if self.keys.remove(&code) {
            self.send(KEY_RELEASE_EVENT, code, (0, 0))?;
        }
        Ok(())
    }

    fn type_text(&mut self, text: &str) -> anyhow::Result<()> {
        let shift = self.keyboard.key(&self.connection, SHIFT)?;
        for symbol in text.chars().filter_map(symbol_of_character) {
            let Some(Key { code, needs_shift }) = self.keyboard.key(&self.connection, symbol)? else {
                continue;
            };
            let shift = shift.filter(|_| needs_shift).map(|key| key.code);
            for code in shift.into_iter().chain([code]) {
                self.send(KEY_PRESS_EVENT, code, (0, 0))?;
            }
            for code in [code].into_iter().chain(shift) {
                self.send(KEY_RELEASE_EVENT, code, (0, 0))?;
            }
        }
        Ok(())
    }

    /// Gives the keyboard to the window under the pointer, as a window manager would. Dialogs are
    /// windows of their own.
    fn focus_window_under_pointer(&self) -> anyhow::Result<()> {
        let child = self.connection.query_pointer(self.root)?.reply()?.child;
        if child == x11rb::NONE {
            return Ok(());
        }
        let is_menu = self.connection.get_window_attributes(child)?.reply()?.override_redirect;
        if !is_menu {
            let inner_child = self.connection.query_pointer(child)?.reply()?.child;
            let focused_window = if inner_child == x11rb::NONE { child } else { inner_child };
            self.connection.set_input_focus(InputFocus::PARENT, focused_window, CURRENT_TIME)?;
        }
        Ok(())
    }
}

/// Checks input.
pub(super) fn check(input: &Input) -> Result<(), FailureReason> {
    let Input { width, height, events } = input;
    if !(1.0..=100_000.0).contains(width) || !(1.0..=100_000.0).contains(height) {
        return Err(format!("`width` and `height` must be 1 to 100000, not {width} and {height}"));
    }
    if events.len() > INPUT_EVENTS_MAX {
        return Err(format!("`events` has {} events; the maximum is {INPUT_EVENTS_MAX}", events.len()));
    }
    for event in events {
        match event {
            InputEvent::Button { button, .. } if usize::from(*button) >= BUTTONS.len() => {
                return Err(format!("`button` must be 0, 1 or 2, not {button}"));
            }
            InputEvent::Text { text } if text.chars().count() > TEXT_MAX_CHARS => {
                return Err(format!("`text` must have at most {TEXT_MAX_CHARS} characters"));
            }
            InputEvent::Move { x, y } | InputEvent::Button { x, y, .. } | InputEvent::Wheel { x, y, .. }
                if !(0.0..=*width).contains(x) || !(0.0..=*height).contains(y) =>
            {
                return Err(format!(
                    "the position {x}, {y} is outside of the stated size {width} x {height}"
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the events without moves that another move follows at once.
fn coalesced(events: &[InputEvent]) -> impl Iterator<Item = &InputEvent> {
    let is_move = |event: Option<&InputEvent>| matches!(event, Some(InputEvent::Move { .. }));
    let kept_events = move |(index, event): &(usize, &InputEvent)| {
        !(is_move(Some(event)) && is_move(events.get(index + 1)))
    };
    events.iter().enumerate().filter(kept_events).map(|(_, event)| event)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(events: Vec<InputEvent>) -> Input {
        Input { width: 100.0, height: 50.0, events }
    }

    #[test]
    fn moves_in_a_row_become_one() {
        let at = |x| InputEvent::Move { x, y: 1.0 };
        let button = InputEvent::Button { x: 3.0, y: 1.0, button: 0, down: true };
        let events = [at(1.0), at(2.0), button.clone(), at(4.0), at(5.0), at(6.0)];
        let kept_events: Vec<_> = coalesced(&events).cloned().collect();
        assert_eq!(kept_events, [at(2.0), button, at(6.0)]);
    }

    #[test]
    fn input_outside_of_the_limits_is_refused() {
        let check_events = |events| check(&input(events));
        assert_eq!(check_events(vec![InputEvent::Move { x: 100.0, y: 50.0 }]), Ok(()));
        let reason = |events| check_events(events).expect_err("refused");
        assert!(reason(vec![InputEvent::Move { x: 101.0, y: 0.0 }]).contains("outside"));
        assert!(reason(vec![InputEvent::Move { x: f64::NAN, y: 0.0 }]).contains("outside"));
        assert!(reason(vec![InputEvent::Button { x: 1.0, y: 1.0, button: 3, down: true }]).contains("not 3"));
        assert!(reason(vec![InputEvent::Release; INPUT_EVENTS_MAX + 1]).contains("maximum is 256"));
        assert!(reason(vec![InputEvent::Text { text: "a".repeat(1_001) }]).contains("1000 characters"));
        let empty = Input { width: 0.0, height: 50.0, events: Vec::new() };
        assert!(check(&empty).expect_err("refused").contains("not 0 and 50"));
    }
}
