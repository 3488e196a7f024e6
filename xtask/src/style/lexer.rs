//! Rust as tokens, so that rules see code and no comment or string.

use proc_macro2::{Delimiter, Group, LexError, TokenStream, TokenTree};

/// Tokens and functions of a file.
#[derive(Default)]
pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    pub(super) functions: Vec<Function>,
}

/// An identifier, a punctuation character or a literal.
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
    /// True inside an item under `#[cfg(test)]`.
    pub(super) in_tests: bool,
}

/// A function with a body.
pub(super) struct Function {
    pub(super) name: String,
    pub(super) first_line: usize,
    pub(super) last_line: usize,
}

impl Lexed {
    /// Places where these tokens follow one another.
    pub(super) fn find<'a>(&'a self, wanted: &'a [&str]) -> impl Iterator<Item = &'a Token> {
        let is_wanted = move |window: &&[Token]| window.iter().map(|token| &token.text).eq(wanted);
        self.tokens.windows(wanted.len().max(1)).filter(is_wanted).filter_map(<[Token]>::first)
    }
}

/// Splits a file into tokens and finds its functions.
///
/// # Errors
/// When brackets don't match, or something isn't a token.
pub(super) fn lex(text: &str) -> Result<Lexed, LexError> {
    let mut lexed = Lexed::default();
    lexed.add_stream(text.parse()?, false);
    Ok(lexed)
}

impl Lexed {
    fn add_stream(&mut self, stream: TokenStream, in_tests: bool) {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        self.functions.extend((0..trees.len()).filter_map(|at| function_at(trees.get(at..)?)));
        let mut item_is_test = false;
        let mut after_hash = false;
        for tree in trees {
            item_is_test |= after_hash && is_cfg_test(&tree);
            after_hash = is_punct(&tree, '#');
            let item_ends = is_punct(&tree, ';') || as_braces(&tree).is_some();
            self.add_tree(tree, in_tests || item_is_test);
            item_is_test &= !item_ends;
        }
    }

    fn add_tree(&mut self, tree: TokenTree, in_tests: bool) {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => self.add_stream(group.stream(), in_tests),
            leaf => self.tokens.push(Token { text: leaf.to_string(), line, in_tests }),
        }
    }
}

/// Function that starts here: `fn`, a name, and a body before the next `;`. A pointer type
/// (`fn(u8)`) has no name, and a declared trait method has no body.
fn function_at(trees: &[TokenTree]) -> Option<Function> {
    let [TokenTree::Ident(keyword), TokenTree::Ident(name), signature @ ..] = trees else { return None };
    if keyword != "fn" {
        return None;
    }
    let end = signature.iter().find(|tree| is_punct(tree, ';') || as_braces(tree).is_some())?;
    Some(Function {
        name: name.to_string(),
        first_line: keyword.span().start().line,
        last_line: as_braces(end)?.span_close().end().line,
    })
}

fn as_braces(tree: &TokenTree) -> Option<&Group> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    }
}

fn is_punct(tree: &TokenTree, wanted: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// Returns true for the bracketed part of `#[cfg(test)]` or `cfg(all(test, …))`, but not of
/// `cfg(not(test))`.
fn is_cfg_test(tree: &TokenTree) -> bool {
    let TokenTree::Group(group) = tree else { return false };
    let text = group.stream().to_string();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    words.first() == Some(&"cfg") && words.contains(&"test") && !words.contains(&"not")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_no_code() {
        let lexed = lex("// unsafe\n/* unsafe */ fn f() { g(\"unsafe\") }").unwrap();
        assert_eq!(lexed.find(&["unsafe"]).count(), 0);
        assert_eq!(lexed.find(&["g"]).count(), 1);
    }

    #[test]
    fn sequences_are_found_across_lines() {
        let lexed = lex("fn f() {\n    Instant::\n    now() }").unwrap();
        let lines: Vec<usize> = lexed.find(&["Instant", ":", ":", "now"]).map(|token| token.line).collect();
        assert_eq!(lines, [2]);
    }

    #[test]
    fn functions_have_their_lines() {
        let text = "trait T {\n  fn declared(&self);\n  fn given(&self) {\n  }\n}\nfn last(p: fn(u8)) {\n}\n";
        let lexed = lex(text).unwrap();
        let mut functions: Vec<_> =
            lexed.functions.iter().map(|f| (f.name.as_str(), f.first_line, f.last_line)).collect();
        functions.sort_by_key(|function| function.1);
        assert_eq!(functions, [("given", 3, 4), ("last", 6, 7)]);
    }

    #[test]
    fn test_items_are_told_apart() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\n#[cfg(test)] use c;\nfn d() {}\n\
                    #[cfg(not(test))] fn e() {}";
        let lexed = lex(text).unwrap();
        let in_tests = |name: &str| lexed.tokens.iter().find(|t| t.text == name).unwrap().in_tests;
        assert_eq!(["a", "b", "c", "d", "e"].map(in_tests), [false, true, true, false, false]);
    }
}
