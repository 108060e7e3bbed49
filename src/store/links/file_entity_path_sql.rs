//! SQL expressions for the names of compiled files among entities.
//!
//! A file is named by its path below its root. Where a root that was compiled earlier has that
//! path, too, its own root stands before it: by its name or last folder, or, where that leads to
//! another file, by its whole path. A part of a file has its line behind the name.

/// Names a root, by the alias of its row of `root`: its name, else its last folder.
macro_rules! root_label {
    ($root:literal) => {
        concat!(
            "ifnull(",
            $root,
            ".name, substr(",
            $root,
            ".path, 1 + length(rtrim(",
            $root,
            ".path, replace(",
            $root,
            ".path, '/', '')))))"
        )
    };
}

pub(in crate::store) use root_label;

/// Names the file of the rows `file` and `root` among entities.
macro_rules! entity_path {
    () => {
        concat!(
            "CASE
                WHEN NOT EXISTS (
                     SELECT 1
                       FROM root AS elder
                      CROSS JOIN file AS same ON same.root = elder.id AND same.path = file.path
                      WHERE elder.id < root.id)
                THEN file.path
                WHEN EXISTS (
                     SELECT 1
                       FROM root AS other
                      CROSS JOIN file AS same ON same.root = other.id
                                             AND same.path IN (file.path, ",
            $crate::store::links::root_label!("root"),
            " || '/' || file.path)
                      WHERE same.path <> file.path
                         OR other.id < root.id
                            AND ",
            $crate::store::links::root_label!("other"),
            " = ",
            $crate::store::links::root_label!("root"),
            ")
                THEN root.path || '/' || file.path
                ELSE ",
            $crate::store::links::root_label!("root"),
            " || '/' || file.path END"
        )
    };
}

pub(in crate::store) use entity_path;

/// Names a node below its file, the row `file`, by the alias of its row of `node`: nothing for the
/// head of the file, for a part its line.
macro_rules! part_of_file {
    ($node:literal) => {
        concat!(
            "CASE WHEN ",
            $crate::store::links::file_head!(),
            " = ",
            $node,
            ".key THEN '' ELSE '#' || ",
            $node,
            ".label END"
        )
    };
}

pub(in crate::store) use part_of_file;

/// Names a node of a file among entities, by the alias of its row of `node`.
macro_rules! name_in_file {
    ($node:literal) => {
        concat!(
            "(SELECT ",
            $crate::store::links::entity_path!(),
            " || ",
            $crate::store::links::part_of_file!($node),
            " FROM file JOIN root ON root.id = file.root WHERE file.id = ",
            $node,
            ".file)"
        )
    };
}

pub(in crate::store) use name_in_file;
