//! The object through which a plugin's controller reports changes to the host.
#![expect(unsafe_code, reason = "VST3 objects have a C interface")]

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

use vst3::Class;
use vst3::Steinberg::Vst::{
    IComponentHandler, IComponentHandler2, IComponentHandler2Trait, IComponentHandlerTrait,
};
use vst3::Steinberg::{FIDString, TBool, kNotImplemented, kResultOk, tresult};

/// Maximum number of changes that are kept. A plugin with more changes would change its parameters
/// endlessly.
const EDITS_MAX: usize = 100_000;

/// A step of a change by the controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Edit {
    /// The user starts to change a parameter.
    Begin(u32),
    /// A parameter has a new value.
    Perform(u32, f64),
    /// The user has finished changing a parameter.
    End(u32),
}

/// Changes that the controller reported.
#[derive(Default)]
pub(super) struct ComponentHandler {
    edits: Mutex<Vec<Edit>>,
    restart_flags: AtomicI32,
}

impl ComponentHandler {
    /// Returns and removes the changed parameters with their values, in order.
    pub(super) fn take_edits(&self) -> Vec<(u32, f64)> {
        let performed = |edit| match edit {
            Edit::Perform(id, value) => Some((id, value)),
            Edit::Begin(_) | Edit::End(_) => None,
        };
        self.take_all_edits().into_iter().filter_map(performed).collect()
    }

    /// Returns and removes all steps of changes, in order.
    pub(super) fn take_all_edits(&self) -> Vec<Edit> {
        std::mem::take(&mut *self.edits.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, edit: Edit) -> tresult {
        let mut edits = self.edits.lock().unwrap_or_else(PoisonError::into_inner);
        if edits.len() < EDITS_MAX {
            edits.push(edit);
        }
        kResultOk
    }

    /// Returns and clears the flags of all calls of `restartComponent`.
    pub(super) fn take_restart_flags(&self) -> i32 {
        self.restart_flags.swap(0, Ordering::Relaxed)
    }
}

impl Class for ComponentHandler {
    type Interfaces = (IComponentHandler, IComponentHandler2);
}

impl IComponentHandlerTrait for ComponentHandler {
    unsafe fn beginEdit(&self, id: u32) -> tresult {
        self.add(Edit::Begin(id))
    }

    unsafe fn performEdit(&self, id: u32, value: f64) -> tresult {
        self.add(Edit::Perform(id, value))
    }

    unsafe fn endEdit(&self, id: u32) -> tresult {
        self.add(Edit::End(id))
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
