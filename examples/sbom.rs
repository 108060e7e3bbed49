//! Prints the bill of materials of a release as a CycloneDX 1.5 document.
//!
//! It lists every linked crate with version, licence, checksum and dependencies, and the SQLite
//! that is compiled in. It runs `cargo metadata` and reads `Cargo.lock`; arguments are passed on to
//! cargo.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::process::Command;

use serde_json::{Value, json};

const TARGET: &str = "x86_64-unknown-linux-gnu";

fn main() -> Result<(), Box<dyn Error>> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", TARGET]);
    let asked = cargo.args(std::env::args_os().skip(1)).output()?;
    if !asked.status.success() {
        return Err(String::from_utf8_lossy(&asked.stderr).into_owned().into());
    }
    let metadata: Value = serde_json::from_slice(&asked.stdout)?;
    let checksums = checksums(&std::fs::read_to_string("Cargo.lock")?)?;
    let packages = by_id(&metadata["packages"]);
    let nodes = by_id(&metadata["resolve"]["nodes"]);
    let root = text(&metadata["resolve"]["root"]);
    let sqlite = format!("pkg:generic/sqlite@{}", rusqlite::version());

    let mut linked = BTreeSet::new();
    let mut queue = vec![root];
    let mut graph = Vec::new();
    while let Some(id) = queue.pop() {
        if !linked.insert(id) {
            continue;
        }
        let below = linked_by(nodes[id]);
        let mut names: Vec<String> = below.iter().map(|id| purl(packages[id])).collect();
        if packages[id]["name"] == "libsqlite3-sys" {
            names.push(sqlite.clone());
        }
        graph.push(json!({"ref": purl(packages[id]), "dependsOn": names}));
        queue.extend(below);
    }
    let mut components: Vec<Value> = linked
        .iter()
        .filter(|id| **id != root)
        .map(|id| component("library", packages[id], &checksums))
        .collect();
    components.push(json!({
        "type": "library",
        "bom-ref": sqlite,
        "purl": sqlite,
        "name": "sqlite",
        "version": rusqlite::version(),
        "licenses": [{"license": {"name": "Public Domain"}}],
    }));
    graph.sort_by_key(|it| it["ref"].to_string());
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component("application", packages[root], &checksums)},
        "components": components,
        "dependencies": graph,
    });
    let text = serde_json::to_string_pretty(&document)?;
    Ok(std::io::Write::write_all(&mut std::io::stdout(), format!("{text}\n").as_bytes())?)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn by_id(list: &Value) -> BTreeMap<&str, &Value> {
    list.as_array().into_iter().flatten().map(|it| (text(&it["id"]), it)).collect()
}

/// Returns the packages linked into the binary, without those of tests and build scripts.
fn linked_by(node: &Value) -> Vec<&str> {
    let is_linked = |it: &&Value| {
        it["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|it| it["kind"].is_null()))
    };
    let below = node["deps"].as_array().into_iter().flatten();
    below.filter(is_linked).map(|it| text(&it["pkg"])).collect()
}

fn purl(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(&package["name"]), text(&package["version"]))
}

fn component(kind: &str, package: &Value, checksums: &BTreeMap<String, String>) -> Value {
    let purl = purl(package);
    let mut component = json!({
        "type": kind,
        "bom-ref": purl,
        "purl": purl,
        "name": package["name"],
        "version": package["version"],
        "licenses": [{"expression": text(&package["license"]).replace('/', " OR ")}],
    });
    if let Some(checksum) = checksums.get(&purl) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

/// Returns the checksums of Cargo.lock by purl.
fn checksums(lock: &str) -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    let lock: toml::Table = toml::from_str(lock)?;
    let packages = lock.get("package").and_then(|it| it.as_array()).into_iter().flatten();
    let field = |it: &toml::Value, key: &str| it.get(key)?.as_str().map(str::to_owned);
    Ok(packages
        .filter_map(|it| {
            let purl = format!("pkg:cargo/{}@{}", field(it, "name")?, field(it, "version")?);
            Some((purl, field(it, "checksum")?))
        })
        .collect())
}
