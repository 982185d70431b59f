//! Writes XML elements.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

/// An element with its attributes.
pub(super) struct Element(BytesStart<'static>);

impl Element {
    /// Returns an element without attributes.
    pub(super) fn new(name: &'static str) -> Self {
        Self(BytesStart::new(name))
    }

    /// Adds an attribute. Characters that XML cannot have are left out.
    pub(super) fn text(mut self, name: &str, value: &str) -> Self {
        self.0.push_attribute((name, &*legal(value)));
        self
    }

    /// Adds a number.
    pub(super) fn number(self, name: &str, value: f64) -> Self {
        self.text(name, &value.to_string())
    }

    /// Adds a whole number.
    pub(super) fn whole(self, name: &str, value: u64) -> Self {
        self.text(name, &value.to_string())
    }

    /// Adds `true` or `false`.
    pub(super) fn switch(self, name: &str, value: bool) -> Self {
        self.text(name, if value { "true" } else { "false" })
    }
}

/// Writes an XML document.
pub(super) struct XmlWriter<W: Write>(Writer<W>);

impl<W: Write> XmlWriter<W> {
    /// Begins a document.
    ///
    /// # Errors
    /// The destination fails.
    pub(super) fn new(destination: W) -> io::Result<Self> {
        let mut writer = Writer::new_with_indent(destination, b' ', 1);
        writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        Ok(Self(writer))
    }

    /// Writes an element without content.
    ///
    /// # Errors
    /// The destination fails.
    pub(super) fn empty(&mut self, element: Element) -> io::Result<()> {
        self.0.write_event(Event::Empty(element.0))
    }

    /// Writes an element whose content `content` writes.
    ///
    /// # Errors
    /// The destination fails, or an error of `content`.
    pub(super) fn element(
        &mut self,
        element: Element,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        let end = element.0.to_end().into_owned();
        self.0.write_event(Event::Start(element.0))?;
        content(self)?;
        self.0.write_event(Event::End(end))
    }

    /// Writes an element with text as its content.
    ///
    /// # Errors
    /// The destination fails.
    pub(super) fn text_element(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.0.write_event(Event::Start(BytesStart::new(name)))?;
        self.0.write_event(Event::Text(BytesText::new(&legal(text))))?;
        self.0.write_event(Event::End(BytesEnd::new(name)))
    }
}

/// Returns a text without control characters and other characters that XML 1.0 does not allow. Line
/// breaks and tabs become spaces, because attributes do not keep them.
fn legal(text: &str) -> String {
    let letters = text.chars().filter_map(|character| match character {
        '\t' | '\n' | '\r' => Some(' '),
        '\u{fffe}' | '\u{ffff}' => None,
        character if character.is_control() => None,
        character => Some(character),
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_valid_xml() {
        let mut bytes = Vec::new();
        let mut xml = XmlWriter::new(&mut bytes).expect("begins");
        let name = "a\"b'<c>&amp;\0\u{1}\n\u{ffff}]]>é";
        xml.element(Element::new("A").text("name", name).number("x", 1e-9), |xml| {
            xml.text_element("B", name)?;
            xml.empty(Element::new("C").switch("on", true).whole("n", 7))
        })
        .expect("writes");
        let tree = super::super::element_tree::Tree::read(bytes).expect("is XML");
        let shown_text = "a\"b'<c>&amp; ]]>é";
        assert_eq!(tree.root().attribute("name").as_deref(), Some(shown_text));
        assert_eq!(tree.root().attribute("x").as_deref(), Some("0.000000001"));
        assert!(tree.root().child("C").is_some_and(|c| c.attribute("n").as_deref() == Some("7")));
    }
}
