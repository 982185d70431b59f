//! Measures the window of a plugin: how long a movement of the pointer takes to a changed picture,
//! and how many pictures a second arrive during a drag. Another client sends blocks through the
//! same kind of plugin in real time meanwhile.

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};
use tungstenite::{Error, Message, WebSocket};
use ureq::Agent;

use super::live_effects::{FRAMES, RATE_HZ, block};
use super::live_session::{PLUGIN, Session, connect, plugin_id};
use super::service::Service;
use super::{Args, Goal, print_figure};

/// Number of clicks.
const CLICKS: usize = 40;

/// Pause before a click, in which the window becomes still.
const PAUSE: Duration = Duration::from_millis(300);

/// Longest wait for a changed picture.
const PICTURE_MAX: Duration = Duration::from_secs(5);

/// Duration of the drag.
const DRAG: Duration = Duration::from_secs(4);

/// Time between two movements of a drag, as in a browser with 60 pictures a second.
const MOVE_EVERY: Duration = Duration::from_micros(16_667);

/// Distance of the positions at which a knob is searched, in pixels.
const SEARCH_STEP: usize = 16;

/// Distance that a drag moves the pointer, in pixels.
const DRAG_PIXELS: f64 = 60.0;

/// A client of a window.
struct Window {
    socket: WebSocket<TcpStream>,
    width: f64,
    height: f64,
}

/// A message of the window.
enum Received {
    Picture,
    /// The user has changed a parameter.
    Edit,
    /// Nothing until the deadline.
    Nothing,
}

impl Window {
    fn open(service: &Service, plugin: &str) -> anyhow::Result<Self> {
        let request =
            json!({ "plugin_id": plugin, "track_id": "master", "effect_id": "measured", "embed": true });
        let mut answer = Agent::new_with_defaults()
            .post(format!("{}/api/v1/plugins/open-fx-gui", service.url))
            .send_json(request)?;
        let answer: Value = answer.body_mut().read_json()?;
        let size = |name: &str| answer[name].as_f64().with_context(|| format!("no {name} in {answer}"));
        let path = answer["embed_url"].as_str().context("no embed_url")?;
        let socket = connect(&service.url, &format!("{}/live", path.trim_end_matches('/')))?;
        Ok(Self { socket, width: size("width")?, height: size("height")? })
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        Ok(self.socket.send(Message::text(message.to_string()))?)
    }

    fn input(&mut self, events: &Value) -> anyhow::Result<()> {
        let message =
            json!({ "type": "input", "width": self.width, "height": self.height, "events": events });
        self.send(&message)
    }

    fn button(&mut self, (x, y): (f64, f64), down: bool) -> anyhow::Result<()> {
        self.input(&json!([{ "type": "button", "x": x, "y": y, "button": 0, "down": down }]))
    }

    fn move_to(&mut self, (x, y): (f64, f64)) -> anyhow::Result<()> {
        self.input(&json!([{ "type": "move", "x": x, "y": y }]))
    }

    /// Waits for a picture or an edit, and confirms pictures.
    fn receive(&mut self, deadline: Instant) -> anyhow::Result<Received> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Received::Nothing);
            }
            self.socket.get_mut().set_read_timeout(Some(left))?;
            match self.socket.read() {
                Ok(Message::Binary(_)) => {
                    self.send(&json!({ "type": "received" }))?;
                    return Ok(Received::Picture);
                }
                Ok(Message::Text(text)) if text.contains("\"edit\"") => return Ok(Received::Edit),
                Ok(Message::Text(text)) if text.contains("refused") => bail!("the window refused: {text}"),
                Ok(Message::Close(_)) => bail!("the window was closed"),
                Ok(_) => {}
                Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    return Ok(Received::Nothing);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Receives all messages until `deadline`. Returns the number of pictures, and whether there
    /// was an edit.
    fn receive_until(&mut self, deadline: Instant) -> anyhow::Result<(usize, bool)> {
        let (mut pictures, mut edited) = (0, false);
        loop {
            match self.receive(deadline)? {
                Received::Picture => pictures += 1,
                Received::Edit => edited = true,
                Received::Nothing => return Ok((pictures, edited)),
            }
        }
    }

    /// Returns a position where a drag changes a parameter.
    fn find_knob(&mut self) -> anyhow::Result<(f64, f64)> {
        for y in (SEARCH_STEP..self.height as usize).step_by(SEARCH_STEP) {
            for x in (SEARCH_STEP..self.width as usize).step_by(SEARCH_STEP) {
                let (x, y) = (x as f64, y as f64);
                self.button((x, y), true)?;
                self.move_to(dragged((x, y), DRAG_PIXELS / 4.0))?;
                self.button((x, y), false)?;
                if self.receive_until(Instant::now() + Duration::from_millis(60))?.1 {
                    self.receive_until(Instant::now() + PAUSE)?;
                    return Ok((x, y));
                }
            }
        }
        bail!("no position of the window changes a parameter")
    }

    /// Drags a knob a little, again and again. Returns the times to the changed pictures in
    /// milliseconds.
    fn click_delays_ms(&mut self, (x, y): (f64, f64)) -> anyhow::Result<Vec<f64>> {
        let mut delays = Vec::new();
        self.button((x, y), true)?;
        for number in 0..CLICKS {
            self.receive_until(Instant::now() + PAUSE)?;
            let offset = if number % 2 == 0 { DRAG_PIXELS } else { 0.0 };
            let sent = Instant::now();
            self.move_to(dragged((x, y), offset))?;
            loop {
                match self.receive(sent + PICTURE_MAX)? {
                    Received::Picture => break,
                    Received::Edit => {}
                    Received::Nothing => bail!("the picture does not change"),
                }
            }
            delays.push(sent.elapsed().as_secs_f64() * 1e3);
        }
        self.button((x, y), false)?;
        self.receive_until(Instant::now() + PAUSE)?;
        Ok(delays)
    }

    /// Drags a knob up and down. Returns the pictures a second.
    fn frames_per_sec(&mut self, (x, y): (f64, f64)) -> anyhow::Result<f64> {
        self.button((x, y), true)?;
        let (start, mut pictures) = (Instant::now(), 0);
        for number in 1.. {
            let due = start + MOVE_EVERY * number;
            if due > start + DRAG {
                break;
            }
            let phase = f64::from(number) / 60.0 * std::f64::consts::PI;
            self.move_to(dragged((x, y), DRAG_PIXELS * phase.sin().abs()))?;
            pictures += self.receive_until(due)?.0;
        }
        let frames_per_sec = pictures as f64 / start.elapsed().as_secs_f64();
        self.button((x, y), false)?;
        Ok(frames_per_sec)
    }
}

/// Returns a position above another; below it, if the drag would leave the window.
fn dragged((x, y): (f64, f64), pixels: f64) -> (f64, f64) {
    if y >= DRAG_PIXELS { (x, y - pixels) } else { (x, y + pixels) }
}

/// Sends blocks in real time until `is_over`. Returns the statistics before and after.
fn play(mut session: Session, is_over: &AtomicBool) -> anyhow::Result<[Value; 2]> {
    let block = block();
    let before = session.stats()?;
    let period = Duration::from_secs_f64(FRAMES as f64 / f64::from(RATE_HZ));
    let start = Instant::now();
    for number in 0.. {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let due = start + period * number;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        session.exchange(&block)?;
    }
    thread::sleep(period);
    session.receive()?;
    Ok([before, session.stats()?])
}

/// Prints all figures.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    println!();
    println!("The window of {PLUGIN}, while another {PLUGIN} processes blocks in real time.");
    let mut command = Command::new(&args.songfoundry);
    command.env("SF_BRIDGE", &args.bridge);
    let service = Service::start(&mut command, &folder.join("plugin-window"))?;
    let plugin = plugin_id(&service)?;
    let chain = json!({ "cmd": "chain", "sample_rate": RATE_HZ, "effects": [
        { "id": "plugin", "type": "vst3", "plugin_id": plugin } ] });
    let session = Session::open(&service.url, &chain)?;
    let mut window = Window::open(&service, &plugin)?;
    window.receive_until(Instant::now() + PAUSE)?;
    let knob = window.find_knob()?;
    let is_over = AtomicBool::new(false);
    let (delays, frames_per_sec, statistics) = thread::scope(|scope| {
        let playing = scope.spawn(|| play(session, &is_over));
        let delays = window.click_delays_ms(knob);
        let frames_per_sec = window.frames_per_sec(knob);
        is_over.store(true, Ordering::Relaxed);
        let statistics = playing.join().map_err(|_| anyhow::anyhow!("the client panicked"));
        anyhow::Ok((delays?, frames_per_sec?, statistics??))
    })?;
    print(delays, frames_per_sec, &statistics)
}

fn print(mut delays: Vec<f64>, frames_per_sec: f64, [before, after]: &[Value; 2]) -> anyhow::Result<()> {
    ensure!(!delays.is_empty(), "no delay was measured");
    delays.sort_by(f64::total_cmp);
    let late = |name: &str| {
        let count = |statistics: &Value| statistics.pointer(name).and_then(Value::as_u64);
        Some(count(after)? - count(before)?)
    };
    let late_blocks = late("/late_blocks").context("no late_blocks in the statistics")?;
    let plugin_late = late("/plugins/0/late_blocks").context("no late_blocks of the plugin")?;
    let goal = Some(Goal::AtMost(100.0));
    print_figure("Movement to changed picture, median", delays[delays.len() / 2], "ms", goal);
    print_figure("Movement to changed picture, longest", delays[delays.len() - 1], "ms", goal);
    print_figure("Pictures a second during a drag", frames_per_sec, "", Some(Goal::AtLeast(25.0)));
    let none = Some(Goal::AtMost(0.0));
    print_figure("Blocks answered after 5 ms meanwhile", late_blocks as f64, "blocks", none);
    print_figure("Blocks that the plugin did not process in time", plugin_late as f64, "blocks", none);
    Ok(())
}
