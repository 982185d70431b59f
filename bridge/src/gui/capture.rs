//! Captures pictures of all windows on a connection and a thread of their own, while they are
//! wanted.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use nix::sys::memfd::{MFdFlags, memfd_create};
use songfoundry_bridge_protocol::window::{FRAMES_PER_SEC_MAX, SCREEN_HEIGHT, SCREEN_WIDTH};
use tokio::sync::watch;
use x11rb::connection::Connection as _;
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{ConnectionExt as _, ImageFormat, MapState, Window};
use x11rb::rust_connection::RustConnection;

use super::display::Display;
use super::frame::{Captured, Frame};

/// Time between two pictures.
const INTERVAL: Duration = Duration::from_nanos(1_000_000_000 / FRAMES_PER_SEC_MAX as u64);

/// Number of windows beside the plugin's that are captured, such as menus and dialogs.
const WINDOWS_MAX: usize = 64;

/// The thread that captures pictures, and the last one.
pub(super) struct Capture {
    thread: Thread,
    wanted_until: Arc<Mutex<Instant>>,
    captured: watch::Receiver<Captured>,
}

impl Capture {
    /// Captures a first picture, and starts the thread.
    pub(super) fn start(display: &Display) -> anyhow::Result<Self> {
        let mut camera = Camera::connect(display)?;
        let frame = camera.capture()?;
        let (sender, captured) = watch::channel(Captured { frame: Arc::new(frame), at: Instant::now() });
        let wanted_until = Arc::new(Mutex::new(Instant::now()));
        let wanted_time = Arc::clone(&wanted_until);
        let capturing = std::thread::Builder::new().name("capture".to_owned()).spawn(move || {
            // The thread ends with the X server, whose end also ends this process.
            if let Err(error) = run(&mut camera, &wanted_time, &sender) {
                eprintln!("no further pictures can be captured: {error:#}");
            }
        })?;
        Ok(Self { thread: capturing.thread().clone(), wanted_until, captured })
    }

    /// Requests pictures for a time from now on.
    pub(super) fn want(&self, duration: Duration) {
        let until = Instant::now() + duration;
        let mut wanted_until = self.wanted_until.lock().unwrap_or_else(PoisonError::into_inner);
        *wanted_until = until.max(*wanted_until);
        drop(wanted_until);
        self.thread.unpark();
    }

    /// Returns the last picture, and a way to wait for the next one.
    pub(super) fn captured(&self) -> watch::Receiver<Captured> {
        self.captured.clone()
    }
}

fn run(
    camera: &mut Camera,
    wanted_until: &Mutex<Instant>,
    sender: &watch::Sender<Captured>,
) -> anyhow::Result<()> {
    loop {
        let started = Instant::now();
        if *wanted_until.lock().unwrap_or_else(PoisonError::into_inner) <= started {
            std::thread::park();
            continue;
        }
        let frame = camera.capture()?;
        sender.send_modify(|captured| {
            if frame.difference(&captured.frame).is_some() {
                captured.frame = Arc::new(frame);
            }
            captured.at = started;
        });
        std::thread::sleep(INTERVAL.saturating_sub(started.elapsed()));
    }
}

/// A connection to the X server with memory that both share.
struct Camera {
    connection: RustConnection,
    root: Window,
    segment: shm::Seg,
    memory: File,
}

impl Camera {
    fn connect(display: &Display) -> anyhow::Result<Self> {
        let connection = display.connect()?;
        let root = connection.setup().roots[0].root;
        let memory = File::from(memfd_create(c"picture", MFdFlags::MFD_CLOEXEC)?);
        memory.set_len(u64::from(SCREEN_WIDTH) * u64::from(SCREEN_HEIGHT) * 4)?;
        let segment = connection.generate_id()?;
        // The X server accepts shared memory only after it was asked for its version.
        connection.shm_query_version()?.reply()?;
        connection.shm_attach_fd(segment, OwnedFd::from(memory.try_clone()?), false)?.check()?;
        Ok(Self { connection, root, segment, memory })
    }

    fn capture(&mut self) -> anyhow::Result<Frame> {
        let (width, height) = self.size()?;
        let (root, segment) = (self.root, self.segment);
        let format = ImageFormat::Z_PIXMAP.into();
        self.connection.shm_get_image(root, 0, 0, width, height, !0, format, segment, 0)?.reply()?;
        let mut pixels = vec![0; usize::from(width) * usize::from(height) * 4];
        self.memory.read_exact_at(&mut pixels, 0).map_err(io::Error::other)?;
        Ok(Frame { width, height, pixels })
    }

    /// Returns the width and height of the area that contains all windows and the origin.
    fn size(&self) -> anyhow::Result<(u16, u16)> {
        let windows = self.connection.query_tree(self.root)?.reply()?.children;
        let mut requests = Vec::new();
        for window in windows.into_iter().rev().take(WINDOWS_MAX) {
            let attributes = self.connection.get_window_attributes(window)?;
            requests.push((attributes, self.connection.get_geometry(window)?));
        }
        let (mut right, mut bottom) = (1, 1);
        for (attributes, geometry) in requests {
            // The window may have been destroyed meanwhile.
            let (Ok(attributes), Ok(geometry)) = (attributes.reply(), geometry.reply()) else { continue };
            if attributes.map_state == MapState::VIEWABLE {
                right = right.max(i32::from(geometry.x) + i32::from(geometry.width));
                bottom = bottom.max(i32::from(geometry.y) + i32::from(geometry.height));
            }
        }
        Ok((right.min(SCREEN_WIDTH.into()) as u16, bottom.min(SCREEN_HEIGHT.into()) as u16))
    }
}
