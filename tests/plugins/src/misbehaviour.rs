//! Faults of plugins. A fault happens in the first block with a note or with a sample other than 0,
//! and in each such block after it.

use std::io::Write as _;
use std::time::Duration;

unsafe extern "C" {
    safe fn fork() -> i32;
    safe fn setsid() -> i32;
    safe fn getppid() -> i32;
    safe fn kill(process: i32, signal: i32) -> i32;
}

/// Number of the signal that ends a process at once.
const SIGKILL: i32 = 9;

/// Maximum lifetime of a process that a plugin leaves running.
const DAEMON_LIFETIME: Duration = Duration::from_secs(60);

/// A fault. The number is the unique id of the VST2 plugin that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Misbehaviour {
    /// Reads from an invalid address.
    Crash = 1,
    /// Never returns.
    Hang = 2,
    /// Aborts the process.
    Abort = 3,
    /// Ends the process with success.
    Exit = 4,
    /// Starts a copy of the process, which keeps all descriptors.
    Fork = 5,
    /// Starts a copy of the process that leaves the process group and the parent, and keeps all
    /// descriptors.
    Daemon = 6,
    /// Allocates 256 MiB in each block and keeps them.
    Leak = 7,
    /// Prints eight megabytes to each standard stream, then processes.
    Print = 8,
    /// Returns samples that are not numbers.
    NotANumber = 9,
    /// States 1,000 output channels.
    Channels = 10,
    /// Sleeps 20 ms in each block, then processes.
    Slow = 11,
    /// States a latency of 32 frames only after the first block.
    LateLatency = 12,
    /// States -2 inputs and outputs, and uses none.
    NegativeChannels = 13,
    /// States no inputs and outputs, and uses none.
    NoChannels = 14,
    /// States two outputs, and writes to six.
    MoreChannels = 15,
    /// Starts a process as [`Self::Daemon`] does, and never returns.
    DaemonAndHang = 16,
    /// Ignores the notes of its first second, in which it loads its sounds.
    LateSound = 17,
    /// Starts a process as [`Self::Daemon`] does, and kills the parent of its process.
    KillParent = 18,
}

impl Misbehaviour {
    /// All faults, each with the name of the plugin that has it.
    pub const ALL: [(Self, &'static str); 18] = [
        (Self::Crash, "Crashes"),
        (Self::Hang, "Hangs"),
        (Self::Abort, "Aborts"),
        (Self::Exit, "Exits"),
        (Self::Fork, "Forks"),
        (Self::Daemon, "Starts Daemon"),
        (Self::Leak, "Leaks"),
        (Self::Print, "Prints"),
        (Self::NotANumber, "Not a Number"),
        (Self::Channels, "Thousand Channels"),
        (Self::Slow, "Slow"),
        (Self::LateLatency, "Late Latency"),
        (Self::NegativeChannels, "Negative Channels"),
        (Self::NoChannels, "No Channels"),
        (Self::MoreChannels, "More Channels"),
        (Self::DaemonAndHang, "Starts Daemon and Hangs"),
        (Self::LateSound, "Late Sound"),
        (Self::KillParent, "Kills Its Supervisor"),
    ];

    /// Carries out the fault in a block.
    pub fn act(self) {
        match self {
            Self::Crash => {
                let invalid_address = std::hint::black_box(8_usize) as *const bool;
                // SAFETY: none; the module is unsafe on purpose.
                std::hint::black_box(unsafe { std::ptr::read_volatile(invalid_address) });
            }
            Self::Hang => hang(),
            Self::Abort => std::process::abort(),
            Self::Exit => std::process::exit(0),
            Self::Fork => {
                if fork() == 0 {
                    std::thread::sleep(DAEMON_LIFETIME);
                    std::process::abort();
                }
            }
            Self::Daemon => start_daemon(),
            Self::DaemonAndHang => {
                start_daemon();
                hang();
            }
            Self::KillParent => {
                start_daemon();
                kill(getppid(), SIGKILL);
            }
            Self::Leak => {
                // The pages stay untouched, so they would not be resident even without a limit.
                std::mem::forget(std::hint::black_box(vec![0_u8; 256 << 20]));
            }
            Self::Print => {
                let text = vec![b'x'; 8 << 20];
                let _ = std::io::stdout().write_all(&text);
                let _ = std::io::stderr().write_all(&text);
            }
            Self::Slow => std::thread::sleep(Duration::from_millis(20)),
            Self::NotANumber
            | Self::Channels
            | Self::LateLatency
            | Self::NegativeChannels
            | Self::NoChannels
            | Self::MoreChannels
            | Self::LateSound => {}
        }
    }

    /// Returns the numbers of inputs and outputs that an effect states instead of its own.
    pub(crate) fn stated_channels(self) -> Option<[i32; 2]> {
        match self {
            Self::Channels => Some([2, 1_000]),
            Self::NegativeChannels => Some([-2, -2]),
            Self::NoChannels => Some([0, 0]),
            _ => None,
        }
    }
}

fn hang() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn start_daemon() {
    if fork() == 0 {
        setsid();
        if fork() == 0 {
            std::thread::sleep(DAEMON_LIFETIME);
        }
        std::process::abort();
    }
}
