//! Messages that the parts of a plugin send each other, with their attributes.
#![expect(unsafe_code, reason = "VST3 objects have a C interface")]

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use vst3::Steinberg::Vst::IAttributeList_::AttrID;
use vst3::Steinberg::Vst::{IAttributeList, IAttributeListTrait, IMessage, IMessageTrait, TChar};
use vst3::Steinberg::{FIDString, kInvalidArgument, kResultFalse, kResultOk, tresult};
use vst3::{Class, ComPtr, ComWrapper};

/// Maximum length of a text of an attribute, in UTF-16 units.
const TEXT_UNITS_MAX: usize = 1 << 20;

/// An attribute. Binary values are never changed, because plugins hold pointers to them.
enum Attribute {
    Integer(i64),
    Float(f64),
    Text(Vec<TChar>),
    Binary(Box<[u8]>),
}

/// A list of attributes by name.
#[derive(Default)]
pub(super) struct AttributeList(Mutex<HashMap<CString, Attribute>>);

impl Class for AttributeList {
    type Interfaces = (IAttributeList,);
}

impl AttributeList {
    fn attributes(&self) -> MutexGuard<'_, HashMap<CString, Attribute>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// # Safety
    /// `id` must be null or a text that ends with a zero.
    unsafe fn set(&self, id: AttrID, attribute: Attribute) -> tresult {
        if id.is_null() {
            return kInvalidArgument;
        }
        // SAFETY: guaranteed by the caller.
        let id = unsafe { CStr::from_ptr(id) }.to_owned();
        self.attributes().insert(id, attribute);
        kResultOk
    }

    /// Passes the attribute to `read`, which returns whether it has the right type.
    ///
    /// # Safety
    /// `id` must be null or a text that ends with a zero.
    unsafe fn get(&self, id: AttrID, read: impl FnOnce(&Attribute) -> bool) -> tresult {
        if id.is_null() {
            return kInvalidArgument;
        }
        // SAFETY: guaranteed by the caller.
        let id = unsafe { CStr::from_ptr(id) };
        match self.attributes().get(id).is_some_and(read) {
            true => kResultOk,
            false => kResultFalse,
        }
    }
}

impl IAttributeListTrait for AttributeList {
    unsafe fn setInt(&self, id: AttrID, value: i64) -> tresult {
        // SAFETY: VST3 defines the id as a text.
        unsafe { self.set(id, Attribute::Integer(value)) }
    }

    unsafe fn getInt(&self, id: AttrID, value: *mut i64) -> tresult {
        let read = |attribute: &Attribute| match attribute {
            // SAFETY: the caller provides memory for the value.
            Attribute::Integer(integer) => unsafe {
                *value = *integer;
                true
            },
            _ => false,
        };
        // SAFETY: VST3 defines the id as a text.
        unsafe { self.get(id, read) }
    }

    unsafe fn setFloat(&self, id: AttrID, value: f64) -> tresult {
        // SAFETY: VST3 defines the id as a text.
        unsafe { self.set(id, Attribute::Float(value)) }
    }

    unsafe fn getFloat(&self, id: AttrID, value: *mut f64) -> tresult {
        let read = |attribute: &Attribute| match attribute {
            // SAFETY: the caller provides memory for the value.
            Attribute::Float(float) => unsafe {
                *value = *float;
                true
            },
            _ => false,
        };
        // SAFETY: VST3 defines the id as a text.
        unsafe { self.get(id, read) }
    }

    unsafe fn setString(&self, id: AttrID, string: *const TChar) -> tresult {
        if string.is_null() {
            return kInvalidArgument;
        }
        // SAFETY: the text ends with a zero, up to which it is read.
        let units = (0..TEXT_UNITS_MAX).map(|index| unsafe { *string.add(index) });
        let text: Vec<TChar> = units.take_while(|unit| *unit != 0).collect();
        // SAFETY: VST3 defines the id as a text.
        unsafe { self.set(id, Attribute::Text(text)) }
    }

    unsafe fn getString(&self, id: AttrID, string: *mut TChar, bytes: u32) -> tresult {
        let units_max = bytes as usize / size_of::<TChar>();
        let read = |attribute: &Attribute| match attribute {
            Attribute::Text(text) if units_max > 0 => {
                let length = text.len().min(units_max - 1);
                // SAFETY: the caller provides a buffer of `bytes` bytes, which are more than the
                // text and a zero.
                unsafe {
                    std::ptr::copy_nonoverlapping(text.as_ptr(), string, length);
                    *string.add(length) = 0;
                }
                true
            }
            _ => false,
        };
        // SAFETY: VST3 defines the id as a text.
        unsafe { self.get(id, read) }
    }

    unsafe fn setBinary(&self, id: AttrID, data: *const c_void, bytes: u32) -> tresult {
        if data.is_null() && bytes > 0 {
            return kInvalidArgument;
        }
        let data: Box<[u8]> = match bytes {
            0 => Box::default(),
            // SAFETY: the caller provides as many bytes.
            _ => unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes as usize) }.into(),
        };
        // SAFETY: VST3 defines the id as a text.
        unsafe { self.set(id, Attribute::Binary(data)) }
    }

    unsafe fn getBinary(&self, id: AttrID, data: *mut *const c_void, bytes: *mut u32) -> tresult {
        let read = |attribute: &Attribute| match attribute {
            // SAFETY: the caller provides valid addresses for the pointer and the length. The
            // pointer is valid until the attribute is set again or the list is released.
            Attribute::Binary(binary) => unsafe {
                *data = binary.as_ptr().cast();
                *bytes = binary.len() as u32;
                true
            },
            _ => false,
        };
        // SAFETY: VST3 defines the id as a text.
        unsafe { self.get(id, read) }
    }
}

/// A message with an id and attributes.
pub(super) struct Message {
    id: Mutex<CString>,
    attributes: Option<ComPtr<IAttributeList>>,
}

impl Message {
    /// Creates a message without an id and attributes.
    pub(super) fn new() -> Self {
        let attributes = ComWrapper::new(AttributeList::default()).to_com_ptr();
        Self { id: Mutex::default(), attributes }
    }
}

impl Class for Message {
    type Interfaces = (IMessage,);
}

impl IMessageTrait for Message {
    unsafe fn getMessageID(&self) -> FIDString {
        self.id.lock().unwrap_or_else(PoisonError::into_inner).as_ptr()
    }

    unsafe fn setMessageID(&self, id: FIDString) {
        let id = match id.is_null() {
            true => CString::default(),
            // SAFETY: VST3 defines the id as a text that ends with a zero.
            false => unsafe { CStr::from_ptr(id) }.to_owned(),
        };
        *self.id.lock().unwrap_or_else(PoisonError::into_inner) = id;
    }

    unsafe fn getAttributes(&self) -> *mut IAttributeList {
        self.attributes.as_ref().map_or(std::ptr::null_mut(), ComPtr::as_ptr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_keep_their_type_and_value() {
        let message = Message::new();
        let list = message.attributes.as_ref().expect("a list");
        let (number, text) = (c"number".as_ptr(), c"text".as_ptr());
        let (mut integer, mut float, mut units) = (0, 0.0, [9_u16; 3]);
        // SAFETY: all pointers point to variables of sufficient size, and the texts end with zeros.
        unsafe {
            message.setMessageID(c"hello".as_ptr());
            assert_eq!(CStr::from_ptr(message.getMessageID()), c"hello");
            assert_eq!(list.setInt(number, -5), kResultOk);
            assert_eq!((list.getInt(number, &mut integer), integer), (kResultOk, -5));
            assert_eq!(list.getFloat(number, &mut float), kResultFalse);
            assert_eq!(list.setString(text, [72_u16, 105, 33, 0].as_ptr()), kResultOk);
            assert_eq!((list.getString(text, units.as_mut_ptr(), 6), units), (kResultOk, [72, 105, 0]));
            assert_eq!(list.getInt(c"none".as_ptr(), &mut integer), kResultFalse);
            let (mut data, mut bytes) = (std::ptr::null(), 0);
            assert_eq!(list.setBinary(number, [1_u8, 2].as_ptr().cast(), 2), kResultOk);
            assert_eq!(list.getBinary(number, &mut data, &mut bytes), kResultOk);
            assert_eq!(std::slice::from_raw_parts(data.cast::<u8>(), bytes as usize), [1, 2]);
        }
    }
}
