//! Tests of source code: a sample of each language, and what an edit leaves alone.

use expect_test::{Expect, expect};

use super::*;
use crate::fuzzing;
use crate::ingest::parse::{Syntax, parse};

/// Returns the outline of a source: the labels, and the lines of each text where they are few.
fn outline(ending: &str, text: &str) -> String {
    let syntax = Syntax::of(&format!("a.{ending}")).unwrap();
    fuzzing::code::code(text.as_bytes());
    let tree = parse(syntax, text).tree;
    let rows = tree.nodes.iter().zip(tree.depths()).map(|(node, depth)| {
        let n_lines = node.content.lines().count();
        let first = node.content.lines().next().unwrap_or("").trim();
        format!("{}{} | {n_lines} from `{first}`\n", "  ".repeat(depth), node.label)
    });
    rows.collect()
}

#[track_caller]
fn check(ending: &str, text: &str, expected: Expect) {
    expected.assert_eq(&outline(ending, text));
}

#[test]
fn rust_is_split_by_its_definitions() {
    check(
        "rs",
        include_str!("../../../../fuzz/seeds/code/sample.rs"),
        expect![[r#"
            Code (rust): // A licence. | 4 from `// A licence.`
            pub(crate) fn open<'a>( path: &'a str, ) -> Option<Store<'a>> where Store<'a>:… | 14 from `/// Opens the store.`
            pub struct Store<'a>(&'a str) | 2 from `#[derive(Clone)]`
            impl Store<'_> | 2 from `impl Store<'_> {`
              fn read(&self) | 2 from `/// Reads.`
              async fn write(&mut self) | 5 from `/* A comment /* in a comment */ */`
            Code (rust): static LAST: u8 = 0; | 1 from `static LAST: u8 = 0;`
            macro_rules! twice | 1 from `macro_rules! twice { ($it:expr) => { $it; $it } }`
        "#]],
    );
}

#[test]
fn python_is_split_by_its_definitions() {
    check(
        "py",
        include_str!("../../../../fuzz/seeds/code/sample.py"),
        expect![[r##"
            Code (python): #!/usr/bin/env python3 | 8 from `#!/usr/bin/env python3`
            async def open_store( path, # ) a comment ) | 10 from `# Opens it.`
            class Store(Base) | 4 from `class Store(Base):`
              def size(self) | 3 from `@property`
              def read(self): return "# no comment" | 1 from `def read(self): return "# no comment"`
            Code (python): if __name__ == "__main__": | 2 from `if __name__ == "__main__":`
        "##]],
    );
}

#[test]
fn typescript_is_split_by_its_definitions() {
    check(
        "ts",
        include_str!("../../../../fuzz/seeds/code/sample.ts"),
        expect![[r#"
            Code (typescript): import { x } from "./x"; | 3 from `import { x } from "./x";`
            export interface Point | 6 from `/**`
            export const add = async (a: number, b: number) | 3 from `export const add = async (a: number, b: number) => {`
            export default class Store<T> extends Base | 3 from `@component({ name: "store" })`
              constructor(readonly limit: number) | 4 from `constructor(readonly limit: number) {`
              get(key: string): T | undefined | 5 from `// Reads one.`
            Code (typescript): add(1, 2).then(() => { | 3 from `add(1, 2).then(() => {`
            function last() | 1 from `function last() {}`
        "#]],
    );
}

#[test]
fn go_is_split_by_its_definitions() {
    check(
        "go",
        include_str!("../../../../fuzz/seeds/code/sample.go"),
        expect![[r#"
        Code (go): package store | 5 from `package store`
        type Store struct | 4 from `// Store keeps rows.`
        func (s *Store) Get(key string) (string, error) | 5 from `// Get reads a row.`
    "#]],
    );
}

#[test]
fn java_is_split_by_its_definitions() {
    check(
        "java",
        include_str!("../../../../fuzz/seeds/code/sample.java"),
        expect![[r#"
            Code (java): package store; | 3 from `package store;`
            public final class Store<T> implements Base | 4 from `/** A store. */`
              public Store(int limit) | 3 from `public Store(int limit) {`
              public T get(String key) throws IOException | 5 from `/** Reads. */`
              Code (java): abstract void none(); | 2 from `abstract void none();`
        "#]],
    );
}

#[test]
fn c_is_split_by_its_definitions() {
    check(
        "c",
        include_str!("../../../../fuzz/seeds/code/sample.c"),
        expect![[r#"
            Code (c): #include <stdio.h> | 5 from `#include <stdio.h>`
            typedef struct row | 4 from `/* A row. */`
            Code (c): int prototype(void); | 3 from `int prototype(void);`
            name(struct store *s) | 4 from `name(struct store *s)`
            int get(struct store *s, const char *key) | 7 from `// Reads.`
        "#]],
    );
}

#[test]
fn cpp_is_split_by_its_definitions() {
    check(
        "cpp",
        include_str!("../../../../fuzz/seeds/code/sample.cpp"),
        expect![[r#"
            Code (cpp): #pragma once | 2 from `#pragma once`
            class Store : public Base | 3 from `template <typename T>`
              explicit Store(int limit) : limit_(limit) | 1 from `explicit Store(int limit) : limit_(limit) {}`
              Code (cpp): [[nodiscard]] T get(const std::string& key) const; | 1 from `[[nodiscard]] T get(const std::string& key) const;`
              void clear() | 4 from `// Removes all.`
              Code (cpp): private: | 3 from `private:`
            void Store::free() | 4 from `void Store::free() {`
        "#]],
    );
}

#[test]
fn csharp_is_split_by_its_definitions() {
    check(
        "cs",
        include_str!("../../../../fuzz/seeds/code/sample.cs"),
        expect![[r#"
        Code (csharp): using System; | 4 from `using System;`
        public partial class Store<T> : Base where T : class | 6 from `/// <summary>A store.</summary>`
          public T Get(string key) | 6 from `public T Get(string key)`
    "#]],
    );
}

#[test]
fn ruby_is_split_by_its_definitions() {
    check(
        "rb",
        include_str!("../../../../fuzz/seeds/code/sample.rb"),
        expect![[r#"
            Code (ruby): require "set" | 1 from `require "set"`
            class Store < Base | 3 from `# A store.`
              def get(key) | 7 from `# Reads.`
              private def clear | 4 from `private def clear`
            def last(a) = a | 1 from `def last(a) = a`
            Code (ruby): puts last(1) | 1 from `puts last(1)`
        "#]],
    );
}

#[test]
fn php_is_split_by_its_definitions() {
    check(
        "php",
        include_str!("../../../../fuzz/seeds/code/sample.php"),
        expect![[r#"
        Code (php): <?php | 4 from `<?php`
        final class Store extends Base | 5 from `/** A store. */`
          public function get(string $key): ?string | 5 from `public function get(string $key): ?string`
        function last(): void | 1 from `function last(): void {}`
    "#]],
    );
}

#[test]
fn shell_is_split_by_its_definitions() {
    check(
        "sh",
        include_str!("../../../../fuzz/seeds/code/sample.sh"),
        expect![[r#"
            Code (shell): #!/bin/sh | 5 from `#!/bin/sh`
            fail() | 7 from `# Says why, and ends.`
            function main | 3 from `function main {`
            Code (shell): main "$@" | 1 from `main "$@"`
        "#]],
    );
}

#[test]
fn sql_is_split_by_its_definitions() {
    check(
        "sql",
        include_str!("../../../../fuzz/seeds/code/sample.sql"),
        expect![[r#"
            CREATE TABLE row | 5 from `-- Rows.`
            create trigger row_changed after update on row | 4 from `create trigger row_changed after update on row`
            Code (sql): INSERT INTO row VALUES ('a;', 'b'); | 1 from `INSERT INTO row VALUES ('a;', 'b');`
        "#]],
    );
}

#[test]
fn a_language_without_rules_is_cut_at_blank_lines() {
    let block = |n: usize| format!("proc step_{n} {{}} {{\n    puts {n}\n}}\n\n");
    let text: String = (0..300).map(block).collect();
    let tree = parse(Syntax::of("a.tcl").unwrap(), &text).tree;
    let parts = &tree.nodes[1..];
    assert_eq!(tree.nodes[0].lang.as_deref(), Some("tcl"));
    assert!(2 < parts.len() && tree.nodes[0].content.is_empty());
    assert!(parts.iter().all(|it| it.content.trim_start().starts_with("proc")));
    check("zig", "const a = 1;\n", expect![["Code (zig): const a = 1; | 1 from `const a = 1;`\n"]]);
}

#[test]
fn a_large_file_is_kept_in_parts() {
    let text = "fn a() {}\n".repeat(SPLIT_BYTES_MAX / 10 + 1);
    let parsed = parse(Syntax::of("a.rs").unwrap(), &text);
    assert_eq!(parsed.warnings[0].what, "more than 2 MiB; kept in parts, without its definitions");
    assert!(parsed.tree.nodes.len() < text.len() / 1000);
}

/// A bracket that is misread must not cost what comes after it.
#[test]
fn a_definition_at_the_margin_begins_anew() {
    let text = "fn a() {\n    b!({);\n}\n\nfn c() {}\n\nstruct D;\n";
    check(
        "rs",
        text,
        expect![[r#"
        fn a() | 3 from `fn a() {`
        fn c() | 1 from `fn c() {}`
        struct D | 1 from `struct D;`
    "#]],
    );
}
