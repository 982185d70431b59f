//! The X11 window in which the plugin draws.

use std::os::fd::AsRawFd as _;

use songfoundry_bridge_protocol::window::{SCREEN_HEIGHT, SCREEN_WIDTH};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux,
    EventMask, InputFocus, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::{CURRENT_TIME, NONE};

use super::display::Display;
use crate::host::plugin::Descriptor;

/// Size of a window until the plugin states another.
const INITIAL_SIZE: (u16, u16) = (640, 480);

/// Sizes up to this one are ignored. Some plugins state it before they have drawn.
const SIZE_UNKNOWN_MAX: u32 = 32;

/// Messages of the XEmbed protocol, version 0.5, section "Messages".
const EMBEDDED_NOTIFY: u32 = 0;
const WINDOW_ACTIVATE: u32 = 1;
const FOCUS_IN: u32 = 4;

/// The window that contains the editor of the plugin.
pub(super) struct EditorWindow {
    connection: RustConnection,
    root: Window,
    window: Window,
    size: (u16, u16),
    is_shown: bool,
}

impl EditorWindow {
    /// Creates the window, and shows it.
    pub(super) fn create(display: &Display) -> anyhow::Result<Self> {
        let connection = display.connect()?;
        let screen = &connection.setup().roots[0];
        let (root, black) = (screen.root, screen.black_pixel);
        let window = connection.generate_id()?;
        let values =
            CreateWindowAux::new().background_pixel(black).event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
        let (width, height) = INITIAL_SIZE;
        connection
            .create_window(0, window, root, 0, 0, width, height, 0, WindowClass::INPUT_OUTPUT, 0, &values)?
            .check()?;
        let events = ChangeWindowAttributesAux::new().event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
        connection.change_window_attributes(root, &events)?.check()?;
        connection.map_window(window)?.check()?;
        // Some editors stay blank if the server has not finished these requests.
        connection.get_input_focus()?.reply()?;
        Ok(Self { connection, root, window, size: INITIAL_SIZE, is_shown: true })
    }

    /// Returns the id of the window.
    pub(super) fn id(&self) -> Window {
        self.window
    }

    /// Returns the width and height in pixels.
    pub(super) fn size(&self) -> (u16, u16) {
        self.size
    }

    /// Returns the descriptor that can be read while events wait.
    pub(super) fn descriptor(&self) -> Descriptor {
        self.connection.stream().as_raw_fd()
    }

    /// Whether the window is shown.
    pub(super) fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Shows the editor that was opened in this window. `width` and `height` are the size that the
    /// plugin states, or 0.
    pub(super) fn adopt(&mut self, width: u32, height: u32) -> anyhow::Result<()> {
        let children = self.children()?;
        for child in &children {
            self.embed(*child)?;
        }
        if width > SIZE_UNKNOWN_MAX && height > SIZE_UNKNOWN_MAX {
            self.resize(width, height)?;
        } else if let Some(child) = children.first() {
            let geometry = self.connection.get_geometry(*child)?.reply()?;
            self.resize(geometry.width.into(), geometry.height.into())?;
        }
        let focused_window = children.first().copied().unwrap_or(self.window);
        self.connection.set_input_focus(InputFocus::PARENT, focused_window, CURRENT_TIME)?;
        self.connection.flush()?;
        Ok(())
    }

    fn children(&self) -> anyhow::Result<Vec<Window>> {
        Ok(self.connection.query_tree(self.window)?.reply()?.children)
    }

    /// Maps a child, because some editors leave it to the host, and tells it that it is embedded.
    fn embed(&self, child: Window) -> anyhow::Result<()> {
        self.connection.map_window(child)?;
        let kind = self.connection.intern_atom(false, b"_XEMBED")?.reply()?.atom;
        for (message, parent) in [(EMBEDDED_NOTIFY, self.window), (WINDOW_ACTIVATE, NONE), (FOCUS_IN, NONE)] {
            let data = [CURRENT_TIME, message, 0, parent, 0];
            let event = ClientMessageEvent::new(32, child, kind, data);
            self.connection.send_event(false, child, EventMask::NO_EVENT, event)?;
        }
        Ok(())
    }

    /// Sets the size in pixels, at most that of the screen.
    pub(super) fn resize(&mut self, width: u32, height: u32) -> anyhow::Result<()> {
        let bounded = |length: u32, max: u16| length.clamp(1, max.into()) as u16;
        let size = (bounded(width, SCREEN_WIDTH), bounded(height, SCREEN_HEIGHT));
        if size != self.size {
            self.size = size;
            let values = ConfigureWindowAux::new().width(u32::from(size.0)).height(u32::from(size.1));
            self.connection.configure_window(self.window, &values)?;
            self.connection.flush()?;
        }
        Ok(())
    }

    /// Follows the size of the editor, and maps children that it creates.
    pub(super) fn handle_events(&mut self) -> anyhow::Result<()> {
        while let Some(event) = self.connection.poll_for_event()? {
            match event {
                Event::CreateNotify(event) if event.parent == self.window => self.embed(event.window)?,
                Event::ReparentNotify(event) if event.parent == self.window => self.embed(event.window)?,
                Event::MapNotify(event) if event.event == self.root && event.window != self.window => {
                    if let Ok(geometry) = self.connection.get_geometry(event.window)?.reply() {
                        self.move_into_screen(event.window, (geometry.x, geometry.y))?;
                    }
                }
                Event::ConfigureNotify(event) if event.event == self.root && event.window != self.window => {
                    self.move_into_screen(event.window, (event.x, event.y))?;
                }
                Event::ConfigureNotify(event)
                    if event.event == self.window
                        && u32::from(event.width) > SIZE_UNKNOWN_MAX
                        && u32::from(event.height) > SIZE_UNKNOWN_MAX =>
                {
                    self.resize(event.width.into(), event.height.into())?;
                }
                _ => {}
            }
        }
        self.connection.flush()?;
        Ok(())
    }

    /// Moves a dialog or a menu whose upper left corner is outside of the screen. Dialogs are often
    /// centred on the window of the plugin, and larger than it.
    fn move_into_screen(&self, window: Window, (x, y): (i16, i16)) -> anyhow::Result<()> {
        if x < 0 || y < 0 {
            let values = ConfigureWindowAux::new().x(i32::from(x.max(0))).y(i32::from(y.max(0)));
            self.connection.configure_window(window, &values)?;
        }
        Ok(())
    }

    /// Hides the window.
    pub(super) fn hide(&mut self) -> anyhow::Result<()> {
        self.is_shown = false;
        self.connection.unmap_window(self.window)?;
        Ok(self.connection.flush()?)
    }

    /// Shows the window.
    pub(super) fn show(&mut self) -> anyhow::Result<()> {
        self.is_shown = true;
        self.connection.map_window(self.window)?;
        Ok(self.connection.flush()?)
    }
}
