//! Reads an XML document into a tree of bounded size.
//!
//! Names and values are stored as ranges of the text, so an element needs 20 bytes and an attribute
//! 16. A document with a type definition is refused, so there are no entities to expand.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

/// Maximum number of elements of a document.
pub(super) const ELEMENTS_MAX: usize = 1_000_000;

/// Maximum number of attributes of a document.
pub(super) const ATTRIBUTES_MAX: usize = 5_000_000;

/// Maximum number of attributes of an element. The format defines at most 15.
const ELEMENT_ATTRIBUTES_MAX: usize = 64;

/// Maximum depth of nested elements.
pub(super) const DEPTH_MAX: usize = 64;

/// Reason why a document cannot be read. The text is the end of a sentence, without a full stop.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct XmlError(String);

/// A range of the text.
#[derive(Debug, Clone, Copy)]
struct TextSpan {
    start_bytes: u32,
    length_bytes: u32,
}

#[derive(Debug)]
struct Element {
    name: TextSpan,
    first_attribute: u32,
    attributes: u32,
    /// Index of the first element after this one that is not inside it.
    end: u32,
}

/// A document.
#[derive(Debug)]
pub(super) struct Tree {
    text: String,
    elements: Vec<Element>,
    attributes: Vec<(TextSpan, TextSpan)>,
}

impl Tree {
    /// Reads a document.
    ///
    /// # Errors
    /// The document is not XML in UTF-8, has a type definition, or exceeds a limit.
    pub(super) fn read(bytes: Vec<u8>) -> Result<Self, XmlError> {
        let text = String::from_utf8(bytes).map_err(|error| {
            XmlError(format!("byte {} is not valid UTF-8", error.utf8_error().valid_up_to()))
        })?;
        if u32::try_from(text.len()).is_err() {
            return Err(XmlError("it is longer than 4 GiB".to_owned()));
        }
        let mut tree = Self { text: String::new(), elements: Vec::new(), attributes: Vec::new() };
        tree.parse(text.trim_start_matches('\u{feff}'))?;
        let marked_bytes = text.len() - text.trim_start_matches('\u{feff}').len();
        tree.text = if marked_bytes == 0 { text } else { text[marked_bytes..].to_owned() };
        Ok(tree)
    }

    fn parse(&mut self, text: &str) -> Result<(), XmlError> {
        let mut reader = Reader::from_str(text);
        let mut open_elements: Vec<usize> = Vec::new();
        loop {
            let event = reader.read_event().map_err(|error| {
                XmlError(format!("byte {} is not valid XML: {error}", reader.error_position()))
            })?;
            match event {
                Event::Start(start) => {
                    if open_elements.len() == DEPTH_MAX {
                        return Err(XmlError(format!("its elements are nested more than {DEPTH_MAX} deep")));
                    }
                    let index = self.add(text, &start, open_elements.is_empty())?;
                    open_elements.push(index);
                }
                Event::Empty(start) => {
                    self.add(text, &start, open_elements.is_empty())?;
                }
                Event::End(_) => {
                    if let Some(index) = open_elements.pop() {
                        self.elements[index].end = self.elements.len() as u32;
                    }
                }
                Event::DocType(_) => {
                    return Err(XmlError(
                        "it has a document type definition, which is not allowed".to_owned(),
                    ));
                }
                Event::Eof => break,
                _ => {}
            }
        }
        match (open_elements.is_empty(), self.elements.is_empty()) {
            (true, false) => Ok(()),
            (_, true) => Err(XmlError("it has no element".to_owned())),
            (false, _) => {
                let name = open_elements.last().map(|&index| self.elements[index].name.shown_text(text));
                Err(XmlError(format!("it ends before its element `{}` does", name.unwrap_or_default())))
            }
        }
    }

    fn add(&mut self, text: &str, start: &BytesStart<'_>, is_root: bool) -> Result<usize, XmlError> {
        let index = self.elements.len();
        if is_root && index > 0 {
            return Err(XmlError("it has more than one root element".to_owned()));
        }
        if index == ELEMENTS_MAX {
            return Err(XmlError(format!("it has more than {ELEMENTS_MAX} elements")));
        }
        let name = part(text, start.local_name().into_inner());
        let first_attribute = self.attributes.len() as u32;
        for (number, attribute) in start.attributes().enumerate() {
            let attribute = attribute
                .map_err(|error| XmlError(format!("`{}` is not valid XML: {error}", name.slice_of(text))))?;
            if number == ELEMENT_ATTRIBUTES_MAX {
                return Err(XmlError(format!(
                    "`{}` has more than {ELEMENT_ATTRIBUTES_MAX} attributes",
                    name.shown_text(text)
                )));
            }
            if self.attributes.len() == ATTRIBUTES_MAX {
                return Err(XmlError(format!("it has more than {ATTRIBUTES_MAX} attributes")));
            }
            let value = part(text, &attribute.value);
            if let Err(error) = unescape(value.slice_of(text)) {
                let attribute = part(text, attribute.key.local_name().into_inner());
                return Err(XmlError(format!(
                    "`{}` of a `{}` is not valid: {error}",
                    attribute.shown_text(text),
                    name.shown_text(text)
                )));
            }
            self.attributes.push((part(text, attribute.key.local_name().into_inner()), value));
        }
        self.elements.push(Element {
            name,
            first_attribute,
            attributes: self.attributes.len() as u32 - first_attribute,
            end: index as u32 + 1,
        });
        Ok(index)
    }

    /// Returns the outermost element.
    pub(super) fn root(&self) -> Node<'_> {
        Node { tree: self, index: 0 }
    }

    /// Returns all elements in the order of the document.
    pub(super) fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        (0..self.elements.len()).map(|index| Node { tree: self, index })
    }
}

impl TextSpan {
    fn slice_of(self, text: &str) -> &str {
        text.get(self.start_bytes as usize..(self.start_bytes + self.length_bytes) as usize)
            .unwrap_or_default()
    }

    fn shown_text(self, text: &str) -> String {
        self.slice_of(text).chars().filter(|character| !character.is_control()).take(60).collect()
    }
}

/// Returns the position of `slice`, which borrows from `text`.
fn part(text: &str, slice: &[u8]) -> TextSpan {
    let start = (slice.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    TextSpan { start_bytes: start as u32, length_bytes: slice.len() as u32 }
}

/// An element of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'t> {
    tree: &'t Tree,
    index: usize,
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}

impl<'t> Node<'t> {
    /// Returns the name without a namespace.
    pub(super) fn name(self) -> &'t str {
        self.tree.elements[self.index].name.slice_of(&self.tree.text)
    }

    /// Returns the value of an attribute.
    pub(super) fn attribute(self, name: &str) -> Option<Cow<'t, str>> {
        let element = &self.tree.elements[self.index];
        let first = element.first_attribute as usize;
        let attributes = &self.tree.attributes[first..first + element.attributes as usize];
        let text = &*self.tree.text;
        let (_, value) = attributes.iter().find(|(name_span, _)| name_span.slice_of(text) == name)?;
        unescape(value.slice_of(text)).ok()
    }

    /// Returns the child elements.
    pub(super) fn children(self) -> impl Iterator<Item = Self> {
        let end = self.tree.elements[self.index].end as usize;
        let mut next = self.index + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(Self { tree: self.tree, index: next })?;
            next = self.tree.elements[next].end as usize;
            Some(child)
        })
    }

    /// Returns the first child with this name.
    pub(super) fn child(self, name: &str) -> Option<Self> {
        self.children().find(|child| child.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Tree::read(text.as_bytes().to_vec()).expect_err("is refused").to_string()
    }

    #[test]
    fn elements_have_names_attributes_and_children() {
        let text =
            "\u{feff}<?xml version=\"1.0\"?><!-- x --><a b='1 &lt; 2 &#233;'><p:c d=\"\"><e/></p:c>t<f/></a>";
        let tree = Tree::read(text.as_bytes().to_vec()).expect("reads");
        let root = tree.root();
        assert_eq!((root.name(), root.attribute("b").as_deref()), ("a", Some("1 < 2 é")));
        let names: Vec<&str> = root.children().map(Node::name).collect();
        assert_eq!(names, ["c", "f"]);
        assert_eq!(root.child("c").and_then(|c| c.attribute("d")).as_deref(), Some(""));
        assert_eq!(tree.nodes().count(), 4);
        assert!(root.child("e").is_none() && root.attribute("x").is_none());
    }

    #[test]
    fn documents_beyond_a_limit_or_with_entities_are_refused() {
        let deep = format!("{}{}", "<a>".repeat(65), "</a>".repeat(65));
        assert!(refused(&deep).contains("64 deep"));
        let wide = format!("<a>{}</a>", "<b/>".repeat(ELEMENTS_MAX));
        assert!(refused(&wide).contains("1000000 elements"));
        let attributes: String = (0..65).map(|number| format!(" a{number}=\"\"")).collect();
        assert!(refused(&format!("<a{attributes}/>")).contains("64 attributes"));
        let bomb = "<!DOCTYPE a [<!ENTITY x \"xxxx\">]><a b=\"&x;\"/>";
        assert!(refused(bomb).contains("document type definition"));
        assert!(refused("<a b=\"&x;\"/>").contains("not valid"));
        for text in ["", "text", "<a>", "</a>", "<a></b>", "<a/><b/>", "<a b/>", "<a b='1' b='2'/>", "<a"] {
            refused(text);
        }
        assert!(Tree::read(b"<a>\xff</a>".to_vec()).is_err());
    }
}
