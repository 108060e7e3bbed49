//! Tests the names of roots.

use std::fs;

use super::*;

fn repository(folder: &Path, url: &str) {
    fs::create_dir_all(folder.join(".git")).unwrap();
    let config = format!("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = {url}\n");
    fs::write(folder.join(".git/config"), config).unwrap();
}

#[test]
fn two_clones_are_one_root() {
    let dir = tempfile::tempdir().unwrap();
    let urls = [
        "https://me:token@git.example/team/notes.git",
        "git@git.example:team/notes.git",
        "ssh://git@git.example/team/notes",
    ];
    for (nth, url) in urls.iter().enumerate() {
        let clone = dir.path().join(format!("clone{nth}"));
        repository(&clone, url);
        let names = RootNames::default();
        assert_eq!(names.name_of(&clone), "git.example/team/notes");
        assert_eq!(names.name_of(&clone.join("docs/a")), "git.example/team/notes/docs/a");
    }
}

#[test]
fn a_working_tree_has_the_name_of_its_repository() {
    let dir = tempfile::tempdir().unwrap();
    repository(&dir.path().join("main"), "https://git.example/x/y");
    let own = dir.path().join("main/.git/worktrees/w");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    let tree = dir.path().join("w");
    fs::create_dir_all(&tree).unwrap();
    fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    assert_eq!(RootNames::default().name_of(&tree), "git.example/x/y");
}

#[test]
fn a_folder_has_its_own_name_and_a_given_one_comes_first() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().canonicalize().unwrap().join("notes");
    fs::create_dir(&folder).unwrap();
    assert_eq!(RootNames::default().name_of(&folder), "notes");
    let given = RootNames::parse(&[format!("team={}", folder.display())]).unwrap();
    assert_eq!(given.name_of(&folder), "team");
    repository(&folder, "/srv/git/shared.git");
    assert_eq!(RootNames::default().name_of(&folder), "shared");
    assert!(RootNames::parse(&["x".to_owned()]).is_err());
    assert!(RootNames::parse(&["/x=/tmp".to_owned()]).is_err());
}
