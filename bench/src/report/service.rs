//! Measures the service's requests per second, their latency, and the limiting resource.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use ureq::Agent;

use super::Args;
use crate::process::process_cpu_secs;

/// Number of concurrent connections. Each sends its next request when it has received the answer.
const CLIENTS: usize = 16;

/// Duration of the measurement of each call.
const MEASURED_TIME: Duration = Duration::from_secs(3);

/// Processors with at least this utilization are the limiting resource.
const BUSY_UTILIZATION: f64 = 0.85;

/// Length of the audio file in seconds.
const SOUND_SECS: u32 = 10;

/// An API call of the page or of a script.
struct Call {
    name: &'static str,
    method: &'static str,
    path: String,
    /// Value of the `Range` header.
    range: Option<&'static str>,
    /// Whether the call writes to the database, which has one writer at a time.
    is_write: bool,
    /// Makes the body from the client's number and the number of the request.
    body: Option<fn(usize, usize) -> Value>,
}

impl Call {
    fn read(name: &'static str, path: impl Into<String>) -> Self {
        Self { name, method: "GET", path: path.into(), range: None, is_write: false, body: None }
    }
}

/// A running service. The service is killed when the value is dropped.
pub(super) struct Service {
    pub(super) child: Child,
    pub(super) url: String,
}

impl Service {
    /// Starts the service. `command` is the program, without the argument `serve` and the settings.
    pub(super) fn start(command: &mut Command, storage: &Path) -> anyhow::Result<Self> {
        let mut child = command
            .arg("serve")
            .envs([("SF_PORT", "0"), ("SF_LOG", "warn")])
            .env("SF_STORAGE_DIR", storage)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the service")?;
        let mut lines = BufReader::new(child.stdout.take().context("the service has no output")?).lines();
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
            line.strip_prefix("Songfoundry is at ").map(|address| address.trim().to_owned())
        });
        // The remaining output is read, so that the pipe does not fill up.
        thread::spawn(move || lines.for_each(drop));
        let Some(url) = address else {
            child.kill()?;
            anyhow::bail!("the service did not print its address")
        };
        Ok(Self { child, url })
    }

    /// Returns the processor time so far in seconds. It is in fields 14 and 15 of proc_pid_stat(5),
    /// in hundredths of a second.
    fn cpu_secs(&self) -> anyhow::Result<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields = text.rsplit_once(')').context("the process status has no name in parentheses")?.1;
        let ticks: Vec<f64> =
            fields.split_whitespace().skip(11).take(2).map_while(|field| field.parse().ok()).collect();
        ensure!(ticks.len() == 2, "the process status has no times: {text}");
        Ok((ticks[0] + ticks[1]) / 100.0)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The service must end before its folder is deleted. An error means that it has already
        // ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn song(client: usize, request_number: usize) -> Value {
    let note = |tick: usize| json!({ "tick": tick * 240, "length_ticks": 240, "pitch": 60, "velocity": 0.8 });
    let notes: Vec<Value> = (0..200).map(note).collect();
    let item =
        json!({ "type": "midi", "id": "item", "start_tick": 0, "length_ticks": 48_000, "notes": notes });
    let track = json!({ "id": "track", "kind": "instrument", "items": [item] });
    json!({ "schema_version": 1, "project_id": format!("song-{client}"), "name": format!("Save {request_number}"), "tracks": [track] })
}

fn autosave(client: usize, request_number: usize) -> Value {
    json!({ "client_id": format!("window-{client}"), "project": song(client, request_number) })
}

/// Returns a sawtooth wave as a mono 16-bit WAV file at 48 kHz.
fn wav_file() -> Vec<u8> {
    let data_bytes = SOUND_SECS * 96_000;
    let mut output = b"RIFF".to_vec();
    output.extend((36 + data_bytes).to_le_bytes());
    output.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    output.extend(48_000_u32.to_le_bytes());
    output.extend(96_000_u32.to_le_bytes());
    output.extend(b"\x02\0\x10\0data");
    output.extend(data_bytes.to_le_bytes());
    output.extend((0..data_bytes / 2).flat_map(|frame| ((frame % 400 * 80) as i16).to_le_bytes()));
    output
}

/// Stores a project for each client and an audio file. Returns the API path of the audio file.
fn prepare(agent: &Agent, url: &str) -> anyhow::Result<String> {
    for client in 0..CLIENTS {
        agent.post(format!("{url}/api/v1/projects")).send_json(song(client, 0))?;
    }
    let mut body =
        b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\n".to_vec();
    body.extend(wav_file());
    body.extend(b"\r\n--b--\r\n");
    let upload =
        agent.post(format!("{url}/api/v1/audio/upload")).content_type("multipart/form-data; boundary=b");
    let answer: Value = upload.send(&body)?.body_mut().read_json()?;
    let id = answer["files"][0]["id"].as_str().context("the upload was answered without an id")?;
    Ok(format!("/audio/{id}"))
}

/// Returns the ten most frequent calls of a page and its scripts.
fn calls(audio: &str) -> Vec<Call> {
    let write = |name, method, path: &str, body| Call {
        method,
        is_write: true,
        body: Some(body),
        ..Call::read(name, path)
    };
    vec![
        Call::read("Capabilities", "/system/capabilities"),
        Call::read("Current user", "/auth/me"),
        Call::read("Revision of the autosave", "/projects/temp/revision"),
        Call::read("List of projects", "/projects?limit=100"),
        Call::read("A project", "/projects/song-0"),
        write("Save a project", "PUT", "/projects/song-{client}", song),
        write("Write the autosave", "PUT", "/projects/temp", autosave),
        Call::read("List of audio files", "/audio?limit=100"),
        Call::read("Peaks", format!("{audio}/peaks?format=dat&bits=8&samples_per_pixel=1024")),
        Call {
            range: Some("bytes=0-262143"),
            ..Call::read("256 KiB of samples", format!("{audio}/file?format=wav32f"))
        },
    ]
}

/// Sends requests as one client until `deadline` and returns the duration of each in seconds.
fn run_client(
    call: &Call,
    url: &str,
    token: &str,
    client: usize,
    deadline: Instant,
) -> anyhow::Result<Vec<f64>> {
    let agent = Agent::new_with_defaults();
    let url = format!("{url}/api/v1{}", call.path.replace("{client}", &client.to_string()));
    let bearer = format!("Bearer {token}");
    let mut etag = current_etag(&agent, &url, &bearer, call)?;
    let mut durations_secs = Vec::new();
    while Instant::now() < deadline {
        let body = call.body.map(|body| body(client, durations_secs.len()).to_string());
        let mut request =
            ureq::http::Request::builder().method(call.method).uri(&url).header("Authorization", &bearer);
        if let Some(range) = call.range {
            request = request.header("Range", range);
        }
        if let Some(etag) = &etag {
            request = request.header("If-Match", etag);
        }
        let request = request.header("Content-Type", "application/json").body(body.unwrap_or_default())?;
        let start = Instant::now();
        let mut answer = agent.run(request)?;
        let bytes = answer.body_mut().read_to_vec()?;
        durations_secs.push(start.elapsed().as_secs_f64());
        ensure!(!bytes.is_empty(), "{} was answered with an empty body", call.name);
        if etag.is_some() {
            etag = answer.headers().get("etag").map(|etag| etag.to_str().map(str::to_owned)).transpose()?;
        }
    }
    Ok(durations_secs)
}

/// Returns the ETag of the revision that the first save replaces.
fn current_etag(agent: &Agent, url: &str, bearer: &str, call: &Call) -> anyhow::Result<Option<String>> {
    if !call.path.contains("{client}") {
        return Ok(None);
    }
    let answer = agent.get(url).header("Authorization", bearer).call()?;
    let etag = answer.headers().get("etag").context("the project has no ETag")?;
    Ok(Some(etag.to_str()?.to_owned()))
}

/// Returns a percentile by the nearest rank. `fraction` is from 0 to 1.
fn percentile(sorted: &[f64], fraction: f64) -> f64 {
    let rank = (fraction * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(f64::NAN)
}

/// Returns the limiting resource. `our_utilization` is the processor utilization by the service and
/// the clients, `utilization` that by all programs.
fn limiting_resource(writes: bool, our_utilization: f64, utilization: f64) -> &'static str {
    match (our_utilization >= BUSY_UTILIZATION, utilization >= BUSY_UTILIZATION, writes) {
        (true, ..) => "the processors",
        (false, true, _) => "the processors, busy with other programs: measure again",
        (false, false, true) => "SQLite's single writer, which waits for the disk at each commit",
        (false, false, false) => "waiting between threads, of the service or of the clients",
    }
}

/// Returns the busy and the total processor ticks since boot (proc_stat(5), first line).
fn processor_ticks() -> anyhow::Result<[f64; 2]> {
    let text = std::fs::read_to_string("/proc/stat")?;
    let line = text.lines().next().context("/proc/stat is empty")?;
    let ticks: Vec<f64> =
        line.split_whitespace().skip(1).take(8).map_while(|field| field.parse().ok()).collect();
    ensure!(ticks.len() == 8, "/proc/stat has no times: {line}");
    let total_ticks: f64 = ticks.iter().sum();
    // Fields 4 and 5 are the ticks of idle processors and of those that wait for a disk.
    Ok([total_ticks - ticks[3] - ticks[4], total_ticks])
}

/// Measures each call and prints a line for it.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    let service = Service::start(&mut Command::new(&args.songfoundry), &folder.join("service"))?;
    let agent = Agent::new_with_defaults();
    let answer: Value =
        agent.post(format!("{}/api/v1/auth/local", service.url)).send_empty()?.body_mut().read_json()?;
    let token = answer["access_token"].as_str().context("the log-in was answered without a token")?;
    let audio = prepare(&agent, &service.url)?;
    let processors = thread::available_parallelism()?.get() as f64;
    println!();
    println!(
        "The service: {CLIENTS} clients on the loopback interface send a request after each answer, for {} s per call. \
         They share the {processors} processors with the service.",
        MEASURED_TIME.as_secs()
    );
    println!(
        "{:<26} {:>10} {:>9} {:>9} {:>9} {:>9}  limited by",
        "", "requests/s", "p50 ms", "p99 ms", "service", "clients"
    );
    for call in calls(&audio) {
        let (service_before, clients_before, ticks_before) =
            (service.cpu_secs()?, process_cpu_secs()?, processor_ticks()?);
        let start = Instant::now();
        let durations: anyhow::Result<Vec<Vec<f64>>> = thread::scope(|scope| {
            let (call, url) = (&call, service.url.as_str());
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| {
                    scope.spawn(move || run_client(call, url, token, client, start + MEASURED_TIME))
                })
                .collect();
            let results = clients.into_iter().map(|client| client.join());
            results
                .map(|result| result.unwrap_or_else(|_| Err(anyhow::anyhow!("a client panicked"))))
                .collect()
        });
        let wall_secs = start.elapsed().as_secs_f64();
        let mut durations_secs: Vec<f64> =
            durations.with_context(|| call.name)?.into_iter().flatten().collect();
        durations_secs.sort_by(f64::total_cmp);
        let service_processors = (service.cpu_secs()? - service_before) / wall_secs;
        let client_processors = (process_cpu_secs()? - clients_before) / wall_secs;
        let ticks_after = processor_ticks()?;
        let utilization = (ticks_after[0] - ticks_before[0]) / (ticks_after[1] - ticks_before[1]).max(1.0);
        println!(
            "{:<26} {:>10.0} {:>9.2} {:>9.2} {:>7.2} p {:>7.2} p  {}",
            call.name,
            durations_secs.len() as f64 / wall_secs,
            percentile(&durations_secs, 0.5) * 1e3,
            percentile(&durations_secs, 0.99) * 1e3,
            service_processors,
            client_processors,
            limiting_resource(
                call.is_write,
                (service_processors + client_processors) / processors,
                utilization
            )
        );
    }
    println!("`service` and `clients` are the numbers of processors (p) that they kept busy.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!([0.5, 0.99, 1.0].map(|fraction| percentile(&values, fraction)), [50.0, 99.0, 100.0]);
        assert_eq!(percentile(&[7.0], 0.99), 7.0);
        assert!(percentile(&[], 0.5).is_nan());
    }

    #[test]
    fn the_limit_follows_from_the_busy_processors() {
        assert_eq!(limiting_resource(true, 0.95, 0.99), limiting_resource(false, 0.95, 0.99));
        assert_ne!(limiting_resource(true, 0.3, 0.4), limiting_resource(false, 0.3, 0.4));
        assert!(limiting_resource(true, 0.3, 0.99).contains("other programs"));
    }
}
