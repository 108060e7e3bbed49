//! The tree that parsing produces: typed nodes in document order, with their text.
//!
//! A [`DocumentTree`] is flat: a parent always precedes its children, and siblings are in reading
//! order, so that one pass over the vector is a walk over the document. `Display` prints the
//! outline that tests compare.

use std::fmt;
use std::ops::Range;

/// The type of a node. The set is open: new kinds of memory are new variants, and the schema stores
/// the name, so that adding one needs no migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum NodeType {
    /// A heading; its section's nodes are its children.
    Heading,
    /// A list, or a part of one.
    List,
    /// Keys and values.
    Kv,
    /// A table, or a part of one.
    Table,
    /// Front matter.
    Preamble,
    /// A paragraph, a quote, raw markup.
    #[default]
    Text,
    /// Code and display math, byte for byte.
    Code,
    /// A media element.
    Embed,
    /// A memory that an agent keeps for good: a preference, a fact, a pattern.
    Core,
    /// A memory of something learned.
    Learning,
    /// A memory of a piece of work.
    Task,
    /// Something that happened or was said, verbatim.
    Episode,
    /// A generalization of episodes, or a cluster of facts.
    Concept,
    /// A statement that holds for a time.
    Fact,
    /// A subject area of episodes and concepts.
    Topic,
    /// A person, a tool, a file or another thing that texts mention.
    Entity,
    /// Statements that contradict each other.
    Conflict,
    /// A text that waits to be divided into episodes.
    Chunk,
}

impl NodeType {
    /// All types, in the order of the schema and the documentation.
    pub const ALL: [NodeType; 18] = [
        NodeType::Heading,
        NodeType::List,
        NodeType::Kv,
        NodeType::Table,
        NodeType::Preamble,
        NodeType::Text,
        NodeType::Code,
        NodeType::Embed,
        NodeType::Core,
        NodeType::Learning,
        NodeType::Task,
        NodeType::Episode,
        NodeType::Concept,
        NodeType::Fact,
        NodeType::Topic,
        NodeType::Entity,
        NodeType::Conflict,
        NodeType::Chunk,
    ];

    /// The names of all types, in the order of [`NodeType::ALL`].
    pub const NAMES: [&'static str; NodeType::ALL.len()] = {
        let mut names = [""; NodeType::ALL.len()];
        let mut at = 0;
        while at < names.len() {
            names[at] = NodeType::ALL[at].as_str();
            at += 1;
        }
        names
    };

    /// The names of the types that a search can be narrowed to, in the same order.
    pub const SEARCHED: &'static [&'static str] = NodeType::NAMES.split_at(16).0;

    /// Returns the name in the schema and the protocol.
    pub const fn as_str(self) -> &'static str {
        match self {
            NodeType::Heading => "heading",
            NodeType::List => "list",
            NodeType::Kv => "kv",
            NodeType::Table => "table",
            NodeType::Preamble => "preamble",
            NodeType::Text => "text",
            NodeType::Code => "code",
            NodeType::Embed => "embed",
            NodeType::Core => "core",
            NodeType::Learning => "learning",
            NodeType::Task => "task",
            NodeType::Episode => "episode",
            NodeType::Concept => "concept",
            NodeType::Fact => "fact",
            NodeType::Topic => "topic",
            NodeType::Entity => "entity",
            NodeType::Conflict => "conflict",
            NodeType::Chunk => "chunk",
        }
    }

    /// Parses the name of a type.
    pub fn parse(name: &str) -> Option<NodeType> {
        NodeType::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

impl fmt::Display for NodeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The notation of a node's content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContentFormat {
    /// Text as authored; for Markdown, with its inline marks.
    #[default]
    Plain,
    /// TOON, the compact table notation.
    Toon,
    /// LaTeX math.
    Latex,
    /// A formula that LaTeX cannot express.
    Mathml,
    /// A drawing: its attributes on the first line, its markup below.
    Svg,
    /// A canvas, written like a drawing.
    Canvas,
    /// The address of an image.
    Image,
    /// The address of a video.
    Video,
    /// The address of a recording.
    Audio,
    /// The address of a framed page.
    Iframe,
    /// The address of any other medium.
    Embed,
}

impl ContentFormat {
    /// All formats, in the order of the documentation.
    pub(crate) const ALL: [ContentFormat; 11] = [
        ContentFormat::Plain,
        ContentFormat::Toon,
        ContentFormat::Latex,
        ContentFormat::Mathml,
        ContentFormat::Svg,
        ContentFormat::Canvas,
        ContentFormat::Image,
        ContentFormat::Video,
        ContentFormat::Audio,
        ContentFormat::Iframe,
        ContentFormat::Embed,
    ];

    /// Returns the name in the schema and the protocol.
    pub fn as_str(self) -> &'static str {
        match self {
            ContentFormat::Plain => "plain",
            ContentFormat::Toon => "toon",
            ContentFormat::Latex => "latex",
            ContentFormat::Mathml => "mathml",
            ContentFormat::Svg => "svg",
            ContentFormat::Canvas => "canvas",
            ContentFormat::Image => "image",
            ContentFormat::Video => "video",
            ContentFormat::Audio => "audio",
            ContentFormat::Iframe => "iframe",
            ContentFormat::Embed => "embed",
        }
    }

    /// Parses the name of a format.
    pub fn parse(name: &str) -> Option<ContentFormat> {
        ContentFormat::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

/// A node: one unit of meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Index of the parent in the tree; `None` for a root. Always smaller than the node's own
    /// index.
    pub parent: Option<usize>,
    /// The node's type.
    pub node_type: NodeType,
    /// Heading level, 1 to 6; `None` for a page's title.
    pub level: Option<u8>,
    /// Language of code, as the author named it.
    pub lang: Option<String>,
    /// The value's path in structured data: `a.b[3].c`.
    pub key_path: Option<String>,
    /// Byte range of the source that the node was made from; a heading's is its own line only.
    pub span: Range<usize>,
    /// The text on one line, at most 80 characters.
    pub label: String,
    /// The text; empty for a node that only holds its parts together.
    pub content: String,
    /// The notation of `content`.
    pub format: ContentFormat,
    /// Exact cl100k tokens of `content`.
    pub token_count: u32,
}

/// A document as nodes in document order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentTree {
    /// The nodes: parents before children, siblings in reading order.
    pub nodes: Vec<Node>,
}

impl DocumentTree {
    /// Appends a node and returns its index.
    pub fn push(&mut self, node: Node) -> usize {
        debug_assert!(node.parent.is_none_or(|parent| parent < self.nodes.len()));
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Returns each node's depth, 0 for roots, by index.
    pub fn depths(&self) -> Vec<usize> {
        let mut depths: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            depths.push(node.parent.map_or(0, |parent| depths[parent] + 1));
        }
        depths
    }
}

/// Prints the outline: type, label, and the content where the label does not show all of it.
impl fmt::Display for DocumentTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (node, depth) in self.nodes.iter().zip(self.depths()) {
            let indent = "  ".repeat(depth);
            write!(f, "{indent}[{}", node.node_type)?;
            if let Some(level) = node.level {
                write!(f, " {level}")?;
            }
            if let Some(lang) = &node.lang {
                write!(f, " {lang}")?;
            }
            if let Some(key_path) = &node.key_path {
                write!(f, " {key_path}")?;
            }
            if node.format != ContentFormat::Plain {
                write!(f, " {}", node.format.as_str())?;
            }
            writeln!(f, "] {}", node.label)?;
            if node.content != node.label {
                for line in node.content.split('\n') {
                    writeln!(f, "{indent}  | {line}")?;
                }
            }
        }
        Ok(())
    }
}
