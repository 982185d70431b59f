//! `songfoundry-bridge host`: hosts one plugin and answers the service's requests on a socket.
//!
//! A plugin runs on the main thread, like in hosts that render offline. It may crash, hang or end
//! this process; the service sees the end of the socket, or limits the time of each request.

mod blocks;
pub(crate) mod bounds;
pub(crate) mod buses;
pub(crate) mod editor;
#[cfg(unix)]
pub(crate) mod event_loop;
pub(crate) mod plugin;
pub(crate) mod session;
pub(crate) mod state;

use crate::module;
use crate::process::{limits, parent, signals};

/// Answers requests on the inherited socket `socket` until the service closes the plugin or the
/// socket.
///
/// # Errors
/// Returns an error if the process cannot be prepared, or if the socket fails.
#[cfg(unix)]
pub(crate) fn run(socket: i32, memory_max_bytes: u64) -> anyhow::Result<()> {
    use songfoundry_bridge_protocol::frame::{read_frame_into, write_frame};
    use songfoundry_bridge_protocol::host::Request;

    signals::protect_ancestors();
    parent::end_with_parent()?;
    limits::limit_resources(memory_max_bytes)?;
    let socket = event_loop::take_socket(socket)?;
    let mut session = session::Session::default();
    // The buffers keep their memory, so that requests do not allocate.
    let (mut binary, mut reply) = (Vec::new(), Vec::new());
    loop {
        event_loop::wait(&socket, session.plugin())?;
        let Some(request) = read_frame_into::<Request>(&socket, &mut binary)? else { break };
        let is_last = request == Request::Close;
        let answer = session.answer(request, &binary, &mut reply);
        write_frame(&socket, &answer, &reply)?;
        if is_last {
            break;
        }
    }
    session.close();
    // This skips the exit handlers of libraries, because some of them crash.
    module::end_at_once()
}

/// Returns an error: on systems other than Unix, the helper cannot host plugins yet.
#[cfg(not(unix))]
pub(crate) fn run(_: i32, _: u64) -> anyhow::Result<()> {
    anyhow::bail!("this build cannot host plugins")
}
