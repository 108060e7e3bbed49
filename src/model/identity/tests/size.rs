//! Near-linear work for any input, counted in steps rather than timed.

use super::*;
use crate::model::identity::alignment::align_counted;

/// Maximum steps per node that count as near-linear.
const STEPS_PER_NODE_MAX: u64 = 400;

fn side(n: usize, node: impl Fn(usize) -> (Option<usize>, NodeType, String)) -> Vec<Owned> {
    (0..n)
        .map(|at| {
            let (parent, node_type, content) = node(at);
            let level = (node_type == NodeType::Heading).then_some(2);
            Owned { parent, node_type, level, label: content.clone(), content }
        })
        .collect()
}

#[track_caller]
fn check_work(old: &[Owned], new: &[Owned]) -> Vec<Option<usize>> {
    let (matches, work) = align_counted(&known(old), &known(new), &TextHistoryIndex::default());
    let per_node = work / (old.len() + new.len()).max(1) as u64;
    assert!(per_node <= STEPS_PER_NODE_MAX, "{per_node} steps per node");
    matches
}

const N: usize = 50_000;

fn n_matched(matches: &[Option<usize>]) -> usize {
    matches.iter().flatten().count()
}

#[test]
fn equal_siblings_cost_linear_work_and_are_matched() {
    let all = side(N, |_| (None, NodeType::Text, "TODO".to_owned()));
    assert_eq!(n_matched(&check_work(&all, &all[..N - 1])), N - 1);
    assert_eq!(n_matched(&check_work(&all[..N / 2], &all)), N / 2);
}

#[test]
fn two_alternating_texts_cost_linear_work() {
    let even = side(N, |at| (None, NodeType::Text, ["a", "b"][at % 2].to_owned()));
    let odd = side(N, |at| (None, NodeType::Text, ["a", "b", "b"][at % 3].to_owned()));
    assert!(N / 2 < n_matched(&check_work(&even, &odd)));
}

#[test]
fn reversed_siblings_cost_linear_work_and_are_matched() {
    let old = side(N, |at| (None, NodeType::Text, format!("text {at}")));
    let new = side(N, |at| (None, NodeType::Text, format!("text {}", N - 1 - at)));
    assert_eq!(n_matched(&check_work(&old, &new)), N);
}

#[test]
fn edited_siblings_cost_linear_work_and_are_matched() {
    let text =
        |at: usize, word: &str| format!("the node {at} says a {word} thing about {}", at * 7);
    let old = side(N, |at| (None, NodeType::Text, text(at, "small")));
    let new = side(N, |at| (None, NodeType::Text, text(at, "large")));
    assert_eq!(n_matched(&check_work(&old, &new)), N);
}

#[test]
fn replaced_siblings_cost_linear_work_and_match_nothing() {
    let old = side(N, |at| (None, NodeType::Text, format!("alpha{at} beta{at} gamma{at}")));
    let new = side(N, |at| (None, NodeType::Text, format!("one{at} two{at} three{at}")));
    assert_eq!(n_matched(&check_work(&old, &new)), 0);
}

#[test]
fn equal_headings_cost_linear_work() {
    let section = |at: usize| match at % 2 {
        0 => (None, NodeType::Heading, "Example".to_owned()),
        _ => (Some(at - 1), NodeType::Text, format!("{}", at % 7)),
    };
    let old = side(N, section);
    let new = side(N, |at| match section(at) {
        (Some(parent), node_type, _) => (Some(parent), node_type, format!("{}", at % 5)),
        heading => heading,
    });
    check_work(&old, &new);
}

#[test]
fn a_chain_as_deep_as_the_file_costs_linear_work() {
    let chain = |word: &'static str| {
        side(N, move |at| (at.checked_sub(1), NodeType::List, format!("{word} {}", at % 10)))
    };
    let old = chain("deep");
    assert_eq!(n_matched(&check_work(&old, &old)), N);
    check_work(&old, &chain("down"));
    check_work(&chain(""), &old[..N / 2]);
}

#[test]
fn blank_nodes_cost_linear_work() {
    let old = side(N, |at| (at.checked_sub(1).map(|it| it / 2), NodeType::List, String::new()));
    check_work(&old, &old[..N - 100]);
}

#[test]
fn one_long_line_against_many_short_ones_costs_bounded_work() {
    let long = "word ".repeat(200_000);
    let old = side(4, |_| (None, NodeType::Code, long.clone()));
    let new = side(2000, |at| (None, NodeType::Code, format!("word {at} word")));
    let (_, work) = align_counted(&known(&old), &known(&new), &TextHistoryIndex::default());
    assert!(work < 10_000_000, "{work} steps");
}
