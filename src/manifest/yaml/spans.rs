//! Where each node of a document stands in its file.

use std::sync::Arc;

use crate::error::Location;

/// The longest line that an error shows, in bytes.
const LINE_LIMIT: usize = 1000;

/// A text that documents come from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The file, or the tool whose output it is.
    pub(super) name: String,
    /// The whole text.
    pub(super) text: String,
}

/// A line and a column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pos {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// The place of a node, of its key when it stands in a map, and of what it holds. What an alias
/// or a merge key brings in has no places of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) key: Option<Pos>,
    pub(super) value: Pos,
    pub(super) children: Children,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Children {
    None,
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// The places of a document's nodes. Cheap to clone.
///
/// Nodes are named by JSON pointer (RFC 6901; see [`pointer()`]), `""` for the whole document. A
/// node that has no place of its own (it does not exist, or an alias brought it in) is where the
/// nearest node above it is, so a place can be told for every path.
#[derive(Clone, Debug)]
pub struct Spans {
    pub(super) source: Arc<Source>,
    pub(super) root: Arc<Node>,
    /// Whether the document's lines may be shown; those of a Secret may not.
    pub(super) shown: bool,
}

impl Spans {
    /// Where the key of the node stands: for errors about a key. Items of lists have none; there
    /// it is the item itself.
    pub fn key(&self, pointer: &str) -> Location {
        let node = self.node(pointer);
        self.location(node.key.unwrap_or(node.value))
    }

    /// Where the value of the node starts: for errors about a value.
    pub fn value(&self, pointer: &str) -> Location {
        self.location(self.node(pointer).value)
    }

    /// The line on which the value starts, without the cost of its text.
    pub fn line(&self, pointer: &str) -> usize {
        self.node(pointer).value.line as usize
    }

    fn node(&self, pointer: &str) -> &Node {
        let mut node = &*self.root;
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            let below = match &node.children {
                Children::None => None,
                Children::List(items) => part.parse::<usize>().ok().and_then(|i| items.get(i)),
                Children::Map(items) => items.iter().find(|(k, _)| *k == part).map(|(_, n)| n),
            };
            match below {
                Some(below) => node = below,
                None => break,
            }
        }
        node
    }

    fn location(&self, pos: Pos) -> Location {
        locate(&self.source, pos, self.shown)
    }
}

/// A place as errors tell it, with the line's text if it may be shown.
pub(super) fn locate(source: &Source, pos: Pos, shown: bool) -> Location {
    let line = pos.line as usize;
    let text = match shown {
        true => source.text.lines().nth(line.saturating_sub(1)).unwrap_or_default(),
        false => "",
    };
    // A whole JSON file on one line helps no one.
    let text = if text.len() > LINE_LIMIT { "" } else { text };
    Location { file: source.name.clone(), line, column: pos.column as usize, text: text.to_owned() }
}

/// The JSON pointer of a path of keys and indices: `["rollout", "waves", "0"]` is
/// `/rollout/waves/0`.
pub fn pointer<S: AsRef<str>>(path: impl IntoIterator<Item = S>) -> String {
    let mut out = String::new();
    for part in path {
        out.push('/');
        out.push_str(&part.as_ref().replace('~', "~0").replace('/', "~1"));
    }
    out
}
