//! Handlers of requests that are passed on to the server of a window.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::Response;
use http_body_util::BodyExt as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::connection::{passed_on, send};
use super::open_windows::Client;
use super::queries::FrameQuery;
use crate::auth::CurrentUser;
use crate::error::{ApiResult, Problem};
use crate::extract::{Json, Path, Query};
use crate::state::AppState;

/// Input of the user, in order.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WindowInput {
    /// Width that the coordinates of the events refer to; they are scaled to the picture.
    #[schema(minimum = 1, maximum = 100000)]
    width: f64,
    /// Height that the coordinates of the events refer to.
    #[schema(minimum = 1, maximum = 100000)]
    height: f64,
    /// Events.
    #[schema(max_items = 256)]
    events: Vec<WindowInputEvent>,
}

/// An event of the pointer or the keyboard.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum WindowInputEvent {
    /// The pointer moves.
    Move {
        /// Horizontal position, 0 to `width`.
        x: f64,
        /// Vertical position, 0 to `height`.
        y: f64,
    },
    /// A button of the pointer is pressed or released.
    Button {
        /// Horizontal position, 0 to `width`.
        x: f64,
        /// Vertical position, 0 to `height`.
        y: f64,
        /// 0 is the left button, 1 the middle one, 2 the right one.
        #[schema(minimum = 0, maximum = 2)]
        button: u8,
        /// Whether it is pressed.
        down: bool,
    },
    /// The wheel turns.
    Wheel {
        /// Horizontal position of the pointer, 0 to `width`.
        x: f64,
        /// Vertical position of the pointer, 0 to `height`.
        y: f64,
        /// Steps to the right.
        #[schema(minimum = -128, maximum = 127)]
        steps_x: i8,
        /// Steps downwards.
        #[schema(minimum = -128, maximum = 127)]
        steps_y: i8,
    },
    /// A key is pressed or released.
    Key {
        /// Name of the key, as `KeyboardEvent.key` of browsers has it.
        key: String,
        /// Whether it is pressed.
        down: bool,
    },
    /// Text is typed.
    Text {
        /// The text.
        #[schema(max_length = 1000)]
        text: String,
    },
    /// All pressed buttons and keys are released.
    Release,
}

/// New values of parameters.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WindowParameters {
    /// The values.
    #[schema(max_items = 1000)]
    values: Vec<WindowParameter>,
}

/// A new value of a parameter.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WindowParameter {
    /// Id of the parameter.
    id: u32,
    /// Normalized value.
    #[schema(minimum = 0, maximum = 1)]
    value: f64,
}

/// Passes a request on.
async fn forward(
    state: &AppState,
    user: &CurrentUser,
    window_id: &str,
    method: Method,
    path: &str,
    body: Option<Bytes>,
) -> ApiResult<Response> {
    let window = state.plugin_windows.find(&user.id, window_id)?;
    let mut headers = HeaderMap::new();
    if body.is_some() {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    passed_on(send(&window, method, path, headers, body.unwrap_or_default()).await?)
}

fn bytes_of(value: &impl Serialize) -> ApiResult<Option<Bytes>> {
    let bytes = serde_json::to_vec(value).map_err(crate::error::ApiError::internal)?;
    Ok(Some(Bytes::from(bytes)))
}

/// Returns the picture of a window, with its menus and dialogs.
#[utoipa::path(get, path = "/plugins/fx-gui/{window_id}/frame", tag = "plugins",
    params(("window_id" = String, Path, description = "Id of the window"), FrameQuery),
    responses((status = 200, description = "The picture, or a stream of pictures", content_type = "image/jpeg"),
        (status = 404, description = "`no_such_window`", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "`too_many_streams`", body = Problem, content_type = "application/problem+json"),
        (status = 502, description = "`window_ended`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn read_frame(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(window_id): Path<String>,
    Query(query): Query<FrameQuery>,
) -> ApiResult<Response> {
    if query.stream != 1 {
        return forward(&state, &user, &window_id, Method::GET, "/frame", None).await;
    }
    let client = state.plugin_windows.find(&user.id, &window_id)?.add_client();
    let answer = forward(&state, &user, &window_id, Method::GET, "/frame?stream=1", None).await?;
    Ok(counted(answer, client))
}

/// Returns an answer that counts as a client until its body is dropped.
fn counted(answer: Response, client: Client) -> Response {
    answer.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _: &Client = &client;
            frame
        }))
    })
}

/// Passes input of the user to a window.
#[utoipa::path(post, path = "/plugins/fx-gui/{window_id}/input", tag = "plugins", request_body = WindowInput,
    params(("window_id" = String, Path, description = "Id of the window")),
    responses((status = 204, description = "The window gets the input"),
        (status = 404, description = "`no_such_window`", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`bad_window_request`", body = Problem, content_type = "application/problem+json"),
        (status = 502, description = "`window_ended`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn send_input(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(window_id): Path<String>,
    Json(input): Json<WindowInput>,
) -> ApiResult<Response> {
    forward(&state, &user, &window_id, Method::POST, "/input", bytes_of(&input)?).await
}

/// Sets parameters of the plugin of a window, which then shows them.
#[utoipa::path(post, path = "/plugins/fx-gui/{window_id}/parameters", tag = "plugins", request_body = WindowParameters,
    params(("window_id" = String, Path, description = "Id of the window")),
    responses((status = 204, description = "The plugin gets the values"),
        (status = 404, description = "`no_such_window`", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "`bad_window_request`", body = Problem, content_type = "application/problem+json"),
        (status = 502, description = "`window_ended`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn set_parameters(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(window_id): Path<String>,
    Json(parameters): Json<WindowParameters>,
) -> ApiResult<Response> {
    forward(&state, &user, &window_id, Method::POST, "/parameters", bytes_of(&parameters)?).await
}

/// Tells whether a window is open. Like every other request, it keeps the window open.
#[utoipa::path(get, path = "/plugins/fx-gui/{window_id}/ping", tag = "plugins",
    params(("window_id" = String, Path, description = "Id of the window")),
    responses((status = 204, description = "The window is open"),
        (status = 404, description = "`no_such_window`, with the reason if the window has ended", body = Problem, content_type = "application/problem+json"),
        (status = 502, description = "`window_ended`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn ping(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(window_id): Path<String>,
) -> ApiResult<Response> {
    forward(&state, &user, &window_id, Method::GET, "/ping", None).await
}

/// Hides a window. The plugin keeps running.
#[utoipa::path(post, path = "/plugins/fx-gui/{window_id}/hide", tag = "plugins",
    params(("window_id" = String, Path, description = "Id of the window")),
    responses((status = 204, description = "The window is hidden"),
        (status = 404, description = "`no_such_window`", body = Problem, content_type = "application/problem+json"),
        (status = 502, description = "`window_ended`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn hide(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(window_id): Path<String>,
) -> ApiResult<Response> {
    forward(&state, &user, &window_id, Method::POST, "/hide", None).await
}

/// Shows a hidden window.
#[utoipa::path(post, path = "/plugins/fx-gui/{window_id}/show", tag = "plugins",
    params(("window_id" = String, Path, description = "Id of the window")),
    responses((status = 204, description = "The window is shown"),
        (status = 404, description = "`no_such_window`", body = Problem, content_type = "application/problem+json"),
        (status = 502, description = "`window_ended`", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn show(
    State(state): State<AppState>,
    user: CurrentUser,
    Path(window_id): Path<String>,
) -> ApiResult<Response> {
    forward(&state, &user, &window_id, Method::POST, "/show", None).await
}
