//! Parameter changes of a block: a queue of values for each parameter.
#![expect(unsafe_code, reason = "VST3 objects have a C interface")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use songfoundry_bridge_protocol::host::PARAMETERS_MAX;
use vst3::Steinberg::Vst::{
    IParamValueQueue, IParamValueQueueTrait, IParameterChanges, IParameterChangesTrait, ParamID, ParamValue,
};
use vst3::Steinberg::{kInvalidArgument, kOutOfMemory, kResultOk, tresult};
use vst3::{Class, ComPtr, ComWrapper};

/// Maximum number of values in a queue. A block has at most 8,192 frames.
const POINTS_MAX: usize = 16_384;

/// The values of a parameter in a block, each with its frame.
pub(super) struct ParameterQueue {
    id: ParamID,
    points: Mutex<Vec<(i32, ParamValue)>>,
}

impl ParameterQueue {
    fn points(&self) -> MutexGuard<'_, Vec<(i32, ParamValue)>> {
        self.points.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a value in the order of frames; a value at the same frame is replaced. Returns its
    /// index, or `None` if the queue is full.
    fn add(&self, frame: i32, value: ParamValue) -> Option<usize> {
        let mut points = self.points();
        match points.binary_search_by_key(&frame, |point| point.0) {
            Ok(index) => {
                points[index].1 = value;
                Some(index)
            }
            Err(index) if points.len() < POINTS_MAX => {
                points.insert(index, (frame, value));
                Some(index)
            }
            Err(_) => None,
        }
    }
}

impl Class for ParameterQueue {
    type Interfaces = (IParamValueQueue,);
}

impl IParamValueQueueTrait for ParameterQueue {
    unsafe fn getParameterId(&self) -> ParamID {
        self.id
    }

    unsafe fn getPointCount(&self) -> i32 {
        self.points().len() as i32
    }

    unsafe fn getPoint(&self, index: i32, frame: *mut i32, value: *mut ParamValue) -> tresult {
        let point = usize::try_from(index).ok().and_then(|index| self.points().get(index).copied());
        let Some(point) = point.filter(|_| !frame.is_null() && !value.is_null()) else {
            return kInvalidArgument;
        };
        // SAFETY: the caller provides valid addresses for the frame and the value.
        unsafe { (*frame, *value) = point };
        kResultOk
    }

    unsafe fn addPoint(&self, frame: i32, value: ParamValue, index: *mut i32) -> tresult {
        let Some(added_index) = self.add(frame, value) else { return kOutOfMemory };
        if !index.is_null() {
            // SAFETY: the caller provides memory for the index.
            unsafe { *index = added_index as i32 };
        }
        kResultOk
    }
}

/// The queues of a block.
#[derive(Default)]
pub(super) struct ParameterChanges(Mutex<Vec<(ComWrapper<ParameterQueue>, ComPtr<IParamValueQueue>)>>);

impl Class for ParameterChanges {
    type Interfaces = (IParameterChanges,);
}

impl ParameterChanges {
    /// Creates an object with these changes: id, frame and value.
    pub(super) fn new(changes: impl IntoIterator<Item = (ParamID, i32, ParamValue)>) -> ComWrapper<Self> {
        let object = Self::default();
        for (id, frame, value) in changes {
            if let Some((_, queue)) = object.queue(id) {
                // SAFETY: the queue is an object of this host, and the index may be null.
                unsafe { queue.addPoint(frame, value, std::ptr::null_mut()) };
            }
        }
        ComWrapper::new(object)
    }

    /// Returns the last value of each parameter.
    pub(super) fn last_values(&self) -> Vec<(ParamID, ParamValue)> {
        let queues = self.queues();
        let last = |queue: &ParameterQueue| queue.points().last().map(|(_, value)| (queue.id, *value));
        queues.iter().filter_map(|(queue, _)| last(queue)).collect()
    }

    fn queues(&self) -> MutexGuard<'_, Vec<(ComWrapper<ParameterQueue>, ComPtr<IParamValueQueue>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the index and the queue of a parameter, which is created if necessary.
    fn queue(&self, id: ParamID) -> Option<(usize, ComPtr<IParamValueQueue>)> {
        let mut queues = self.queues();
        if let Some(index) = queues.iter().position(|(queue, _)| queue.id == id) {
            return Some((index, queues[index].1.clone()));
        }
        if queues.len() >= PARAMETERS_MAX {
            return None;
        }
        let queue = ComWrapper::new(ParameterQueue { id, points: Mutex::default() });
        let pointer = queue.to_com_ptr::<IParamValueQueue>()?;
        queues.push((queue, pointer.clone()));
        Some((queues.len() - 1, pointer))
    }
}

/// Returns the interface of the changes, which is valid as long as the object.
pub(super) fn as_changes(changes: &ComWrapper<ParameterChanges>) -> *mut IParameterChanges {
    changes.as_com_ref::<IParameterChanges>().map_or(std::ptr::null_mut(), |changes| changes.as_ptr())
}

impl IParameterChangesTrait for ParameterChanges {
    unsafe fn getParameterCount(&self) -> i32 {
        self.queues().len() as i32
    }

    unsafe fn getParameterData(&self, index: i32) -> *mut IParamValueQueue {
        let queues = self.queues();
        let queue = usize::try_from(index).ok().and_then(|index| queues.get(index));
        queue.map_or(std::ptr::null_mut(), |(_, queue)| queue.as_ptr())
    }

    unsafe fn addParameterData(&self, id: *const ParamID, index: *mut i32) -> *mut IParamValueQueue {
        if id.is_null() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller provides the id.
        let Some((added_index, queue)) = self.queue(unsafe { *id }) else { return std::ptr::null_mut() };
        if !index.is_null() {
            // SAFETY: the caller provides memory for the index.
            unsafe { *index = added_index as i32 };
        }
        // The object keeps the queue, so the pointer stays valid.
        queue.as_ptr()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_by_parameter_in_the_order_of_frames() {
        let changes =
            ParameterChanges::new([(7, 0, 0.1), (9, 5, 0.2), (7, 8, 0.4), (7, 3, 0.3), (7, 3, 0.5)]);
        assert_eq!(changes.last_values(), [(7, 0.4), (9, 0.2)]);
        let (_, queue) = changes.queue(7).expect("a queue");
        let (mut frame, mut value) = (0, 0.0);
        // SAFETY: the pointers point to variables.
        unsafe {
            assert_eq!((changes.getParameterCount(), queue.getPointCount()), (2, 3));
            assert_eq!(queue.getPoint(1, &mut frame, &mut value), kResultOk);
            assert_eq!((frame, value), (3, 0.5));
            assert_eq!(queue.getPoint(3, &mut frame, &mut value), kInvalidArgument);
            assert!(changes.getParameterData(2).is_null());
            let mut index = 0;
            assert!(!changes.addParameterData(&11, &mut index).is_null());
            assert_eq!(index, 2);
        }
        assert_eq!(changes.last_values().len(), 2);
    }
}
