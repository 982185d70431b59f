//! `songfoundry-bridge host`: hosts one plugin and answers the service's requests on a socket.
//!
//! A plugin runs on the main thread, offline and in real time. In real time, posted blocks
//! (`live_blocks.rs`) precede requests, and one request is answered between two turns of blocks. A
//! plugin may crash, hang or end this process. The service detects the end of the socket, and
//! limits the time of each request.

mod blocks;
pub(crate) mod bounds;
pub(crate) mod buses;
pub(crate) mod editor;
#[cfg(unix)]
pub(crate) mod event_loop;
#[cfg(target_os = "linux")]
mod live_blocks;
#[cfg(not(target_os = "linux"))]
#[path = "no_live_blocks.rs"]
mod live_blocks;
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
    use songfoundry_bridge_protocol::host::{Answer, Request};

    signals::protect_ancestors();
    parent::end_with_parent()?;
    limits::limit_resources(memory_max_bytes)?;
    let socket = event_loop::take_socket(socket)?;
    let mut session = session::Session::default();
    // The buffers keep their memory, so that requests do not allocate.
    let (mut binary, mut reply) = (Vec::new(), Vec::new());
    let mut live_blocks: Option<live_blocks::LiveBlocks> = None;
    let mut last = None;
    loop {
        let posted = live_blocks.as_ref().map(live_blocks::LiveBlocks::posted_socket);
        let ready = event_loop::wait(&socket, posted, session.plugin(), last)?;
        last = Some(ready);
        if ready == event_loop::Ready::Block {
            if let Some(blocks) = &mut live_blocks
                && !blocks.process(&mut session)?
            {
                live_blocks = None;
            }
            continue;
        }
        let Some(request) = read_frame_into::<Request>(&socket, &mut binary)? else { break };
        let is_last = request == Request::Close;
        let answer = match request {
            Request::ShareBlocks => {
                reply.clear();
                match live_blocks::LiveBlocks::receive(&socket, &session)? {
                    Ok(blocks) => {
                        live_blocks = Some(blocks);
                        Answer::Done
                    }
                    Err(reason) => Answer::Refused { reason },
                }
            }
            request => session.answer(request, &binary, &mut reply),
        };
        write_frame(&socket, &answer, &reply)?;
        if is_last {
            break;
        }
    }
    session.close();
    // This skips the exit handlers of libraries, because some of them crash.
    module::end_at_once()
}

/// Returns an error, because the helper hosts no plugins on systems other than Unix.
#[cfg(not(unix))]
pub(crate) fn run(_: i32, _: u64) -> anyhow::Result<()> {
    anyhow::bail!("this build cannot host plugins")
}
