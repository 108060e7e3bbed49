use super::*;

#[test]
fn results_come_in_the_order_of_the_items() {
    let doubled: Vec<usize> =
        map_in_order((0..1000).collect(), 4, |it: usize| it * 2, |results| results.collect());
    assert_eq!(doubled, (0..1000).map(|it| it * 2).collect::<Vec<_>>());
}

#[test]
fn a_consumer_may_stop_early() {
    let first = map_in_order((0..1000).collect(), 4, |it: usize| it, |results| results.next());
    assert_eq!(first, Some(0));
}

#[test]
fn no_items_give_no_results() {
    let none = map_in_order(Vec::<usize>::new(), 4, |it| it, |results| results.next());
    assert_eq!(none, None);
}
