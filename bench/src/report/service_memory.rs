//! How much memory the service takes for the worst that a request may carry, one at a time and
//! eight at once, and whether it still answers then.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use ureq::Agent;

use super::service::Service;
use super::worst_bodies::{Operation, operations};
use super::worst_files::{Body, banks, notes, worst};
use super::{Args, Goal, figure};

/// Most that the process may take, in MB.
const GOAL_MB: f64 = 1_500.0;

/// Memory that the system gives the process, in bytes: what wants more ends there, and not the
/// machine.
const ADDRESS_SPACE_BYTES: u64 = 6 << 30;

/// Requests that come at once.
const AT_ONCE: usize = 8;

/// How long an answer is waited for. Who waits longer hangs up.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the service may take to say that it lives.
const ALIVE_WITHIN: Duration = Duration::from_secs(10);

/// Largest body that is tried, in bytes; the service says what its limit is.
const BODY_MAX_BYTES: usize = 32 << 20;

/// The service, and how to start it again.
struct Subject {
    program: PathBuf,
    folder: PathBuf,
    service: Service,
    token: String,
    starts: u32,
}

impl Subject {
    fn start(program: &Path, folder: &Path) -> anyhow::Result<Self> {
        let sounds = folder.join("worst-soundfonts");
        std::fs::create_dir_all(&sounds)?;
        for (name, bytes) in banks() {
            std::fs::write(sounds.join(name), bytes)?;
        }
        let (service, token) = launch(program, folder, 0)?;
        Ok(Self { program: program.to_owned(), folder: folder.to_owned(), service, token, starts: 1 })
    }

    /// Starts it again, on a storage folder of its own.
    fn restart(&mut self) -> anyhow::Result<()> {
        (self.service, self.token) = launch(&self.program, &self.folder, self.starts)?;
        self.starts += 1;
        Ok(())
    }

    fn has_ended(&mut self) -> anyhow::Result<bool> {
        Ok(self.service.child.try_wait()?.is_some())
    }

    /// Sets the peak back to what is held now (proc_pid_clear_refs(5)).
    fn reset_peak(&self) -> anyhow::Result<()> {
        std::fs::write(format!("/proc/{}/clear_refs", self.service.child.id()), "5")?;
        Ok(())
    }

    /// The most memory that was present since, in MB.
    fn peak_mb(&self) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.service.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("VmHWM")?;
        let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kib * 1024.0 / 1e6)
    }

    fn is_alive(&self) -> bool {
        agent(ALIVE_WITHIN).get(format!("{}/healthz", self.service.url)).call().is_ok()
    }

    /// Sends requests at once, and says what the statuses of the answers were; 0 for none.
    fn send(&self, requests: &[Request<'_>]) -> Vec<u16> {
        thread::scope(|scope| {
            let sending: Vec<_> =
                requests.iter().map(|request| scope.spawn(|| self.status(request).unwrap_or(0))).collect();
            sending.into_iter().map(|one| one.join().unwrap_or(0)).collect()
        })
    }

    fn status(&self, request: &Request<'_>) -> anyhow::Result<u16> {
        let builder = ureq::http::Request::builder()
            .method(request.method)
            .uri(format!("{}{}", self.service.url, request.path))
            .header("Authorization", format!("Bearer {}", self.token))
            .header("Content-Type", request.media_type)
            .body(request.body)?;
        let mut answer = agent(PATIENCE).run(builder)?;
        let status = answer.status().as_u16();
        // The answer is read to its end and ignored.
        let _ = std::io::copy(&mut answer.body_mut().as_reader(), &mut std::io::sink());
        Ok(status)
    }

    /// Sends requests at once and prints what the process took, under this name.
    fn measure(&mut self, name: &str, requests: &[Request<'_>]) -> anyhow::Result<f64> {
        self.reset_peak()?;
        let statuses = self.send(requests);
        if self.has_ended()? {
            println!("{name:<60} THE SERVICE ENDED");
            self.restart()?;
            return Ok(f64::INFINITY);
        }
        let peak_mb = self.peak_mb()?;
        figure(&format!("{name}: {}", counted(&statuses)), peak_mb, "MB", Some(Goal::AtMost(GOAL_MB)));
        if !self.is_alive() {
            println!("{name:<60} DOES NOT ANSWER within {} s", ALIVE_WITHIN.as_secs());
            self.restart()?;
        }
        Ok(peak_mb)
    }
}

struct Request<'r> {
    method: &'r str,
    /// With the API's prefix.
    path: &'r str,
    media_type: &'r str,
    body: &'r [u8],
}

impl<'r> Request<'r> {
    fn post(path: &'r str, body: &'r Body) -> Self {
        Self { method: "POST", path, media_type: body.media_type, body: &body.bytes }
    }
}

/// Starts the service with default settings, the folder of hostile banks, and bounded memory.
fn launch(program: &Path, folder: &Path, number: u32) -> anyhow::Result<(Service, String)> {
    let mut command = Command::new("prlimit");
    command
        .arg(format!("--as={ADDRESS_SPACE_BYTES}"))
        .arg(program)
        .env("SF_SOUNDFONT_DIRS", folder.join("worst-soundfonts"));
    let service = Service::start(&mut command, &folder.join(format!("worst-{number}")))?;
    let login = agent(PATIENCE).post(format!("{}/api/v1/auth/local", service.url)).send_empty()?;
    let answer: Value = login.into_body().read_json()?;
    let token = answer["access_token"].as_str().context("a token")?.to_owned();
    Ok((service, token))
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

/// Largest body of an operation, in bytes, as its refusal of a larger one says.
fn body_limit(subject: &Subject, operation: &Operation) -> anyhow::Result<usize> {
    let text = vec![b'x'; BODY_MAX_BYTES + 1];
    let mut answer = agent(PATIENCE).run(
        ureq::http::Request::builder()
            .method(operation.method.as_str())
            .uri(format!("{}{}", subject.service.url, operation.path))
            .header("Authorization", format!("Bearer {}", subject.token))
            .header("Content-Type", "application/json")
            .body(text.as_slice())?,
    )?;
    if answer.status() != 413 {
        return Ok(BODY_MAX_BYTES);
    }
    let problem: Value = answer.body_mut().read_json()?;
    let detail = problem["detail"].as_str().context("a detail")?;
    let limit = detail.split(|letter: char| !letter.is_ascii_digit()).find(|digits| !digits.is_empty());
    Ok(limit.context("a limit")?.parse::<usize>()?.min(BODY_MAX_BYTES))
}

/// Prints a line for each operation and each of the worst bodies.
pub(super) fn report(args: &Args, folder: &Path) -> anyhow::Result<()> {
    let mut subject = Subject::start(&args.songfoundry, folder)?;
    println!();
    println!(
        "Memory of the service with default settings: peak of the process (VmHWM) for the worst files and \
         for the worst body of each operation at its limit, one at a time and {AT_ONCE} at once."
    );
    let document: Value = agent(PATIENCE)
        .get(format!("{}/api/v1/openapi.json", subject.service.url))
        .call()?
        .into_body()
        .with_config()
        .limit(64 << 20)
        .read_json()?;
    let operations = operations(&document)?;
    ensure!(operations.len() > 20, "only {} operations take JSON", operations.len());
    for bank in ["shared", "shared1", "shared2", "shared3", "long", "toolong", "codebooks", "tables"] {
        let worst = notes(bank);
        let path = format!("/api/v1{}", worst.path);
        subject.measure(worst.name, &[Request::post(&path, &worst.body)])?;
    }
    let all: Vec<_> = ["shared", "shared1", "shared2", "shared3", "long", "toolong", "codebooks", "tables"]
        .map(notes)
        .into();
    let paths: Vec<String> = all.iter().map(|one| format!("/api/v1{}", one.path)).collect();
    let requests: Vec<_> = all.iter().zip(&paths).map(|(one, path)| Request::post(path, &one.body)).collect();
    subject.measure("These eight banks at once", &requests)?;
    for one in worst()? {
        let path = format!("/api/v1{}", one.path);
        subject.measure(one.name, &[Request::post(&path, &one.body)])?;
        let requests: Vec<_> = (0..AT_ONCE).map(|_| Request::post(&path, &one.body)).collect();
        subject.measure(&format!("{} ({AT_ONCE} at once)", one.name), &requests)?;
    }
    for operation in &operations {
        json_bodies(&mut subject, operation)?;
    }
    Ok(())
}

/// Measures an operation with each of its worst bodies, and the worst of them eight times at once.
fn json_bodies(subject: &mut Subject, operation: &Operation) -> anyhow::Result<()> {
    let limit = body_limit(subject, operation).with_context(|| operation.name())?;
    let mut worst: Option<(f64, &str, Vec<u8>)> = None;
    for (kind, body) in operation.bodies(limit) {
        subject.reset_peak()?;
        let request = Request {
            method: &operation.method,
            path: &operation.path,
            media_type: "application/json",
            body: &body,
        };
        subject.send(&[request]);
        let peak_mb = if subject.has_ended()? { f64::INFINITY } else { subject.peak_mb()? };
        if peak_mb.is_infinite() {
            println!("{:<60} THE SERVICE ENDED ({kind})", operation.name());
            subject.restart()?;
        }
        if worst.as_ref().is_none_or(|(most, ..)| peak_mb > *most) {
            worst = Some((peak_mb, kind, body));
        }
    }
    let Some((peak_mb, kind, body)) = worst else { return Ok(()) };
    let name = format!("{}, {} KB of {kind}", operation.name(), limit / 1000);
    figure(&name, peak_mb, "MB", Some(Goal::AtMost(GOAL_MB)));
    let requests: Vec<_> = (0..AT_ONCE)
        .map(|_| Request {
            method: &operation.method,
            path: &operation.path,
            media_type: "application/json",
            body: &body,
        })
        .collect();
    subject.measure(&format!("  the same, {AT_ONCE} at once"), &requests)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn statuses_are_counted() {
        assert_eq!(counted(&[200]), "200");
        assert_eq!(counted(&[503, 200, 503, 0]), "no answer, 200, 2 x 503");
    }
}
