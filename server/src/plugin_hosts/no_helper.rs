//! Systems other than Unix, where no plugins are hosted.

use songfoundry_bridge_protocol::frame::Frame;
use songfoundry_bridge_protocol::host::{Answer, Request};

use super::PluginHosts;
use super::error::HostError;

/// A type without values, because no helper can be started.
pub(super) struct HostHelper<'a>(std::convert::Infallible, std::marker::PhantomData<&'a ()>);

impl<'a> HostHelper<'a> {
    /// Always fails.
    pub(super) fn start(hosts: &'a PluginHosts, _: &'a dyn Fn() -> bool, _: bool) -> Result<Self, HostError> {
        Err(HostError::NotStarted {
            program: hosts.bridge.program().display().to_string(),
            reason: "it hosts plugins only on Linux and macOS".to_owned(),
        })
    }

    /// Is never called.
    pub(super) fn end_reason(&mut self) -> Option<HostError> {
        match self.0 {}
    }

    /// Is never called.
    pub(super) fn close(&mut self) {
        match self.0 {}
    }

    /// Is never called.
    pub(super) fn request(&mut self, _: &Request, _: &[u8]) -> Result<Frame<Answer>, HostError> {
        match self.0 {}
    }

    /// Is never called.
    pub(super) fn take_end(&mut self) -> Option<HostError> {
        match self.0 {}
    }

    /// Is never called.
    pub(super) fn send(&mut self, _: &Request, _: &[u8]) -> Result<(), HostError> {
        match self.0 {}
    }

    /// Is never called.
    pub(super) fn receive(&mut self, _: &mut Vec<u8>) -> Result<Answer, HostError> {
        match self.0 {}
    }
}
