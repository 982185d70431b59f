//! The object through which plugins know the host, create messages, and on Linux register timers.
#![expect(unsafe_code, reason = "VST3 objects have a C interface")]

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use vst3::Steinberg::Vst::{IAttributeList, IHostApplication, IHostApplicationTrait, IMessage, String128};
use vst3::Steinberg::{
    IPlugFrame, IPlugFrameTrait, IPlugView, IPlugViewTrait as _, TUID, ViewRect, kInvalidArgument,
    kNoInterface, kResultOk, tresult,
};
use vst3::{Class, ComPtr, ComRef, ComWrapper, Interface};

use super::message::{AttributeList, Message};
#[cfg(target_os = "linux")]
use super::run_loop::RunLoop;

/// The host as plugins see it.
#[derive(Default)]
pub(super) struct HostApplication {
    /// The size in pixels that the view last requested for its window.
    size_request: Mutex<Option<(u32, u32)>>,
    /// Timers and descriptors of the plugin.
    #[cfg(target_os = "linux")]
    pub(super) run_loop: RunLoop,
}

impl HostApplication {
    /// Returns and clears the size in pixels that the view last requested for its window.
    pub(super) fn take_size_request(&self) -> Option<(u32, u32)> {
        self.size_request.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl IPlugFrameTrait for HostApplication {
    unsafe fn resizeView(&self, view: *mut IPlugView, size: *mut ViewRect) -> tresult {
        // SAFETY: the caller passes its view and a size, or null.
        let (Some(view), Some(size)) = (unsafe { ComRef::from_raw(view) }, unsafe { size.as_mut() }) else {
            return kInvalidArgument;
        };
        let length = |from: i32, to: i32| u32::try_from(i64::from(to) - i64::from(from)).unwrap_or(0);
        let requested_size = (length(size.left, size.right), length(size.top, size.bottom));
        *self.size_request.lock().unwrap_or_else(PoisonError::into_inner) = Some(requested_size);
        // SAFETY: the view is attached. It expects this call before `resizeView` returns.
        unsafe { view.onSize(size) }
    }
}

impl Class for HostApplication {
    #[cfg(target_os = "linux")]
    type Interfaces = (IHostApplication, IPlugFrame, vst3::Steinberg::Linux::IRunLoop);
    #[cfg(not(target_os = "linux"))]
    type Interfaces = (IHostApplication, IPlugFrame);
}

impl IHostApplicationTrait for HostApplication {
    unsafe fn getName(&self, name: *mut String128) -> tresult {
        if name.is_null() {
            return kInvalidArgument;
        }
        let mut text = [0; 128];
        for (unit, character) in text.iter_mut().zip("Songfoundry".encode_utf16()) {
            *unit = character;
        }
        // SAFETY: the caller provides a buffer for the name.
        unsafe { *name = text };
        kResultOk
    }

    unsafe fn createInstance(&self, class: *mut TUID, _: *mut TUID, object: *mut *mut c_void) -> tresult {
        if class.is_null() || object.is_null() {
            return kInvalidArgument;
        }
        // SAFETY: the caller provides the id of a class. It is not always aligned.
        let class = unsafe { *class }.map(|byte| byte.cast_unsigned());
        let created: *mut c_void = if class == IMessage::IID {
            into_raw(ComWrapper::new(Message::new()).to_com_ptr::<IMessage>())
        } else if class == IAttributeList::IID {
            into_raw(ComWrapper::new(AttributeList::default()).to_com_ptr::<IAttributeList>())
        } else {
            std::ptr::null_mut()
        };
        // SAFETY: the caller provides memory for the object, which it then owns.
        unsafe { *object = created };
        if created.is_null() { kNoInterface } else { kResultOk }
    }
}

fn into_raw<I: Interface>(object: Option<ComPtr<I>>) -> *mut c_void {
    object.map_or(std::ptr::null_mut(), |object| object.into_raw().cast())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::time::Duration;

    use vst3::ComRef;
    use vst3::Steinberg::Linux::{
        FileDescriptor, IEventHandler, IRunLoopTrait, ITimerHandler, TimerInterval,
    };
    use vst3::Steinberg::{kInvalidArgument, kResultFalse, kResultOk, tresult};

    use super::HostApplication;

    fn result(is_done: bool) -> tresult {
        if is_done { kResultOk } else { kResultFalse }
    }

    impl IRunLoopTrait for HostApplication {
        unsafe fn registerEventHandler(
            &self,
            handler: *mut IEventHandler,
            descriptor: FileDescriptor,
        ) -> tresult {
            // SAFETY: the caller passes null or an object.
            match unsafe { ComRef::from_raw(handler) } {
                Some(handler) => result(self.run_loop.add_descriptor(handler.to_com_ptr(), descriptor)),
                None => kInvalidArgument,
            }
        }

        unsafe fn unregisterEventHandler(&self, handler: *mut IEventHandler) -> tresult {
            result(self.run_loop.remove_descriptor(handler))
        }

        unsafe fn registerTimer(&self, handler: *mut ITimerHandler, milliseconds: TimerInterval) -> tresult {
            // SAFETY: the caller passes null or an object.
            match unsafe { ComRef::from_raw(handler) } {
                Some(handler) => {
                    // An hour at most, so that the time of the next call can be computed.
                    let interval = Duration::from_millis(milliseconds.min(3_600_000));
                    result(self.run_loop.add_timer(handler.to_com_ptr(), interval))
                }
                None => kInvalidArgument,
            }
        }

        unsafe fn unregisterTimer(&self, handler: *mut ITimerHandler) -> tresult {
            result(self.run_loop.remove_timer(handler))
        }
    }
}
