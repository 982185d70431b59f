//! Measures the service's peak memory for the most expensive requests: one request alone, eight at
//! the same time, and different requests of several users at the same time. Also checks that the
//! service still answers.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::iter;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;
use ureq::Agent;

use super::service::Service;
use super::worst_bodies::{Operation, operations};
use super::worst_files::{
    Body, WorstRequest, hostile_banks, note_requests, short_sound, slow_bundle, small_project, worst_project,
    worst_requests,
};
use super::{Args, Goal, print_figure};

/// Largest allowed peak of the process, in MB.
const GOAL_MB: f64 = 1_500.0;

/// Limit of the process's address space in bytes, which protects the machine.
const ADDRESS_SPACE_BYTES: u64 = 6 << 30;

/// Number of concurrent requests.
const CONCURRENT_REQUESTS: usize = 8;

/// Users whose imports run at the same time. The service runs one import of each user at a time.
const IMPORTERS: [&str; 16] = [
    "alto", "bass", "brass", "cello", "drums", "flute", "harp", "horn", "oboe", "organ", "piano", "sax",
    "tenor", "tuba", "viola", "violin",
];

/// Number of concurrent reads of the largest project.
const CONCURRENT_READS: usize = 40;

/// Timeout of an answer and of its task. It is long because eight large renders run one after the
/// other.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(600);

/// Timeout of the health check.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(10);

/// Interval between two reads of a task.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Size in bytes of a body that exceeds every JSON limit. The service's answer contains the limit.
const OVERSIZED_BODY_BYTES: usize = 64 << 20;

/// Statuses of requests that did not reach the measured code. 0 stands for no answer.
const UNREACHED_STATUSES: [u16; 6] = [0, 401, 404, 405, 415, 500];

/// Statuses with which concurrent requests may be refused. A single request with such a status did
/// not reach the measured code.
const OVERLOAD_STATUSES: [u16; 2] = [429, 503];

/// Users other than the administrator.
const USERS: [&str; 3] = [EXAMPLE_USER, "bob", "eve"];

/// The user of the service's examples.
const EXAMPLE_USER: &str = "ada";

/// The running service and the results so far.
struct Measurement {
    service: Service,
    /// Tokens by user name.
    tokens: HashMap<&'static str, String>,
    /// Id of a stored item in each collection, by the collection's path.
    ids: HashMap<String, String>,
    line_count: usize,
    missed_count: usize,
    worst_mb: f64,
}

struct Request<'r> {
    method: &'r str,
    /// Path with the API's prefix.
    path: String,
    /// The sender, or `None` for open operations.
    user: Option<&'static str>,
    headers: Vec<(&'static str, String)>,
    body: &'r [u8],
    /// Whether the request must succeed when it is sent alone.
    is_valid: bool,
    /// The statuses in [`UNREACHED_STATUSES`] that are expected because of the body.
    expected_statuses: Vec<u16>,
}

impl<'r> Request<'r> {
    /// Returns a request of the administrator.
    fn new(method: &'r str, path: impl Into<String>, media_type: &str, body: &'r [u8]) -> Self {
        let headers = vec![("Content-Type", media_type.to_owned())];
        Self {
            method,
            path: path.into(),
            user: Some("admin"),
            headers,
            body,
            is_valid: false,
            expected_statuses: Vec::new(),
        }
    }

    fn json(method: &'r str, path: impl Into<String>, body: &'r [u8]) -> Self {
        Self::new(method, path, "application/json", body)
    }

    fn get(path: impl Into<String>) -> Self {
        Self::new("GET", path, "text/plain", b"")
    }

    /// Returns whether a status means that nothing was measured, or that a valid request was
    /// refused.
    fn is_unexpected(&self, status: u16, is_concurrent: bool) -> bool {
        (UNREACHED_STATUSES.contains(&status) && !self.expected_statuses.contains(&status))
            || (!is_concurrent && (OVERLOAD_STATUSES.contains(&status) || (self.is_valid && status >= 400)))
    }

    fn by_user(self, user: &'static str) -> Self {
        Self { user: Some(user), ..self }
    }
}

/// An answer with the first MiB of its body.
struct Answer {
    status: u16,
    headers: ureq::http::HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    fn header(&self, name: &str) -> Option<String> {
        Some(self.headers.get(name)?.to_str().ok()?.to_owned())
    }
}

impl Measurement {
    /// Starts the service with a limited address space. Registration is open, a language model's
    /// address is set, the default SoundFont is `long`, and the folders of SoundFonts and documents
    /// are in `folder`. All other settings have their defaults.
    fn start(program: &Path, folder: &Path) -> anyhow::Result<Self> {
        let soundfont_folder = folder.join("worst-soundfonts");
        std::fs::create_dir_all(&soundfont_folder)?;
        for (name, bytes) in hostile_banks() {
            std::fs::write(soundfont_folder.join(name), bytes)?;
        }
        let mut command = Command::new("prlimit");
        command
            .arg(format!("--as={ADDRESS_SPACE_BYTES}"))
            .arg(program)
            .envs([("SF_DEFAULT_SOUNDFONT", "long"), ("SF_REGISTRATION", "open")])
            // The discard port, on which nothing listens (RFC 863).
            .env("SF_AI_UPSTREAM_URL", "http://127.0.0.1:9/v1")
            .env("SF_DOCUMENTS_DIR", folder.join("worst-documents"))
            .env("SF_SOUNDFONT_DIRS", soundfont_folder);
        let service = Service::start(&mut command, &folder.join("worst"))?;
        let (tokens, ids) = (HashMap::new(), HashMap::new());
        Ok(Self { service, tokens, ids, line_count: 0, missed_count: 0, worst_mb: 0.0 })
    }

    /// Creates accounts, and an item in each collection from the service's examples.
    fn prepare(&mut self, operations: &[Operation]) -> anyhow::Result<()> {
        let token = |answer: &Answer| answer.json()["access_token"].as_str().map(str::to_owned);
        let answer =
            self.exchange(&Request { user: None, ..Request::json("POST", "/api/v1/auth/local", b"{}") })?;
        self.tokens.insert("admin", token(&answer).context("the log-in was answered without a token")?);
        let example = |path: &str| {
            let operation = operations
                .iter()
                .find(|operation| (operation.method.as_str(), operation.path.as_str()) == ("POST", path));
            operation
                .map(|operation| operation.example.clone())
                .with_context(|| format!("POST {path} has no example"))
        };
        for user in USERS.into_iter().chain(IMPORTERS) {
            let mut account = example("/api/v1/auth/register")?;
            account["username"] = user.into();
            if user != EXAMPLE_USER {
                account["password"] = format!("{user}-violin-9-{user}-trellis").into();
            }
            let body = account.to_string();
            let request = Request::json("POST", "/api/v1/auth/register", body.as_bytes());
            let answer = self.exchange(&Request { user: None, ..request })?;
            self.tokens.insert(
                user,
                token(&answer).with_context(|| format!("the account of {user} was not created"))?,
            );
        }
        for operation in operations {
            let Some((collection, _)) = operation.path.split_once("/{") else { continue };
            let (path, body) = match collection {
                // Each request needs a new upload.
                "/api/v1/audio/uploads" => continue,
                "/api/v1/audio" => ("/api/v1/audio/upload", short_sound()),
                "/api/v1/plugins/renders" => {
                    let render = serde_json::json!({ "project": example("/api/v1/projects")? });
                    ("/api/v1/plugins/render", Body::json(render.to_string()))
                }
                _ => (collection, Body::json(example(collection)?.to_string())),
            };
            if self.ids.contains_key(collection) {
                continue;
            }
            let answer = self.exchange(&Request::new("POST", path, body.media_type, &body.bytes))?;
            let json = answer.json();
            let pointers = ["/id", "/project_id", "/user/id", "/files/0/id", "/render_id"];
            let id = pointers.iter().find_map(|pointer| json.pointer(pointer)?.as_str());
            let id = id.with_context(|| format!("POST {path}: {} {json}", answer.status))?;
            self.ids.insert(collection.to_owned(), id.to_owned());
        }
        Ok(())
    }

    fn exchange(&self, request: &Request<'_>) -> anyhow::Result<Answer> {
        let mut builder = ureq::http::Request::builder()
            .method(request.method)
            .uri(format!("{}{}", self.service.url, request.path));
        if let Some(token) = request.user.and_then(|user| self.tokens.get(user)) {
            builder = builder.header("Authorization", format!("Bearer {token}"));
        }
        for (name, value) in &request.headers {
            builder = builder.header(*name, value);
        }
        let agent = agent(ANSWER_TIMEOUT);
        let mut answer = match request.body {
            [] => agent.run(builder.body(())?)?,
            body => agent.run(builder.body(body)?)?,
        };
        let mut body = Vec::new();
        let mut reader = answer.body_mut().as_reader();
        reader.by_ref().take(1 << 20).read_to_end(&mut body)?;
        std::io::copy(&mut reader, &mut std::io::sink())?;
        Ok(Answer { status: answer.status().as_u16(), headers: answer.headers().clone(), body })
    }

    /// Sends a request and returns its status, or that of the task that it started.
    fn status(&self, request: &Request<'_>) -> anyhow::Result<u16> {
        let answer = self.exchange(request)?;
        let Some(id) = answer.json()["task_id"].as_str().map(str::to_owned) else { return Ok(answer.status) };
        let (start, user) = (Instant::now(), request.user);
        while start.elapsed() < ANSWER_TIMEOUT {
            let task =
                self.exchange(&Request { user, ..Request::get(format!("/api/v1/tasks/{id}")) })?.json();
            match task["state"].as_str() {
                Some("succeeded") => return Ok(answer.status),
                Some("queued" | "running") => thread::sleep(POLL_INTERVAL),
                _ => return Ok(serde_json::from_value(task["error"]["status"].clone())?),
            }
        }
        bail!("the task {id} did not end within {} s", ANSWER_TIMEOUT.as_secs())
    }

    /// Returns the path of an operation with an existing id, and the headers that a body of `bytes`
    /// bytes needs.
    fn resolve_path(
        &self,
        template: &str,
        bytes: usize,
    ) -> anyhow::Result<(String, Vec<(&'static str, String)>)> {
        let Some((collection, suffix)) = template.split_once("/{") else {
            return Ok((template.to_owned(), Vec::new()));
        };
        let suffix = suffix.split_once('}').with_context(|| format!("the path {template} has no `}}`"))?.1;
        let tus = || ("Tus-Resumable", "1.0.0".to_owned());
        let (id, headers) = match collection {
            "/api/v1/audio/uploads" => {
                let mut request = Request::new("POST", collection, "text/plain", b"");
                request.headers.extend([tus(), ("Upload-Length", (bytes + 1).to_string())]);
                let location = self
                    .exchange(&request)?
                    .header("location")
                    .context("the upload was answered without a location")?;
                let id = location.rsplit('/').next().unwrap_or_default().to_owned();
                (id, vec![tus(), ("Upload-Offset", "0".to_owned())])
            }
            _ => {
                let id =
                    self.ids.get(collection).with_context(|| format!("there is no id for {template}"))?;
                let mut request = Request::get(format!("{collection}/{id}"));
                request.headers.push(("If-None-Match", "*".to_owned()));
                let tag = self.exchange(&request)?.header("etag");
                (id.clone(), tag.map(|tag| ("If-Match", tag)).into_iter().collect())
            }
        };
        Ok((format!("{collection}/{id}{suffix}"), headers))
    }

    /// Builds a request to an operation.
    fn request<'r>(
        &self,
        (method, template, query): (&'r str, &str, &str),
        media_type: &str,
        body: &'r [u8],
    ) -> anyhow::Result<Request<'r>> {
        let (path, headers) = self.resolve_path(template, body.len())?;
        let mut request = Request::new(method, path + query, media_type, body);
        request.headers.extend(headers);
        Ok(request)
    }

    /// Sends requests concurrently and returns the statuses of their answers, or 0 for no answer.
    fn send(&self, requests: &[Request<'_>]) -> Vec<u16> {
        thread::scope(|scope| {
            let threads: Vec<_> =
                requests.iter().map(|request| scope.spawn(|| self.status(request).unwrap_or(0))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or(0)).collect()
        })
    }

    /// Sends requests concurrently. Repeats the requests in `background` until they are answered.
    fn send_with(&self, requests: &[Request<'_>], background: &[Request<'_>]) -> Vec<u16> {
        let is_done = AtomicBool::new(false);
        let repeat = |request| {
            let next_status =
                || (!is_done.load(Ordering::Relaxed)).then(|| self.status(request).unwrap_or(0));
            iter::from_fn(next_status).collect::<Vec<_>>()
        };
        thread::scope(|scope| {
            let threads: Vec<_> =
                background.iter().map(|request| scope.spawn(move || repeat(request))).collect();
            let mut statuses = self.send(requests);
            is_done.store(true, Ordering::Relaxed);
            statuses.extend(threads.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|_| vec![0])));
            statuses
        })
    }

    /// Sends requests. Returns the peak resident memory in MB and the statuses of the answers.
    fn measure_peak(&mut self, send: impl FnOnce(&Self) -> Vec<u16>) -> anyhow::Result<(f64, Vec<u16>)> {
        let process = format!("/proc/{}", self.service.child.id());
        // This resets the peak to the current value (proc_pid_clear_refs(5)).
        std::fs::write(format!("{process}/clear_refs"), "5")?;
        let statuses = send(self);
        let exit_status = self.service.child.try_wait()?;
        ensure!(exit_status.is_none(), "the service ended: {exit_status:?}");
        let alive = agent(HEALTH_TIMEOUT).get(format!("{}/healthz", self.service.url)).call();
        ensure!(alive.is_ok(), "the service does not answer within {} s", HEALTH_TIMEOUT.as_secs());
        let status = std::fs::read_to_string(format!("{process}/status"))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .context("the process status has no VmHWM")?;
        let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok((kib * 1024.0 / 1e6, statuses))
    }

    /// Prints the line of a measurement.
    fn print_line(
        &mut self,
        name: &str,
        peak_mb: f64,
        statuses: &[u16],
        request: &Request<'_>,
        is_concurrent: bool,
    ) {
        let is_unexpected = statuses.iter().any(|status| request.is_unexpected(*status, is_concurrent));
        let name = format!(
            "{name}: {}{}",
            status_counts(statuses),
            if is_unexpected { " NOT MEASURED" } else { "" }
        );
        print_figure(&name, peak_mb, "MB", Some(Goal::AtMost(GOAL_MB)));
        self.line_count += 1;
        self.missed_count += usize::from(peak_mb > GOAL_MB || is_unexpected);
        self.worst_mb = self.worst_mb.max(peak_mb);
    }

    /// Measures concurrent requests.
    fn measure(&mut self, name: &str, requests: &[Request<'_>]) -> anyhow::Result<()> {
        let (peak_mb, statuses) =
            self.measure_peak(|measurement| measurement.send(requests)).with_context(|| name.to_owned())?;
        self.print_line(name, peak_mb, &statuses, &requests[0], requests.len() > 1);
        Ok(())
    }

    /// Measures a request alone, and eight of it at the same time.
    fn measure_both<'r>(
        &mut self,
        name: &str,
        request: impl Fn(&Self) -> anyhow::Result<Request<'r>>,
    ) -> anyhow::Result<()> {
        let single_answer = request(self)?;
        self.measure(name, &[single_answer])?;
        let many_requests: Vec<_> =
            (0..CONCURRENT_REQUESTS).map(|_| request(self)).collect::<anyhow::Result<_>>()?;
        self.measure(&format!("  the same, {CONCURRENT_REQUESTS} at once"), &many_requests)
    }

    /// Returns the limit of an operation's JSON body in bytes, which the answer to a larger body
    /// contains.
    fn body_limit(&self, operation: &Operation) -> anyhow::Result<usize> {
        let text = vec![b'x'; OVERSIZED_BODY_BYTES];
        let answer = self.exchange(&operation_request(self, operation, &text)?)?;
        let problem = answer.json();
        let detail = problem["detail"].as_str().filter(|_| answer.status == 413);
        let detail = detail.with_context(|| {
            format!("{} answered an oversized body with {}", operation.name(), answer.status)
        })?;
        let limit =
            detail.split(|character: char| !character.is_ascii_digit()).find(|digits| !digits.is_empty());
        let limit = limit.with_context(|| {
            format!("{} refused an oversized body without naming its limit: {detail}", operation.name())
        })?;
        Ok(limit.parse()?)
    }

    /// Measures an operation with each of its expensive bodies, and then eight requests with the
    /// worst body at the same time. If the operation takes a project, the worst valid project is
    /// also measured.
    fn measure_json_bodies(&mut self, operation: &Operation, project: &str) -> anyhow::Result<()> {
        let limit = self.body_limit(operation)?;
        let mut worst: Option<(f64, String, Vec<u8>)> = None;
        let mut statuses = Vec::new();
        for (kind, body) in operation.bodies(limit) {
            let request = operation_request(self, operation, &body)?;
            let (peak_mb, status) = self
                .measure_peak(|measurement| measurement.send(&[request]))
                .with_context(|| operation.name())?;
            statuses.extend(status);
            if worst.as_ref().is_none_or(|(worst_mb, ..)| peak_mb > *worst_mb) {
                worst = Some((peak_mb, kind, body));
            }
        }
        let (peak_mb, kind, body) = worst.context("the operation has no body")?;
        let name = format!("{}, {} KB of {kind}", operation.name(), limit / 1000);
        let request = operation_request(self, operation, &body)?;
        self.print_line(&name, peak_mb, &statuses, &request, false);
        let many_requests = (0..CONCURRENT_REQUESTS).map(|_| operation_request(self, operation, &body));
        let many_requests: Vec<_> = many_requests.collect::<anyhow::Result<_>>()?;
        self.measure(&format!("  the same, {CONCURRENT_REQUESTS} at once"), &many_requests)?;
        let Some(body) = operation.body_with(project) else { return Ok(()) };
        let name = format!("{}, worst valid project", operation.name());
        self.measure_both(&name, |measurement| {
            Ok(Request { is_valid: true, ..operation_request(measurement, operation, &body)? })
        })
    }

    /// Sends the head of a request, and `bytes` spaces as its body. The last byte of the body is
    /// never sent.
    fn send_stalled_body(&self, user: &str, bytes: usize) -> anyhow::Result<TcpStream> {
        let address = self.service.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address)?;
        write!(
            stream,
            "POST /api/v1/projects HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.tokens[user],
            bytes + 1
        )?;
        stream.write_all(&vec![b' '; bytes])?;
        Ok(stream)
    }

    /// Measures imports of bundles with as many entries as possible, one of each user, while their
    /// first audio files are decoded.
    fn measure_imports(&mut self) -> anyhow::Result<()> {
        let bundle = slow_bundle()?;
        let import = |user| {
            let request = Request::new("POST", "/api/v1/projects/import", bundle.media_type, &bundle.bytes);
            // The second audio file is empty.
            Request { expected_statuses: vec![415], ..request.by_user(user) }
        };
        self.measure("Imports of such bundles by 16 users at once", &IMPORTERS.map(import))
    }

    /// Measures eight different requests of three users at the same time. Each uses the maximum
    /// memory of one kind that the service permits. The other requests are repeated until both
    /// renders end.
    fn measure_mixed(
        &mut self,
        operations: &[Operation],
        files: &[WorstRequest],
        project: &str,
    ) -> anyhow::Result<()> {
        const STALLED_BYTES: usize = 32_000_000;
        let small_song = small_project();
        for (user, project) in [("ada", project), ("bob", small_song.as_str())] {
            let project = project.replacen(r#""project_id":"""#, r#""project_id":"song""#, 1);
            let request = Request::json("POST", "/api/v1/projects", project.as_bytes()).by_user(user);
            let name = format!("Valid project of {} KB, stored", project.len() / 1000);
            self.measure(&name, &[Request { is_valid: true, ..request }])?;
        }
        let reads: Vec<_> =
            (0..CONCURRENT_READS).map(|_| Request::get("/api/v1/projects/song").by_user("ada")).collect();
        self.measure(&format!("The larger one, {CONCURRENT_READS} reads at once"), &reads)?;
        let autosave = operations.iter().find(|operation| operation.path.ends_with("/projects/temp"));
        let autosave = autosave
            .and_then(|operation| operation.body_with(project))
            .context("the document has no autosave operation")?;
        let file = |path: &str| {
            let worst = files.iter().rfind(|file| file.path == path);
            let worst = worst.with_context(|| format!("there is no worst request for {path}"))?;
            anyhow::Ok(Request::new(worst.method, api_path(path), worst.body.media_type, &worst.body.bytes))
        };
        let render = br#"{"project_id":"song","tail_secs":0.1}"#;
        let reduced_path = "/api/v1/plugins/soundfonts/download/shared1?presets=0:0";
        let renders =
            ["ada", "bob"].map(|user| Request::json("POST", "/api/v1/plugins/render", render).by_user(user));
        let background = [
            Request::json("PUT", "/api/v1/projects/temp", &autosave).by_user("eve"),
            file("/multitrack/midi/import")?.by_user("bob"),
            file("/plugins/soundfonts/upload")?.by_user("eve"),
            Request::get(reduced_path).by_user("ada"),
        ];
        let stalled =
            [self.send_stalled_body("ada", STALLED_BYTES)?, self.send_stalled_body("bob", STALLED_BYTES)?];
        let (peak_mb, statuses) =
            self.measure_peak(|measurement| measurement.send_with(&renders, &background))?;
        let name = "Two renders, an autosave, a MIDI file, two SoundFonts, two stalled bodies";
        self.print_line(name, peak_mb, &statuses, &renders[0], true);
        drop(stalled);
        Ok(())
    }
}

fn operation_request<'r>(
    measurement: &Measurement,
    operation: &'r Operation,
    body: &'r [u8],
) -> anyhow::Result<Request<'r>> {
    let target = (operation.method.as_str(), operation.path.as_str(), "");
    let mut request = measurement.request(target, "application/json", body)?;
    if !operation.path.contains('{') {
        // The body names items that do not exist.
        request.expected_statuses.push(404);
    }
    if operation.is_open {
        // The password is wrong.
        request.expected_statuses.push(401);
        request.user = None;
    } else if operation.path.ends_with("/auth/password") {
        // The example's password is not this user's, so that no token is revoked.
        request.user = Some("bob");
    }
    Ok(request)
}

fn file_request<'r>(measurement: &Measurement, file: &'r WorstRequest) -> anyhow::Result<Request<'r>> {
    measurement.request(
        (file.method, &api_path(file.path), file.query),
        file.body.media_type,
        &file.body.bytes,
    )
}

/// Returns a path with the API's prefix.
fn api_path(path: &str) -> String {
    format!("/api/v1{path}")
}

fn agent(timeout: Duration) -> Agent {
    Agent::config_builder().timeout_global(Some(timeout)).http_status_as_error(false).build().into()
}

/// Returns the different statuses with their counts, for example `200, 3 x 503`.
fn status_counts(statuses: &[u16]) -> String {
    let mut sorted = statuses.to_vec();
    sorted.sort_unstable();
    let groups = sorted.chunk_by(|a, b| a == b);
    let words = groups.map(|group| match (group.len(), group[0]) {
        (1, 0) => "no answer".to_owned(),
        (1, status) => status.to_string(),
        (count, 0) => format!("{count} x no answer"),
        (count, status) => format!("{count} x {status}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Checks that for every operation with a body there is a worst request.
fn require_all(operations: &[Operation], files: &[WorstRequest]) -> anyhow::Result<()> {
    for operation in operations {
        for media_type in operation.media_types.iter().filter(|media_type| *media_type != "application/json")
        {
            let is_covered = files.iter().any(|file| {
                (file.method, api_path(file.path).as_str())
                    == (operation.method.as_str(), operation.path.as_str())
                    && file.body.media_type.starts_with(media_type)
            });
            ensure!(is_covered, "{} has no worst body of the type {media_type}", operation.name());
        }
    }
    Ok(())
}

/// Measures each operation and each of the worst requests, and prints a line for it.
///
/// # Errors
/// If the service ends or does not answer, or if a line misses its goal or measures nothing.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    let mut measurement = Measurement::start(&args.songfoundry, folder)?;
    println!();
    println!(
        "Memory of the service with default settings and open registration: peak of the process (VmHWM) without its \
         decoders, for the worst files and the worst body of each operation, alone and {CONCURRENT_REQUESTS} at once, with the \
         statuses of the answers."
    );
    let document: Value = agent(ANSWER_TIMEOUT)
        .get(format!("{}/api/v1/openapi.json", measurement.service.url))
        .call()?
        .into_body()
        .with_config()
        .limit(64 << 20)
        .read_json()?;
    let operations = operations(&document)?;
    let (files, banks, project) = (worst_requests()?, note_requests(), worst_project());
    require_all(&operations, &files)?;
    measurement.prepare(&operations)?;
    for operation in operations.iter().filter(|operation| operation.takes_json()) {
        measurement.measure_json_bodies(operation, &project)?;
    }
    for bank in &banks {
        let request = file_request(&measurement, bank)?;
        measurement.measure(bank.name, &[request])?;
    }
    let requests = banks.iter().map(|bank| file_request(&measurement, bank));
    let requests: Vec<_> = requests.collect::<anyhow::Result<_>>()?;
    measurement.measure("These banks at once", &requests)?;
    for file in &files {
        measurement.measure_both(file.name, |measurement| file_request(measurement, file))?;
    }
    measurement.measure_imports()?;
    measurement.measure_mixed(&operations, &files, &project)?;
    let Measurement { line_count, missed_count, worst_mb, .. } = measurement;
    println!("{line_count} lines, {missed_count} missed, the largest peak {worst_mb:.0} MB");
    ensure!(
        missed_count == 0,
        "{missed_count} lines on the memory of the service miss their goal or measure nothing"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn status_counts_has_each_status_once() {
        assert_eq!(status_counts(&[200]), "200");
        assert_eq!(status_counts(&[503, 200, 503, 0]), "no answer, 200, 2 x 503");
    }

    #[test]
    fn unexpected_statuses_depend_on_validity_and_concurrency() {
        let unexpected = |is_valid, is_concurrent| {
            let request = Request { is_valid, expected_statuses: vec![404], ..Request::get("/") };
            let all_statuses = [0, 200, 202, 400, 401, 404, 409, 413, 415, 422, 429, 500, 503];
            all_statuses
                .into_iter()
                .filter(|status| request.is_unexpected(*status, is_concurrent))
                .collect::<Vec<_>>()
        };
        assert_eq!(unexpected(false, false), [0, 401, 415, 429, 500, 503]);
        assert_eq!(unexpected(true, false), [0, 400, 401, 404, 409, 413, 415, 422, 429, 500, 503]);
        assert_eq!(unexpected(true, true), [0, 401, 415, 500]);
    }

    #[test]
    fn an_operation_without_a_worst_body_is_refused() {
        let content = json!({"application/json": {}, "audio/midi": {}});
        let path = json!({"post": {"requestBody": {"content": content}}});
        let document = json!({"paths": {"/api/v1/songs": path, "/api/v1/projects": {}}});
        let operations = operations(&document).expect("a document");
        let body = Body { media_type: "audio/midi", bytes: Vec::new() };
        let file = WorstRequest { name: "A song", method: "POST", path: "/songs", query: "", body };
        require_all(&operations, &[file]).expect("each body is covered");
        let error = require_all(&operations, &[]).expect_err("a body is not covered").to_string();
        assert_eq!(error, "POST /api/v1/songs has no worst body of the type audio/midi");
    }
}
