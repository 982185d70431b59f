//! The object through which a plugin's controller reports changes to the host.
#![expect(unsafe_code, reason = "VST3 objects have a C interface")]

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

use vst3::Class;
use vst3::Steinberg::Vst::{
    IComponentHandler, IComponentHandler2, IComponentHandler2Trait, IComponentHandlerTrait,
};
use vst3::Steinberg::{FIDString, TBool, kNotImplemented, kResultOk, tresult};

/// Maximum number of changes that are kept. More would mean a plugin that changes its parameters
/// without end.
const EDITS_MAX: usize = 100_000;

/// Changes that the controller reported.
#[derive(Default)]
pub(super) struct ComponentHandler {
    edits: Mutex<Vec<(u32, f64)>>,
    restart_flags: AtomicI32,
}

impl ComponentHandler {
    /// Takes the changed parameters with their values, in order.
    pub(super) fn take_edits(&self) -> Vec<(u32, f64)> {
        std::mem::take(&mut *self.edits.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the flags of all calls of `restartComponent`.
    pub(super) fn take_restart_flags(&self) -> i32 {
        self.restart_flags.swap(0, Ordering::Relaxed)
    }
}

impl Class for ComponentHandler {
    type Interfaces = (IComponentHandler, IComponentHandler2);
}

impl IComponentHandlerTrait for ComponentHandler {
    unsafe fn beginEdit(&self, _: u32) -> tresult {
        kResultOk
    }

    unsafe fn performEdit(&self, id: u32, value: f64) -> tresult {
        let mut edits = self.edits.lock().unwrap_or_else(PoisonError::into_inner);
        if edits.len() < EDITS_MAX {
            edits.push((id, value));
        }
        kResultOk
    }

    unsafe fn endEdit(&self, _: u32) -> tresult {
        kResultOk
    }

    unsafe fn restartComponent(&self, flags: i32) -> tresult {
        self.restart_flags.fetch_or(flags, Ordering::Relaxed);
        kResultOk
    }
}

impl IComponentHandler2Trait for ComponentHandler {
    unsafe fn setDirty(&self, _: TBool) -> tresult {
        kResultOk
    }

    unsafe fn requestOpenEditor(&self, _: FIDString) -> tresult {
        kNotImplemented
    }

    unsafe fn startGroupEdit(&self) -> tresult {
        kResultOk
    }

    unsafe fn finishGroupEdit(&self) -> tresult {
        kResultOk
    }
}
