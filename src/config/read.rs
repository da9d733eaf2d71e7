//! The disk, as far as configuration needs it, and the reading of a file into a tree.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::API_VERSION;
use super::node::{Mark, Node, Source, Step};
use crate::error::{Error, Exit};
use crate::manifest::yaml;
use crate::suggest;

/// What resolution asks of the disk. Everything else in this module is pure.
pub trait Files {
    /// The text of a file.
    ///
    /// # Errors
    /// As the system gives them.
    fn read(&self, path: &Path) -> io::Result<String>;
    /// The path without symbolic links, `.` and `..`; absolute.
    ///
    /// # Errors
    /// As the system gives them; `NotFound` when it does not exist.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
    /// The names in a folder, in any order.
    ///
    /// # Errors
    /// As the system gives them.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
}

/// The real disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(path)
    }
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path)
    }
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let names = std::fs::read_dir(folder)?;
        names.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }
}

/// Files in memory, for tests: path → text.
#[derive(Clone, Debug, Default)]
pub struct Memory(pub BTreeMap<PathBuf, String>);

impl Files for Memory {
    fn read(&self, path: &Path) -> io::Result<String> {
        let found = self.0.get(&self.canonical(path)?).cloned();
        found.ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))
    }
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let path = PathBuf::from(display(&Path::new("/").join(path)));
        match self.0.keys().any(|file| file.starts_with(&path)) {
            true => Ok(path),
            false => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    }
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let folder = self.canonical(folder)?;
        let below = self.0.keys().filter_map(|file| file.strip_prefix(&folder).ok());
        let first = |path: &Path| path.iter().next().map(|n| n.to_string_lossy().into_owned());
        let names: std::collections::BTreeSet<String> = below.filter_map(first).collect();
        Ok(names.into_iter().collect())
    }
}

/// `path` seen from `folder`, which is canonical. Steps up are taken while that is sure to be
/// right: above `folder` there are no symbolic links.
pub(crate) fn join(folder: &Path, path: &Path) -> PathBuf {
    let mut joined = folder.to_path_buf();
    let mut below = false;
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if !below => {
                joined.pop();
            }
            Component::Normal(name) => {
                joined.push(name);
                below = true;
            }
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                joined.push(component);
            }
        }
    }
    joined
}

/// A name for people: `apps/../fleet.yaml` is `fleet.yaml`.
pub(crate) fn display(path: &Path) -> String {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for component in path.components() {
        match (component, parts.last()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                parts.pop();
            }
            _ => parts.push(component),
        }
    }
    parts.iter().collect::<PathBuf>().display().to_string()
}

/// What a file is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Application,
    Fleet,
}

impl What {
    fn kind(self) -> &'static str {
        match self {
            What::Application => "Application",
            What::Fleet => "Fleet",
        }
    }

    /// The usual name.
    fn file(self) -> &'static str {
        match self {
            What::Application => "mcd.yaml",
            What::Fleet => "fleet.yaml",
        }
    }

    fn flag(self) -> &'static str {
        match self {
            What::Application => "--file",
            What::Fleet => "--fleet",
        }
    }

    /// The smallest file that works.
    fn smallest(self) -> &'static str {
        match self {
            What::Application => {
                "the smallest one is:\n\
                 apiVersion: mcd.dev/v1alpha1\n\
                 kind: Application\n\
                 metadata: {name: web}\n\
                 clusters: [{name: my-cluster, context: my-context}]\n\
                 select: {}\n\
                 namespace: web\n\
                 render: {manifests: [k8s/]}"
            }
            What::Fleet => {
                "the smallest one is:\n\
                 apiVersion: mcd.dev/v1alpha1\n\
                 kind: Fleet\n\
                 clusters: [{name: my-cluster, context: my-context}]"
            }
        }
    }
}

/// Reads a file of ours: one document with the right apiVersion and kind. Errors name it `name`;
/// `named_by` is the place that names the file, unless the command line does.
///
/// # Errors
/// Exit 3: it cannot be read, or is another thing.
pub(crate) fn read(
    files: &dyn Files,
    path: &Path,
    name: &Path,
    what: What,
    named_by: Option<&Mark>,
) -> Result<Node, Error> {
    let kind = what.kind();
    let name = display(name);
    let blame = |message: String| match named_by {
        Some(mark) => mark.error(message),
        None => Error::config(message),
    };
    let text = files.read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let error = blame(format!("there is no file `{name}`"));
            let error = match named_by {
                Some(_) => error,
                None => error.hint(format!("name another {kind} file with `{}`", what.flag())),
            };
            error.hint(what.smallest())
        }
        io::ErrorKind::IsADirectory => {
            let file = Path::new(&name).join(what.file());
            blame(format!("`{name}` is a folder, expected the {kind} file"))
                .hint(format!("name the file in it, such as `{}`", file.display()))
        }
        io::ErrorKind::InvalidData => blame(format!("`{name}` is not text in UTF-8")),
        _ => blame(format!("`{name}` cannot be read")).because(error.to_string()),
    })?;
    let folder = folder_of(files, path).map_err(|error| {
        blame(format!("the folder of `{name}` cannot be found")).because(error.to_string())
    })?;

    let mut documents = yaml::load_with(&text, &name, Exit::Config)?.into_iter();
    let Some(document) = documents.next() else {
        return Err(blame(format!("`{name}` is empty")).hint(what.smallest()));
    };
    if let Some(second) = documents.next() {
        return Err(Error::config(format!("a second document: a file holds one {kind}"))
            .at(second.spans.value(""))
            .hint("put each document in a file of its own"));
    }
    let node = tree(document, name, folder, &text);
    header(&node, what)?;
    Ok(node)
}

/// Reads the documents of a file that a generator found: of ours, but without a header.
///
/// # Errors
/// Exit 3: it cannot be read. `named_by` is the place of the generator's pattern.
pub(crate) fn trees(
    files: &dyn Files,
    path: &Path,
    name: &str,
    named_by: &Mark,
) -> Result<Vec<Node>, Error> {
    let unreadable = |error: io::Error| {
        named_by.error(format!("`{name}` cannot be read")).because(error.to_string())
    };
    let text = files.read(path).map_err(unreadable)?;
    let folder = folder_of(files, path).map_err(unreadable)?;
    let documents = yaml::load_with(&text, name, Exit::Config)?;
    let trees = documents.into_iter();
    Ok(trees.map(|document| tree(document, name.to_owned(), folder.clone(), &text)).collect())
}

/// The folder of a file. The parent of a bare file name is the empty path, which is the current
/// folder.
fn folder_of(files: &dyn Files, path: &Path) -> io::Result<PathBuf> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    files.canonical(folder)
}

/// A document as a tree that knows its places.
fn tree(document: yaml::Document, name: String, folder: PathBuf, text: &str) -> Node {
    let spans = &document.spans;
    let shown = !spans.value("").text.is_empty();
    let text = if shown { text.to_owned() } else { String::new() };
    let source = Arc::new(Source { name, folder, text });
    let mark = |location: crate::error::Location| Mark {
        line: location.line,
        column: location.column,
        ..Mark::start(&source)
    };
    Node::build(document.value, &|path| {
        let pointer = yaml::pointer(path.iter().map(|step| match step {
            Step::Key(key) => key.clone(),
            Step::Index(index) => index.to_string(),
        }));
        (mark(spans.key(&pointer)), mark(spans.value(&pointer)))
    })
}

/// Checks what a document says that it is, before anything else of it is judged.
fn header(node: &Node, what: What) -> Result<(), Error> {
    let kind = what.kind();
    if node.as_map().is_none() {
        return Err(node
            .mark
            .error(format!("the document is {}, expected a map", node.describe()))
            .hint(what.smallest()));
    }
    match node.get("apiVersion") {
        None => {
            return Err(node
                .mark
                .error("`apiVersion` is missing")
                .hint(format!("add `apiVersion: {API_VERSION}`")));
        }
        Some(version) if version.as_str() == Some(API_VERSION) => {}
        Some(version) => {
            let error = version
                .mark
                .error(format!("`apiVersion` is {}, expected `{API_VERSION}`", version.describe()));
            let of_ours = version.as_str().is_some_and(|text| text.starts_with("mcd.dev/"));
            let near = version.as_str().and_then(|text| suggest::nearest(text, [API_VERSION]));
            return Err(match (of_ours, near) {
                (true, _) => error.hint("this mcd knows no other version of its format"),
                (false, Some(near)) => error.hint(format!("did you mean `{near}`?")),
                (false, None) => error.hint("a Kubernetes manifest goes into `render.manifests`"),
            });
        }
    }
    match node.get("kind") {
        None => Err(node.mark.error("`kind` is missing").hint(format!("add `kind: {kind}`"))),
        Some(found) if found.as_str() == Some(kind) => Ok(()),
        Some(found) => {
            let error =
                found.mark.error(format!("`kind` is {}, expected `{kind}`", found.describe()));
            let other = found.as_str().unwrap_or_default();
            Err(match (what, other) {
                (What::Application, "Fleet") => error.hint(
                    "`--file` takes the Application, which names its fleet by `fleet:` or \
                     `--fleet`",
                ),
                (What::Fleet, "Application") => {
                    error.hint("`fleet:` and `--fleet` take the Fleet file")
                }
                _ => match suggest::hint(other, [kind]) {
                    Some(hint) => error.hint(hint),
                    None => error,
                },
            })
        }
    }
}
