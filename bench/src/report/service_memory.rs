//! How much memory the service takes for the worst that a request may carry, one at a time, eight
//! at once and different ones of several users at once, and whether it still answers then.

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
use super::worst_files::{Body, Worst, banks, notes, small_project, sound, worst, worst_project};
use super::{Args, Goal, figure};

/// Most that the process may take, in MB.
const GOAL_MB: f64 = 1_500.0;

/// Memory that the system gives the process, in bytes: what wants more ends there, and not the
/// machine.
const ADDRESS_SPACE_BYTES: u64 = 6 << 30;

/// Requests that come at once.
const AT_ONCE: usize = 8;

/// How often the largest project is read at the same time.
const READS: usize = 40;

/// How long an answer is waited for, and the task that it begins: of eight large renders one runs
/// at a time.
const PATIENCE: Duration = Duration::from_secs(600);

/// How long the service may take to say that it lives.
const ALIVE_WITHIN: Duration = Duration::from_secs(10);

/// How often a task is asked for.
const ASK_EVERY: Duration = Duration::from_millis(200);

/// Beyond the largest body that JSON may be sent in, in bytes; the service says what its limit is.
const BODY_BEYOND_BYTES: usize = 64 << 20;

/// Statuses that say that a request did not reach what is measured; 0 is no answer.
const MISDIRECTED: [u16; 6] = [0, 401, 404, 405, 415, 500];

/// Statuses that say so of a request that comes alone. Of many at once some may be turned away.
const TURNED_AWAY: [u16; 2] = [429, 503];

/// Users beside the administrator of the machine.
const USERS: [&str; 3] = [EXAMPLE_USER, "bob", "eve"];

/// The user whose name and password are in the service's examples.
const EXAMPLE_USER: &str = "ada";

/// The service, and what was measured of it.
struct Subject {
    service: Service,
    /// Tokens by the names of their users.
    tokens: HashMap<&'static str, String>,
    /// Ids of what there is, by the path of its collection.
    ids: HashMap<String, String>,
    lines: usize,
    missed: usize,
    worst_mb: f64,
}

struct Request<'r> {
    method: &'r str,
    /// With the API's prefix.
    path: String,
    /// The user who sends it; nobody, where the operation is open.
    user: Option<&'static str>,
    headers: Vec<(&'static str, String)>,
    body: &'r [u8],
    /// Whether nothing is wrong with it.
    is_valid: bool,
    /// Statuses of [`MISDIRECTED`] that come of its body.
    of_body: Vec<u16>,
}

impl<'r> Request<'r> {
    /// A request of the administrator.
    fn new(method: &'r str, path: impl Into<String>, media_type: &str, body: &'r [u8]) -> Self {
        let headers = vec![("Content-Type", media_type.to_owned())];
        Self {
            method,
            path: path.into(),
            user: Some("admin"),
            headers,
            body,
            is_valid: false,
            of_body: Vec::new(),
        }
    }

    fn json(method: &'r str, path: impl Into<String>, body: &'r [u8]) -> Self {
        Self::new(method, path, "application/json", body)
    }

    fn get(path: impl Into<String>) -> Self {
        Self::new("GET", path, "text/plain", b"")
    }

    /// Whether a status says that nothing was measured, or that a valid request was refused.
    fn is_strange(&self, status: u16, at_once: bool) -> bool {
        (MISDIRECTED.contains(&status) && !self.of_body.contains(&status))
            || (!at_once && (TURNED_AWAY.contains(&status) || (self.is_valid && status >= 400)))
    }

    fn of(self, user: &'static str) -> Self {
        Self { user: Some(user), ..self }
    }
}

/// An answer, of which the first MiB is kept.
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

impl Subject {
    /// Starts the service with default settings, but so that accounts can be made and language
    /// models be asked, with the folder of hostile banks, and with bounded memory.
    fn start(program: &Path, folder: &Path) -> anyhow::Result<Self> {
        let sounds = folder.join("worst-soundfonts");
        std::fs::create_dir_all(&sounds)?;
        for (name, bytes) in banks() {
            std::fs::write(sounds.join(name), bytes)?;
        }
        let mut command = Command::new("prlimit");
        command
            .arg(format!("--as={ADDRESS_SPACE_BYTES}"))
            .arg(program)
            .envs([("SF_DEFAULT_SOUNDFONT", "long"), ("SF_REGISTRATION", "open")])
            // Nothing listens there (RFC 863).
            .env("SF_AI_UPSTREAM_URL", "http://127.0.0.1:9/v1")
            .env("SF_DOCUMENTS_DIR", folder.join("worst-documents"))
            .env("SF_SOUNDFONT_DIRS", sounds);
        let service = Service::start(&mut command, &folder.join("worst"))?;
        let (tokens, ids) = (HashMap::new(), HashMap::new());
        Ok(Self { service, tokens, ids, lines: 0, missed: 0, worst_mb: 0.0 })
    }

    /// Makes accounts, and one of each thing that operations change, from the service's examples.
    fn prepare(&mut self, operations: &[Operation]) -> anyhow::Result<()> {
        let token = |answer: &Answer| answer.json()["access_token"].as_str().map(str::to_owned);
        let answer =
            self.ask(&Request { user: None, ..Request::json("POST", "/api/v1/auth/local", b"{}") })?;
        self.tokens.insert("admin", token(&answer).context("a token")?);
        let example = |path: &str| {
            let found =
                operations.iter().find(|one| (one.method.as_str(), one.path.as_str()) == ("POST", path));
            found.map(|one| one.example.clone()).with_context(|| format!("no example of POST {path}"))
        };
        for user in USERS {
            let mut account = example("/api/v1/auth/register")?;
            account["username"] = user.into();
            if user != EXAMPLE_USER {
                account["password"] = format!("{user}-violin-9-{user}-trellis").into();
            }
            let body = account.to_string();
            let request = Request::json("POST", "/api/v1/auth/register", body.as_bytes());
            let answer = self.ask(&Request { user: None, ..request })?;
            self.tokens.insert(user, token(&answer).with_context(|| format!("{user} has no account"))?);
        }
        for operation in operations {
            let Some((collection, _)) = operation.path.split_once("/{") else { continue };
            let (path, body) = match collection {
                // Each request needs one of its own.
                "/api/v1/audio/uploads" => continue,
                "/api/v1/audio" => ("/api/v1/audio/upload", sound()),
                _ => (collection, Body::json(example(collection)?.to_string())),
            };
            if self.ids.contains_key(collection) {
                continue;
            }
            let answer = self.ask(&Request::new("POST", path, body.media_type, &body.bytes))?;
            let json = answer.json();
            let places = ["/id", "/project_id", "/user/id", "/files/0/id"];
            let id = places.iter().find_map(|place| json.pointer(place)?.as_str());
            let id = id.with_context(|| format!("POST {path}: {} {json}", answer.status))?;
            self.ids.insert(collection.to_owned(), id.to_owned());
        }
        Ok(())
    }

    fn ask(&self, request: &Request<'_>) -> anyhow::Result<Answer> {
        let mut builder = ureq::http::Request::builder()
            .method(request.method)
            .uri(format!("{}{}", self.service.url, request.path));
        if let Some(token) = request.user.and_then(|user| self.tokens.get(user)) {
            builder = builder.header("Authorization", format!("Bearer {token}"));
        }
        for (name, value) in &request.headers {
            builder = builder.header(*name, value);
        }
        let agent = agent(PATIENCE);
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

    /// The status of a request's answer, or of the task that it began once that has ended.
    fn status(&self, request: &Request<'_>) -> anyhow::Result<u16> {
        let answer = self.ask(request)?;
        let Some(id) = answer.json()["task_id"].as_str().map(str::to_owned) else { return Ok(answer.status) };
        let (begun, user) = (Instant::now(), request.user);
        while begun.elapsed() < PATIENCE {
            let task = self.ask(&Request { user, ..Request::get(format!("/api/v1/tasks/{id}")) })?.json();
            match task["state"].as_str() {
                Some("succeeded") => return Ok(answer.status),
                Some("queued" | "running") => thread::sleep(ASK_EVERY),
                _ => return Ok(serde_json::from_value(task["error"]["status"].clone())?),
            }
        }
        bail!("the task goes on")
    }

    /// The path of an operation, and what it needs beside a body, for a body of so many bytes.
    fn addressed(
        &self,
        template: &str,
        bytes: usize,
    ) -> anyhow::Result<(String, Vec<(&'static str, String)>)> {
        let Some((collection, rest)) = template.split_once("/{") else {
            return Ok((template.to_owned(), Vec::new()));
        };
        let rest = rest.split_once('}').context("a name in braces")?.1;
        let tus = || ("Tus-Resumable", "1.0.0".to_owned());
        let (id, headers) = match collection {
            "/api/v1/audio/uploads" => {
                let mut request = Request::new("POST", collection, "text/plain", b"");
                request.headers.extend([tus(), ("Upload-Length", (bytes + 1).to_string())]);
                let location = self.ask(&request)?.header("location").context("a place for an upload")?;
                let id = location.rsplit('/').next().unwrap_or_default().to_owned();
                (id, vec![tus(), ("Upload-Offset", "0".to_owned())])
            }
            _ => {
                let id = self.ids.get(collection).with_context(|| format!("no id for {template}"))?;
                let mut request = Request::get(format!("{collection}/{id}"));
                request.headers.push(("If-None-Match", "*".to_owned()));
                let tag = self.ask(&request)?.header("etag");
                (id.clone(), tag.map(|tag| ("If-Match", tag)).into_iter().collect())
            }
        };
        Ok((format!("{collection}/{id}{rest}"), headers))
    }

    /// A request to an operation.
    fn request<'r>(
        &self,
        (method, template, query): (&'r str, &str, &str),
        media_type: &str,
        body: &'r [u8],
    ) -> anyhow::Result<Request<'r>> {
        let (path, headers) = self.addressed(template, body.len())?;
        let mut request = Request::new(method, path + query, media_type, body);
        request.headers.extend(headers);
        Ok(request)
    }

    /// Sends requests at once, and says what the statuses of the answers were; 0 for none.
    fn send(&self, requests: &[Request<'_>]) -> Vec<u16> {
        thread::scope(|scope| {
            let sending: Vec<_> =
                requests.iter().map(|request| scope.spawn(|| self.status(request).unwrap_or(0))).collect();
            sending.into_iter().map(|one| one.join().unwrap_or(0)).collect()
        })
    }

    /// Sends some requests at once, and `others` again and again until those are answered.
    fn send_with(&self, requests: &[Request<'_>], others: &[Request<'_>]) -> Vec<u16> {
        let is_over = AtomicBool::new(false);
        let again = |request| {
            let again = || (!is_over.load(Ordering::Relaxed)).then(|| self.status(request).unwrap_or(0));
            iter::from_fn(again).collect::<Vec<_>>()
        };
        thread::scope(|scope| {
            let sending: Vec<_> = others.iter().map(|request| scope.spawn(move || again(request))).collect();
            let mut statuses = self.send(requests);
            is_over.store(true, Ordering::Relaxed);
            statuses.extend(sending.into_iter().flat_map(|one| one.join().unwrap_or_else(|_| vec![0])));
            statuses
        })
    }

    /// The most memory in MB that was present while requests were sent, and the statuses of their
    /// answers.
    fn peak(&mut self, send: impl FnOnce(&Self) -> Vec<u16>) -> anyhow::Result<(f64, Vec<u16>)> {
        let process = format!("/proc/{}", self.service.child.id());
        // Sets the peak back to what is held now (proc_pid_clear_refs(5)).
        std::fs::write(format!("{process}/clear_refs"), "5")?;
        let statuses = send(self);
        let ended = self.service.child.try_wait()?;
        ensure!(ended.is_none(), "the service ended: {ended:?}");
        let alive = agent(ALIVE_WITHIN).get(format!("{}/healthz", self.service.url)).call();
        ensure!(alive.is_ok(), "the service does not answer within {} s", ALIVE_WITHIN.as_secs());
        let status = std::fs::read_to_string(format!("{process}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("VmHWM")?;
        let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok((kib * 1024.0 / 1e6, statuses))
    }

    /// Prints a line on requests like this one.
    fn line(&mut self, name: &str, peak_mb: f64, statuses: &[u16], like: &Request<'_>, at_once: bool) {
        let is_strange = statuses.iter().any(|status| like.is_strange(*status, at_once));
        let name = format!("{name}: {}{}", counted(statuses), if is_strange { " NOT MEASURED" } else { "" });
        figure(&name, peak_mb, "MB", Some(Goal::AtMost(GOAL_MB)));
        self.lines += 1;
        self.missed += usize::from(peak_mb > GOAL_MB || is_strange);
        self.worst_mb = self.worst_mb.max(peak_mb);
    }

    /// Measures requests that are sent at once.
    fn measure(&mut self, name: &str, requests: &[Request<'_>]) -> anyhow::Result<()> {
        let (peak_mb, statuses) =
            self.peak(|subject| subject.send(requests)).with_context(|| name.to_owned())?;
        self.line(name, peak_mb, &statuses, &requests[0], requests.len() > 1);
        Ok(())
    }

    /// Measures a request alone, and eight times at once.
    fn measure_both<'r>(
        &mut self,
        name: &str,
        request: impl Fn(&Self) -> anyhow::Result<Request<'r>>,
    ) -> anyhow::Result<()> {
        let one = request(self)?;
        self.measure(name, &[one])?;
        let many: Vec<_> = (0..AT_ONCE).map(|_| request(self)).collect::<anyhow::Result<_>>()?;
        self.measure(&format!("  the same, {AT_ONCE} at once"), &many)
    }

    /// The largest JSON body of an operation, in bytes, as its refusal of a larger one says.
    fn body_limit(&self, operation: &Operation) -> anyhow::Result<usize> {
        let text = vec![b'x'; BODY_BEYOND_BYTES];
        let answer = self.ask(&operation_request(self, operation, &text)?)?;
        let problem = answer.json();
        let detail = problem["detail"].as_str().filter(|_| answer.status == 413);
        let detail = detail.with_context(|| format!("{} is answered {}", operation.name(), answer.status))?;
        let limit = detail.split(|letter: char| !letter.is_ascii_digit()).find(|digits| !digits.is_empty());
        Ok(limit.context("a limit")?.parse()?)
    }

    /// Measures an operation with each of its worst bodies, the worst of them eight times at once,
    /// and with the worst valid project, if it takes one.
    fn json_bodies(&mut self, operation: &Operation, project: &str) -> anyhow::Result<()> {
        let limit = self.body_limit(operation)?;
        let mut worst: Option<(f64, String, Vec<u8>)> = None;
        let mut statuses = Vec::new();
        for (kind, body) in operation.bodies(limit) {
            let request = operation_request(self, operation, &body)?;
            let (peak_mb, status) =
                self.peak(|subject| subject.send(&[request])).with_context(|| operation.name())?;
            statuses.extend(status);
            if worst.as_ref().is_none_or(|(most, ..)| peak_mb > *most) {
                worst = Some((peak_mb, kind, body));
            }
        }
        let (peak_mb, kind, body) = worst.context("a body")?;
        let name = format!("{}, {} KB of {kind}", operation.name(), limit / 1000);
        let like = operation_request(self, operation, &body)?;
        self.line(&name, peak_mb, &statuses, &like, false);
        let many = (0..AT_ONCE).map(|_| operation_request(self, operation, &body));
        let many: Vec<_> = many.collect::<anyhow::Result<_>>()?;
        self.measure(&format!("  the same, {AT_ONCE} at once"), &many)?;
        let Some(body) = operation.body_with(project) else { return Ok(()) };
        let name = format!("{}, worst valid project", operation.name());
        self.measure_both(&name, |subject| {
            Ok(Request { is_valid: true, ..operation_request(subject, operation, &body)? })
        })
    }

    /// Begins to send a project, and stops before its end.
    fn stopped_body(&self, user: &str, bytes: usize) -> anyhow::Result<TcpStream> {
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

    /// Measures eight different requests of three users at once, each of which takes as much as it
    /// may of another kind of memory. While the renders run, the others come again and again.
    fn mixed(&mut self, operations: &[Operation], files: &[Worst], project: &str) -> anyhow::Result<()> {
        const STOPPED_BYTES: usize = 32_000_000;
        let small = small_project();
        for (user, project) in [("ada", project), ("bob", small.as_str())] {
            let project = project.replacen(r#""project_id":"""#, r#""project_id":"song""#, 1);
            let request = Request::json("POST", "/api/v1/projects", project.as_bytes()).of(user);
            let name = format!("Valid project of {} KB, stored", project.len() / 1000);
            self.measure(&name, &[Request { is_valid: true, ..request }])?;
        }
        let reads: Vec<_> = (0..READS).map(|_| Request::get("/api/v1/projects/song").of("ada")).collect();
        self.measure(&format!("The larger one, read {READS} at once"), &reads)?;
        let autosave = operations.iter().find(|one| one.path.ends_with("/projects/temp"));
        let autosave = autosave.and_then(|one| one.body_with(project)).context("an autosave")?;
        let file = |path: &str| {
            let found = files.iter().rfind(|one| one.path == path);
            let found = found.with_context(|| format!("nothing for {path}"))?;
            anyhow::Ok(Request::new(found.method, api(path), found.body.media_type, &found.body.bytes))
        };
        let render = br#"{"project_id":"song","tail_secs":0.1}"#;
        let reduced = "/api/v1/plugins/soundfonts/download/shared1?presets=0:0";
        let renders =
            ["ada", "bob"].map(|user| Request::json("POST", "/api/v1/plugins/render", render).of(user));
        let others = [
            Request::json("PUT", "/api/v1/projects/temp", &autosave).of("eve"),
            file("/multitrack/midi/import")?.of("bob"),
            file("/plugins/soundfonts/upload")?.of("eve"),
            Request::get(reduced).of("ada"),
        ];
        let stopped = [self.stopped_body("ada", STOPPED_BYTES)?, self.stopped_body("bob", STOPPED_BYTES)?];
        let (peak_mb, statuses) = self.peak(|subject| subject.send_with(&renders, &others))?;
        let name = "Two renders, an autosave, a MIDI file, two SoundFonts, two bodies that stop";
        self.line(name, peak_mb, &statuses, &renders[0], true);
        drop(stopped);
        Ok(())
    }
}

fn operation_request<'r>(
    subject: &Subject,
    operation: &'r Operation,
    body: &'r [u8],
) -> anyhow::Result<Request<'r>> {
    let what = (operation.method.as_str(), operation.path.as_str(), "");
    let mut request = subject.request(what, "application/json", body)?;
    if !operation.path.contains('{') {
        // What the body names is not there.
        request.of_body.push(404);
    }
    if operation.is_open {
        // A wrong password.
        request.of_body.push(401);
        request.user = None;
    } else if operation.path.ends_with("/auth/password") {
        // The example has another password than this user: nobody's tokens end.
        request.user = Some("bob");
    }
    Ok(request)
}

fn file_request<'r>(subject: &Subject, file: &'r Worst) -> anyhow::Result<Request<'r>> {
    subject.request((file.method, &api(file.path), file.query), file.body.media_type, &file.body.bytes)
}

/// A path with what all paths of the API begin with.
fn api(path: &str) -> String {
    format!("/api/v1{path}")
}

fn agent(patience: Duration) -> Agent {
    Agent::config_builder().timeout_global(Some(patience)).http_status_as_error(false).build().into()
}

/// Statuses with how often each came: `200, 3 x 503`.
fn counted(statuses: &[u16]) -> String {
    let mut sorted = statuses.to_vec();
    sorted.sort_unstable();
    let groups = sorted.chunk_by(|one, other| one == other);
    let words = groups.map(|group| match (group.len(), group[0]) {
        (1, 0) => "no answer".to_owned(),
        (1, status) => status.to_string(),
        (count, 0) => format!("{count} x no answer"),
        (count, status) => format!("{count} x {status}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Refuses operations with a body of which nothing is measured.
fn require_all(operations: &[Operation], files: &[Worst]) -> anyhow::Result<()> {
    for operation in operations {
        for media_type in operation.media_types.iter().filter(|one| *one != "application/json") {
            let is_there = files.iter().any(|file| {
                (file.method, api(file.path).as_str()) == (operation.method.as_str(), operation.path.as_str())
                    && file.body.media_type.starts_with(media_type)
            });
            ensure!(is_there, "no worst body for {} of the type {media_type}", operation.name());
        }
    }
    Ok(())
}

/// Prints a line for each operation and each of the worst bodies.
///
/// # Errors
/// If the service ends or does not answer, or if a line misses its goal or measures nothing.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    let mut subject = Subject::start(&args.songfoundry, folder)?;
    println!();
    println!(
        "Memory of the service with default settings, and open registration: peak of the process (VmHWM), without its decoders, for the \
         worst files and for the worst body of each operation that takes one, alone and {AT_ONCE} at once, with \
         the statuses of the answers."
    );
    let document: Value = agent(PATIENCE)
        .get(format!("{}/api/v1/openapi.json", subject.service.url))
        .call()?
        .into_body()
        .with_config()
        .limit(64 << 20)
        .read_json()?;
    let operations = operations(&document)?;
    let (files, banks, project) = (worst()?, notes(), worst_project());
    require_all(&operations, &files)?;
    subject.prepare(&operations)?;
    for operation in operations.iter().filter(|one| one.takes_json()) {
        subject.json_bodies(operation, &project)?;
    }
    for bank in &banks {
        let request = file_request(&subject, bank)?;
        subject.measure(bank.name, &[request])?;
    }
    let requests = banks.iter().map(|bank| file_request(&subject, bank));
    let requests: Vec<_> = requests.collect::<anyhow::Result<_>>()?;
    subject.measure("These banks at once", &requests)?;
    for file in &files {
        subject.measure_both(file.name, |subject| file_request(subject, file))?;
    }
    subject.mixed(&operations, &files, &project)?;
    let Subject { lines, missed, worst_mb, .. } = subject;
    println!("{lines} lines, {missed} missed, the largest peak {worst_mb:.0} MB");
    ensure!(missed == 0, "{missed} lines on the memory of the service miss their goal or measure nothing");
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn statuses_are_counted() {
        assert_eq!(counted(&[200]), "200");
        assert_eq!(counted(&[503, 200, 503, 0]), "no answer, 200, 2 x 503");
    }

    #[test]
    fn a_request_that_measures_nothing_is_noticed() {
        let strange = |is_valid, at_once| {
            let request = Request { is_valid, of_body: vec![404], ..Request::get("/") };
            let all = [0, 200, 202, 400, 401, 404, 409, 413, 415, 422, 429, 500, 503];
            all.into_iter().filter(|status| request.is_strange(*status, at_once)).collect::<Vec<_>>()
        };
        assert_eq!(strange(false, false), [0, 401, 415, 429, 500, 503]);
        assert_eq!(strange(true, false), [0, 400, 401, 404, 409, 413, 415, 422, 429, 500, 503]);
        assert_eq!(strange(true, true), [0, 401, 415, 500]);
    }

    #[test]
    fn an_operation_without_a_worst_body_is_an_error() {
        let content = json!({"application/json": {}, "audio/midi": {}});
        let path = json!({"post": {"requestBody": {"content": content}}});
        let document = json!({"paths": {"/api/v1/songs": path, "/api/v1/projects": {}}});
        let operations = operations(&document).expect("a document");
        let body = Body { media_type: "audio/midi", bytes: Vec::new() };
        let file = Worst { name: "A song", method: "POST", path: "/songs", query: "", body };
        require_all(&operations, &[file]).expect("there is one for each");
        let error = require_all(&operations, &[]).expect_err("one lacks").to_string();
        assert_eq!(error, "no worst body for POST /api/v1/songs of the type audio/midi");
    }
}
