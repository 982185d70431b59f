//! Tests of the queue of renders.

use futures_util::future::{Either, select};
use serde_json::json;

use crate::test_studio::Studio;

#[tokio::test]
async fn renders_beyond_the_queue_limit_get_503_with_retry_after() {
    let studio = Studio::with(&[("SF_WORK_WAITING_MAX", "1")]).await;
    let permits = studio.app.state.exports.renders.take_all();
    let note = json!({"tick": 0, "length_ticks": 480, "pitch": 60, "velocity": 0.8});
    let request = json!({"notes": [note], "tail_secs": 0.5});
    let [first, second] = [(); 2].map(|()| Box::pin(studio.post("/plugins/soundfont-render", &request)));
    let (refused_request, waiting) = match select(first, second).await {
        Either::Left((refused_request, waiting)) | Either::Right((refused_request, waiting)) => {
            (refused_request, waiting)
        }
    };
    let detail = refused_request.problem(503, "busy");
    assert!(detail.contains("renders"), "{detail}");
    assert_eq!(refused_request.header("retry-after"), "5");
    drop(permits);
    assert_eq!(waiting.await.status, 200);
}
