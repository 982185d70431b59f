//! The keys of the X server: finds the key for a symbol, and assigns symbols without a key to spare
//! keys.

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, Keycode, Keysym};
use x11rb::rust_connection::RustConnection;

/// The symbol of the key Shift.
pub(super) const SHIFT: Keysym = 0xffe1;

/// A key, and whether Shift must be pressed for a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// Code of the key.
    pub(super) code: Keycode,
    /// Whether Shift must be pressed.
    pub(super) needs_shift: bool,
}

/// The symbols of all keys.
pub(super) struct Keyboard {
    first_code: Keycode,
    symbols_per_code: u8,
    symbols: Vec<Keysym>,
    /// Keys without a symbol.
    spare: Vec<Keycode>,
    /// Index in `spare` of the key that gets the next symbol.
    next_spare: usize,
}

impl Keyboard {
    pub(super) fn read(connection: &RustConnection) -> anyhow::Result<Self> {
        let (first_code, last_code) = (connection.setup().min_keycode, connection.setup().max_keycode);
        let reply = connection.get_keyboard_mapping(first_code, last_code - first_code + 1)?.reply()?;
        let symbols_per_code = reply.keysyms_per_keycode.max(1);
        let symbols = reply.keysyms;
        let codes = (first_code..=last_code).zip(symbols.chunks(symbols_per_code.into()));
        let spare = codes.filter(|(_, symbols)| symbols.iter().all(|symbol| *symbol == 0));
        let spare = spare.map(|(code, _)| code).collect();
        Ok(Self { first_code, symbols_per_code, symbols, spare, next_spare: 0 })
    }

    /// Returns the key for a symbol; `None` if the keyboard has none and no spare one.
    pub(super) fn key(&mut self, connection: &RustConnection, symbol: Keysym) -> anyhow::Result<Option<Key>> {
        let rows = || (self.first_code..).zip(self.symbols.chunks(self.symbols_per_code.into()));
        for level in 0..2 {
            if let Some((code, _)) = rows().find(|(_, symbols)| symbols.get(level) == Some(&symbol)) {
                return Ok(Some(Key { code, needs_shift: level == 1 }));
            }
        }
        let Some(code) = self.spare.get(self.next_spare).copied() else { return Ok(None) };
        self.next_spare = (self.next_spare + 1) % self.spare.len();
        connection.change_keyboard_mapping(1, code, 2, &[symbol, symbol])?;
        let start = usize::from(code - self.first_code) * usize::from(self.symbols_per_code);
        self.symbols[start] = symbol;
        Ok(Some(Key { code, needs_shift: false }))
    }
}
