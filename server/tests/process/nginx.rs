//! A real nginx in front of a service.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::support::{Answer, Service, request};

const NGINX: &str = "/usr/sbin/nginx";

/// A running nginx, which is killed when dropped.
pub(crate) struct Nginx {
    child: Child,
    /// The address on which nginx listens.
    pub(crate) address: SocketAddr,
}

impl Nginx {
    /// Starts nginx in `folder` with the server block `server`. `LISTEN` in the block is replaced
    /// by the address of nginx.
    pub(crate) fn start(folder: &Path, server: &str) -> Self {
        // No other program uses the port on this loopback address.
        static STARTED: AtomicU8 = AtomicU8::new(100);
        let [.., high, low] = std::process::id().to_be_bytes();
        let ip = Ipv4Addr::new(127, STARTED.fetch_add(1, Ordering::Relaxed), high, low.clamp(1, 254));
        let address = SocketAddr::from((ip, 8080));
        let temporary_paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {0}/{kind};\n", folder.display()))
            .concat();
        let configuration = format!(
            "daemon off; master_process off; pid {0}/nginx.pid; error_log {0}/error.log;\n\
             events {{}}\nhttp {{\naccess_log off;\n{temporary_paths}{1}\n}}\n",
            folder.display(),
            server.replace("LISTEN", &address.to_string()),
        );
        let file = folder.join("nginx.conf");
        std::fs::write(&file, configuration).expect("writes");
        let mut command = Command::new(NGINX);
        command.arg("-p").arg(folder).arg("-c").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("nginx is installed (scripts/test does it)");
        let start_time = Instant::now();
        while std::net::TcpStream::connect(address).is_err() {
            let exit_status = child.try_wait().expect("waits");
            let error_log = std::fs::read_to_string(folder.join("error.log")).unwrap_or_default();
            assert!(
                exit_status.is_none() && start_time.elapsed() < Duration::from_secs(30),
                "{exit_status:?}: {error_log}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { child, address }
    }

    /// Sends a request and reads its answer.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        request(self.address, method, path, headers, b"").expect("a connection").expect("an answer")
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Nginx has already ended only if the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a server block that forwards everything with nginx's defaults and the directives in
/// `more`. By default, nginx rewrites `Host` and adds no proxy headers. It uses HTTP/1.0 before
/// version 1.29.7 and HTTP/1.1 since.
pub(crate) fn plain(service: &Service, more: &str) -> String {
    let upstream = service.address;
    format!("server {{ listen LISTEN; location / {{ proxy_pass http://{upstream}; {more} }} }}")
}
