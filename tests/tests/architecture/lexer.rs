//! Separates Rust source into code, string literals and modules for tests. Comments are dropped.

/// The parts of a source file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The code, with comments replaced by blanks and literals emptied.
    pub(crate) code: String,
    /// The contents of the string literals.
    pub(crate) literals: Vec<String>,
    /// Child modules that are compiled only for tests.
    pub(crate) test_modules: Vec<String>,
}

/// Separates a source file into its parts. Items under `#[cfg(test)]` are left out.
pub(crate) fn separate(source: &str) -> Parts {
    let mut parts = Parts::default();
    let tokens = Lexer { remaining: source }.collect::<Vec<_>>();
    let mut unread_tokens = tokens.as_slice();
    while let [first, remaining @ ..] = unread_tokens {
        if starts_test_item(unread_tokens) {
            let item = item_length(unread_tokens);
            let text: String = unread_tokens[..item].iter().map(Token::code).collect();
            parts.test_modules.extend(module_declared(&text).map(str::to_owned));
            unread_tokens = &unread_tokens[item..];
            continue;
        }
        parts.code.push_str(first.code());
        if let Token::Literal(text) = first {
            parts.literals.push((*text).to_owned());
        }
        unread_tokens = remaining;
    }
    parts
}

/// A token of a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'s> {
    /// A word, or a single character of another kind.
    Code(&'s str),
    /// The content of a string literal.
    Literal(&'s str),
    Comment,
    /// A character literal.
    Letter,
}

impl<'s> Token<'s> {
    fn code(&self) -> &'s str {
        match self {
            Self::Code(text) => text,
            Self::Literal(_) => "\"\"",
            Self::Comment => " ",
            Self::Letter => "' '",
        }
    }
}

struct Lexer<'s> {
    remaining: &'s str,
}

impl<'s> Lexer<'s> {
    /// Consumes `length` bytes and returns the bytes between `from` and `to`.
    fn take(&mut self, length: usize, from: usize, to: usize) -> &'s str {
        let (taken, remaining) = self.remaining.split_at(length.min(self.remaining.len()));
        self.remaining = remaining;
        taken.get(from..to.min(taken.len())).unwrap_or_default()
    }

    fn comment(&mut self) -> bool {
        if self.remaining.starts_with("//") {
            self.take(self.remaining.find('\n').unwrap_or(self.remaining.len()), 0, 0);
            return true;
        }
        if !self.remaining.starts_with("/*") {
            return false;
        }
        let (mut depth, mut index) = (0_usize, 0);
        while index < self.remaining.len() {
            let bytes_here = &self.remaining.as_bytes()[index..];
            if bytes_here.starts_with(b"/*") {
                (depth, index) = (depth + 1, index + 2);
            } else if bytes_here.starts_with(b"*/") {
                (depth, index) = (depth - 1, index + 2);
                if depth == 0 {
                    break;
                }
            } else {
                index += 1;
            }
        }
        self.take(index, 0, 0);
        true
    }

    fn string(&mut self) -> Option<&'s str> {
        let prefix = [0, 1].into_iter().find(|length| {
            let is_known = *length == 0 || self.remaining.starts_with(['b', 'c']);
            is_known && self.remaining.get(*length..).is_some_and(|text| text.starts_with('"'))
        })?;
        let body = &self.remaining[prefix + 1..];
        let mut is_escaped = false;
        let end = body.bytes().position(|byte| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        });
        let end = prefix + 1 + end.unwrap_or(body.len());
        Some(self.take(end + 1, prefix + 1, end))
    }

    fn raw_string(&mut self) -> Option<&'s str> {
        let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
            let following_text = self.remaining.strip_prefix(prefix).unwrap_or_default();
            following_text.trim_start_matches('#').starts_with('"')
        })?;
        let following_text = &self.remaining[prefix.len()..];
        let hashes = following_text.len() - following_text.trim_start_matches('#').len();
        let start = prefix.len() + hashes + 1;
        let end_mark = format!("\"{}", "#".repeat(hashes));
        let end = start + self.remaining[start..].find(&end_mark).unwrap_or(self.remaining.len() - start);
        Some(self.take(end + end_mark.len(), start, end))
    }

    /// Consumes a character literal, but not a lifetime. Returns whether there was one.
    fn letter(&mut self) -> bool {
        let Some(body) = self.remaining.strip_prefix('\'') else { return false };
        let mut letters = body.char_indices();
        let length = match letters.next() {
            Some((_, '\\')) => body[2.min(body.len())..].find('\'').map(|end| end + 2),
            Some(_) => letters.next().filter(|(_, second)| *second == '\'').map(|(end, _)| end),
            None => None,
        };
        length.is_some_and(|length| {
            self.take(length + 2, 0, 0);
            true
        })
    }
}

impl<'s> Iterator for Lexer<'s> {
    type Item = Token<'s>;

    fn next(&mut self) -> Option<Token<'s>> {
        let first = self.remaining.chars().next()?;
        if self.comment() {
            return Some(Token::Comment);
        }
        if let Some(text) = self.raw_string().or_else(|| self.string()) {
            return Some(Token::Literal(text));
        }
        if self.letter() {
            return Some(Token::Letter);
        }
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let length = match is_word(first) {
            true => self.remaining.find(|character| !is_word(character)).unwrap_or(self.remaining.len()),
            false => first.len_utf8(),
        };
        Some(Token::Code(self.take(length, 0, length)))
    }
}

/// Returns the index and the code of each token that is not blank.
fn significant<'t>(tokens: &'t [Token<'_>]) -> impl Iterator<Item = (usize, &'t str)> {
    tokens
        .iter()
        .enumerate()
        .map(|(index, token)| (index, token.code()))
        .filter(|(_, code)| !code.trim().is_empty())
}

/// Whether the tokens start with an attribute that compiles its item only for tests.
fn starts_test_item(tokens: &[Token<'_>]) -> bool {
    let starts_with = |signs: &[&str]| {
        significant(tokens).map(|(_, code)| code).take(signs.len()).eq(signs.iter().copied())
    };
    starts_with(&["#", "[", "cfg", "(", "test", ")", "]"])
        || starts_with(&["#", "[", "cfg", "(", "all", "(", "test"])
}

/// Returns the number of tokens of the item at the start, with its attributes. The item ends at its
/// `;`, its closing brace, or its comma in a list.
fn item_length(tokens: &[Token<'_>]) -> usize {
    let (mut braces, mut brackets, mut angles) = (0_i32, 0_i32, 0_i32);
    let mut previous_code = "";
    for (index, code) in significant(tokens) {
        match code {
            "{" => braces += 1,
            "}" => {
                braces -= 1;
                let next = significant(&tokens[index + 1..]).next().map(|(_, code)| code);
                // A `use` or a constant ends at its semicolon.
                if braces == 0 && next != Some(";") {
                    return index + 1;
                }
            }
            "[" | "(" if braces == 0 => brackets += 1,
            "]" | ")" if braces == 0 => brackets -= 1,
            "<" if braces == 0 => angles += 1,
            ">" if braces == 0 && previous_code != "-" && previous_code != "=" => angles -= 1,
            ";" if braces == 0 && brackets == 0 => return index + 1,
            "," if braces == 0 && brackets == 0 && angles == 0 => return index + 1,
            _ => {}
        }
        // The item is the last one of a list, which ends here.
        if braces < 0 || brackets < 0 {
            return index;
        }
        previous_code = code;
    }
    tokens.len()
}

/// Returns the name in `mod name;`.
fn module_declared(item: &str) -> Option<&str> {
    let mut words = item.split_whitespace().rev();
    let name = words.next()?.strip_suffix(';')?;
    (words.next() == Some("mod")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, code: &str, literals: &[&str], test_modules: &[&str]) {
        let parts = separate(source);
        assert_eq!(parts.code.split_whitespace().collect::<Vec<_>>().join(" "), code, "{source}");
        assert_eq!(parts.literals, literals, "{source}");
        assert_eq!(parts.test_modules, test_modules, "{source}");
    }

    #[test]
    fn comments_and_literals_are_not_code() {
        check("use a; // use b;\nuse c;", "use a; use c;", &[], &[]);
        check("a /* use /* b */ c */ d", "a d", &[], &[]);
        check(r#"f("use \" x", b"y");"#, r#"f("", "");"#, &[r#"use \" x"#, "y"], &[]);
        check("f(r#\"a \" b\"#, c)", r#"f("", c)"#, &["a \" b"], &[]);
        check("fn f<'a>(x: &'a str) { '\"' == '\\'' }", "fn f<'a>(x: &'a str) { ' ' == ' ' }", &[], &[]);
        check("r#type.r()", "r#type.r()", &[], &[]);
    }

    #[test]
    fn tests_are_left_out() {
        check("a; #[cfg(test)] mod tests; b;", "a; b;", &[], &["tests"]);
        check("a; #[cfg(test)]\npub(crate) mod sounds;", "a;", &[], &["sounds"]);
        check("#[cfg(test)] mod tests { use super::*; fn f() { \"x\" } } b", "b", &[], &[]);
        check("#[cfg(test)] use crate::{a, b}; c", "c", &[], &[]);
        check("[&a, #[cfg(test)] &b::c, &d]", "[&a, &d]", &[], &[]);
        check("[&a, #[cfg(test)] &b::c]", "[&a,]", &[], &[]);
        check("#[cfg(test)] const ALL: &[A] = &[x!()]; d", "d", &[], &[]);
        check("#[cfg(all(test, unix))] fn f() {} g", "g", &[], &[]);
        check("#[cfg(test)] fn f(a: A, b: B) -> Result<C, D> { e } g", "g", &[], &[]);
        check("#[cfg(test)] const X: S<A, B> = S { a }; g", "g", &[], &[]);
    }
}
