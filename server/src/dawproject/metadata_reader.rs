//! Reads the title in `metadata.xml`.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::Event;

use super::values::shown_name;

/// Returns the title, if the text is XML and has one.
pub(super) fn title(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?.trim_start_matches('\u{feff}');
    let mut reader = Reader::from_str(text);
    let mut title: Option<String> = None;
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) if start.local_name().into_inner() == b"Title" => title = Some(String::new()),
            Event::End(end) if end.local_name().into_inner() == b"Title" => break,
            Event::Text(part) => {
                if let Some(title) = &mut title {
                    title.push_str(std::str::from_utf8(&part).ok()?);
                }
            }
            Event::CData(part) => {
                if let Some(title) = &mut title {
                    title.push_str(std::str::from_utf8(&part).ok()?);
                }
            }
            Event::GeneralRef(reference) => {
                if let Some(title) = &mut title {
                    let reference = format!("&{};", std::str::from_utf8(&reference).ok()?);
                    title.push_str(&unescape(&reference).ok()?);
                }
            }
            Event::DocType(_) | Event::Eof => return None,
            _ => {}
        }
    }
    title.map(|title| shown_name(title.trim())).filter(|title| !title.is_empty())
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn a_title_may_have_references() {
        let text = b"<MetaData><Title> Rock &amp; R\xc3\xb6ll<![CDATA[ <1>]]>&#33; </Title><Artist>x</Artist></MetaData>";
        assert_eq!(title(text).as_deref(), Some("Rock & Röll <1>!"));
        for text in
            ["", "<MetaData/>", "<Title></Title>", "<Title>&x;</Title>", "<!DOCTYPE a><Title>x</Title>"]
        {
            assert_eq!(title(text.as_bytes()), None, "{text}");
        }
    }
}
