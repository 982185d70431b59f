//! A window of a plugin on one server, used through another one.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket, client};

use crate::Cluster;
use crate::plugin_service::{built, holds_within};
use crate::support::{Answer, Service};

/// An instrument of Debian's package dpf-plugins-vst, and its id of the parameter Cutoff.
const NEKOBI: &str = "/usr/lib/vst/Nekobi-vst.so";
const CUTOFF: u32 = 2;

/// Starts a server that the others reach at its address.
fn start_server(cluster: &mut Cluster) -> Service {
    let helper = built().0.join("songfoundry-bridge").to_string_lossy().into_owned();
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let (port, address) = (free.port().to_string(), free.to_string());
    cluster.process(|storage, settings| {
        let own = [("SF_BRIDGE", helper.as_str()), ("SF_PORT", &port), ("SF_NODE_ADDRESS", &address)];
        // Tokens are valid on all servers.
        let all =
            [("SF_JWT_SECRET", "a secret of all servers with 40 characters"), ("SF_TRUST_LOCAL", "off")];
        let settings: Vec<_> = settings.iter().copied().chain(own).chain(all).collect();
        Service::start(storage, &settings)
    })
}

/// Logs the administrator in. Returns the value of the header `Authorization`.
fn log_in(server: &Service) -> String {
    let greeting = server.greeting.concat();
    let password = greeting.split('`').nth(3).expect("a password");
    let body = json!({ "username": "admin", "password": password });
    let token = |answer: &Value| format!("Bearer {}", answer["access_token"].as_str().expect("a token"));
    let first = token(&server.expect(200, "POST", "/api/v1/auth/login", &[], &body));
    let change = json!({ "current_password": password, "new_password": "tuba-lattice-overbid-9" });
    let headers = [("authorization", first.as_str())];
    token(&server.expect(200, "POST", "/api/v1/auth/password", &headers, &change))
}

fn open_live(address: SocketAddr, path: &str, bearer: &str) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(address).expect("connects");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("sets");
    let mut request = format!("ws://{address}{path}/live").into_client_request().expect("a URL");
    let protocols = format!("songfoundry.v1, {}", bearer.replace("Bearer ", "bearer."));
    request.headers_mut().insert("sec-websocket-protocol", protocols.parse().expect("a header"));
    client(request, stream).expect("a WebSocket").0
}

#[test]
fn a_window_is_used_through_another_server() {
    let mut cluster = Cluster::new();
    let (owner, other) = (start_server(&mut cluster), start_server(&mut cluster));
    let bearer = log_in(&owner);
    let auth = [("authorization", bearer.as_str())];
    let plugins = cluster.folder.path().join("plugins");
    std::fs::create_dir(&plugins).expect("a folder");
    std::fs::copy(NEKOBI, plugins.join("Nekobi-vst.so")).expect("install the package dpf-plugins-vst");
    owner.expect(200, "POST", "/api/v1/plugins/dirs", &auth, &json!({ "path": plugins }));
    let available = owner.expect(200, "GET", "/api/v1/plugins/available", &auth, &Value::Null);
    let id = available["vst_instruments"][0]["plugin_id"].clone();
    let open =
        || owner.expect(200, "POST", "/api/v1/plugins/open-fx-gui", &auth, &json!({ "plugin_id": id }));
    let opened = open();
    let url = opened["embed_url"].as_str().expect("a path").to_owned();
    let call = |method: &str, path: &str, body: &str| -> Answer {
        other.call(method, &format!("{url}{path}"), &auth, body).expect("an answer")
    };

    assert_eq!(call("GET", "/ping", "").status, 204);
    let frame = call("GET", "/frame", "");
    assert!(frame.status == 200 && frame.head.to_lowercase().contains("image/jpeg"), "{}", frame.head);
    let state = || call("GET", "/state", "").body;
    let before = state();
    assert!(before.contains("\"state\""), "{before}");
    let values = json!({ "values": [{ "id": CUTOFF, "value": 0.75 }] }).to_string();
    assert_eq!(call("POST", "/parameters", &values).status, 204);
    assert!(holds_within(Duration::from_secs(30), || state() != before), "the value reaches the plugin");
    let release = json!({ "width": 10, "height": 10, "events": [{ "type": "release" }] });
    assert_eq!(call("POST", "/input", &release.to_string()).status, 204);
    let refused = call("POST", "/input", &json!({ "width": 0 }).to_string());
    assert!(refused.status >= 400 && refused.status < 500, "{}", refused.body);
    for path in ["/hide", "/show"] {
        assert_eq!(call("POST", path, "").status, 204, "{path}");
    }

    // The WebSocket brings pictures and takes messages.
    let mut live = open_live(other.address, &url, &bearer);
    let mut next = || live.read().expect("a message within a minute");
    while !matches!(next(), Message::Binary(part) if part[10..].starts_with(&[0xff, 0xd8])) {}
    let outside = json!({ "type": "input", "width": 1, "height": 1,
        "events": [{ "type": "move", "x": 2, "y": 2 }] });
    live.send(Message::text(outside.to_string())).expect("sends");
    while !matches!(live.read().expect("a message"), Message::Text(text) if text.contains("refused")) {}
    drop(live);

    // Each server checks the caller.
    for path in ["/frame", "/ping"] {
        let answer = other.call("GET", &format!("{url}{path}"), &[], "").expect("an answer");
        assert_eq!(answer.status, 401, "{}", answer.body);
    }
    let unknown = other.call("GET", "/api/v1/plugins/fx-gui/none/ping", &auth, "").expect("an answer");
    assert!(unknown.status == 404 && unknown.body.contains("no_such_window"), "{}", unknown.body);

    let close = json!({ "window_id": opened["window_id"] }).to_string();
    let close = |server: &Service| server.call("POST", "/api/v1/plugins/fx-gui/close", &auth, &close);
    assert_eq!(close(&other).expect("an answer").status, 204);
    assert_eq!(close(&other).expect("an answer").status, 404);
    assert_eq!(call("GET", "/ping", "").status, 404);

    // A window of a server that was killed is a clear error.
    let url = open()["embed_url"].as_str().expect("a path").to_owned();
    owner.kill();
    let lost = other.call("GET", &format!("{url}/ping"), &auth, "").expect("an answer");
    assert!(lost.status == 502 && lost.body.contains("cannot be reached"), "{} {}", lost.status, lost.body);
}
