//! Redirects unencrypted HTTP requests on the HTTPS port to the same address with `https://`.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

/// Answers one request, and closes the connection.
pub(super) async fn serve(stream: TcpStream, idle_max: Duration) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(idle_max).keep_alive(false);
    let service = service_fn(async |request: Request<Incoming>| Ok::<_, Infallible>(answer(&request)));
    let serving = builder.serve_connection(TokioIo::new(stream), service);
    // The time limit also ends a connection whose client keeps sending a body.
    if let Ok(Err(error)) = tokio::time::timeout(idle_max, serving).await {
        tracing::debug!(%error, "a connection ended before it was redirected");
    }
}

fn answer<B>(request: &Request<B>) -> Response<Body> {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let location = host.and_then(|host| HeaderValue::from_str(&format!("https://{host}{path}")).ok());
    let mut response = Response::new(Body::from("This address only accepts HTTPS; use https:// instead.\n"));
    *response.status_mut() = match location {
        Some(_) => StatusCode::PERMANENT_REDIRECT,
        None => StatusCode::BAD_REQUEST,
    };
    if let Some(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_keeps_the_host_path_and_query() {
        let request = Request::get("/songs?v=1").header("host", "studio.example:8600").body(()).unwrap();
        let response = answer(&request);
        assert_eq!(response.status(), 308);
        assert_eq!(response.headers()["location"], "https://studio.example:8600/songs?v=1");
        assert_eq!(answer(&Request::get("/").body(()).unwrap()).status(), 400);
    }
}
