//! The errors of operations that run a plugin, for the description of the API.

use std::collections::BTreeMap;

use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema as _};

use crate::error::Problem;

/// Statuses of the errors, with their descriptions. Except for 404, [`super::HostError`] causes
/// them. Operations add 422, because its reasons differ.
const PROBLEMS: [(&str, &str); 5] = [
    ("404", "None of the caller's scans found the plugin"),
    ("409", "`cancelled`: an administrator ended the plugin"),
    ("501", "`plugin_host_unavailable`: there is no plugin helper, or it cannot host this format"),
    ("502", "`plugin_crashed`, `plugin_ended` or `plugin_answer_invalid`"),
    ("504", "`plugin_timeout`: the plugin did not answer within `SF_PLUGIN_ANSWER_MAX_SECS`"),
];

/// The errors of an operation that runs a plugin.
pub(crate) struct HostProblems;

impl IntoResponses for HostProblems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let schema = Ref::from_schema_name(Problem::name());
        let content = ContentBuilder::new().schema(Some(schema)).build();
        let answer = |(status, description): (&str, &str)| {
            let builder = ResponseBuilder::new().description(description);
            let answer = builder.content("application/problem+json", content.clone()).build();
            (status.to_owned(), RefOr::T(answer))
        };
        PROBLEMS.into_iter().map(answer).collect()
    }
}
