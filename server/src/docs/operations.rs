//! Builds the table of operations from the API's description.

use serde_json::Value;

use super::document::CALLERS_FIELD;

/// Statuses that any operation may answer. They are listed once, above the table.
const COMMON_STATUSES: &[&str] = &["429", "500", "503", "507"];

const PAGE_HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Songfoundry: operations</title></head><body>\
<h1>Operations of Songfoundry</h1>\
<p>Generated from <a href=\"/api/v1/openapi.json\">the description of the API</a>, which <a href=\"/api/docs/\">can be browsed</a>. \
An error is <code>application/problem+json</code> (RFC 9457) with a stable <code>code</code>. Local callers are administrators. \
Any operation may also answer 429 (too many requests), 500 (an error of the service), 503 (busy; try again) and 507 (storage full).</p>";

/// Returns the table as an HTML page.
pub(super) fn render_page(document: &Value) -> String {
    let mut page = PAGE_HEAD.to_owned();
    let mut section = "";
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let tag = operation["tags"][0].as_str().unwrap_or("");
            if tag != section {
                page.push_str(if section.is_empty() { "" } else { "</tbody></table>" });
                page.push_str(&format!(
                    "<h2>{}</h2><table border=\"1\" cellpadding=\"4\"><thead><tr><th>Method</th><th>Path</th><th>What it does</th>\
                     <th>Access</th><th>Errors</th></tr></thead><tbody>",
                    escaped(tag)
                ));
                section = tag;
            }
            page.push_str(&table_row(path, method, operation));
        }
    }
    page.push_str("</tbody></table></body></html>");
    page
}

fn table_row(path: &str, method: &str, operation: &Value) -> String {
    let text = |field: &str| escaped(operation[field].as_str().unwrap_or(""));
    let refusals = operation["responses"].as_object().into_iter().flatten();
    let refusals: Vec<String> = refusals
        .filter(|(status, _)| status.as_str() >= "400" && !COMMON_STATUSES.contains(&status.as_str()))
        .map(|(status, answer)| refusal(status, answer["description"].as_str().unwrap_or("")))
        .collect();
    format!(
        "<tr><td>{}</td><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td></tr>",
        method.to_uppercase(),
        escaped(path),
        text("summary"),
        text(CALLERS_FIELD),
        refusals.join(", ")
    )
}

/// Returns the status and the error codes that the description contains between backticks.
fn refusal(status: &str, description: &str) -> String {
    let codes: Vec<String> = description
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
        .map(|code| format!(" <code>{}</code>", escaped(code)))
        .collect();
    format!("{status}{}", codes.join(" or"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_its_codes() {
        assert_eq!(refusal("404", "Not there."), "404");
        assert_eq!(refusal("409", "`project_exists`: the id is taken"), "409 <code>project_exists</code>");
        assert_eq!(refusal("422", "`a_b` or `c`"), "422 <code>a_b</code> or <code>c</code>");
        // Words with capitals or hyphens, such as names of headers, are not codes.
        assert_eq!(refusal("428", "Send `If-Match`."), "428");
    }
}
