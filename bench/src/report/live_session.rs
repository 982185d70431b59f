//! A client of the WebSocket of real-time effects, and the plugin that the measurements use.

use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Error, Message, WebSocket};
use ureq::Agent;

use super::service::Service;

/// Name and folder of the plugin, from Debian's package `zam-plugins`.
pub(super) const PLUGIN: &str = "ZamVerb";
const PLUGINS: &str = "/usr/lib/vst3";

/// Longest wait for a message of the service.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// Opens a WebSocket of the service.
pub(super) fn connect(url: &str, path: &str) -> anyhow::Result<WebSocket<TcpStream>> {
    let address = url.strip_prefix("http://").context("the URL has no scheme")?;
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    let request = format!("ws://{address}{path}").into_client_request()?;
    let (socket, _) = tungstenite::client(request, stream)
        .map_err(|error| anyhow::anyhow!("the WebSocket was refused: {error}"))?;
    Ok(socket)
}

/// A client that sends blocks in real time.
pub(super) struct Session {
    socket: WebSocket<TcpStream>,
    is_waiting: bool,
    /// Blocks whose answer had not arrived when the next block was due.
    pub(super) client_late: u64,
}

impl Session {
    pub(super) fn open(url: &str, chain: &Value) -> anyhow::Result<Self> {
        let mut socket = connect(url, "/api/v1/plugins/ws/fx-realtime")?;
        socket.send(Message::text(chain.to_string()))?;
        let mut session = Self { socket, is_waiting: false, client_late: 0 };
        let has_plugin = chain.to_string().contains("plugin_id");
        session.answer(if has_plugin { "plugin_ready" } else { "latency" })?;
        Ok(session)
    }

    /// Waits for a text message.
    fn answer(&mut self, cmd: &str) -> anyhow::Result<Value> {
        loop {
            if let Message::Text(text) = self.socket.read()? {
                let answer: Value = serde_json::from_str(&text)?;
                ensure!(answer["cmd"] != "error", "{answer}");
                if answer["cmd"] == cmd {
                    return Ok(answer);
                }
            }
        }
    }

    /// Receives the last block, and sends the next one.
    pub(super) fn exchange(&mut self, block: &Message) -> anyhow::Result<()> {
        self.receive()?;
        self.socket.send(block.clone())?;
        self.is_waiting = true;
        Ok(())
    }

    /// Receives the last block, if there is one. It should have arrived by now.
    pub(super) fn receive(&mut self) -> anyhow::Result<()> {
        self.socket.get_mut().set_nonblocking(true)?;
        while self.is_waiting {
            match self.socket.read() {
                Ok(message) => self.is_waiting = !message.is_binary(),
                Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    self.client_late += 1;
                    self.socket.get_mut().set_nonblocking(false)?;
                    while !self.socket.read()?.is_binary() {}
                    self.is_waiting = false;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.socket.get_mut().set_nonblocking(false)?)
    }

    pub(super) fn stats(&mut self) -> anyhow::Result<Value> {
        self.socket.send(Message::text(json!({ "cmd": "stats" }).to_string()))?;
        self.answer("stats")
    }
}

/// Returns the id of the plugin, after a scan.
pub(super) fn plugin_id(service: &Service) -> anyhow::Result<String> {
    let agent = Agent::new_with_defaults();
    agent.post(format!("{}/api/v1/plugins/dirs", service.url)).send_json(json!({ "path": PLUGINS }))?;
    let mut answer = agent.get(format!("{}/api/v1/plugins/effects", service.url)).call()?;
    let effects: Value = answer.body_mut().read_json()?;
    let list = effects["vst_effects"].as_array().context("there are no plugins")?;
    let found = list.iter().find(|plugin| plugin["name"] == PLUGIN);
    Ok(found.and_then(|plugin| plugin["plugin_id"].as_str()).context("the plugin is missing")?.to_owned())
}
