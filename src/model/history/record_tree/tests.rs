use super::walk::{MOST_VISITED, MOST_VISITED_PER_NODE};
use super::*;
use proptest::prelude::*;

/// A change of a chain.
#[derive(Debug, Clone)]
enum Change {
    /// A node that is written again, or a new one.
    Node(Option<u64>, Parent, Part, Option<u64>),
    Leaf(u64),
    Cut(usize),
    Reset(Vec<u64>),
    Retain(Vec<u64>),
}

/// A number that [`of`] makes a key of.
fn key() -> impl Strategy<Value = u64> {
    0_u64..10_000
}

/// The key of a node that a chain has, or of the next one.
fn of(tree: &RecordTree, number: u64) -> Key {
    Key::new(number % (tree.nodes.len() as u64 + 1))
}

fn change() -> impl Strategy<Value = Change> {
    let parent = prop_oneof![
        8 => Just(Parent::Previous),
        1 => Just(Parent::Root),
        8 => key().prop_map(|key| Parent::Key(Key::new(key))),
    ];
    let part = prop_oneof![
        2 => Just(Part::Link),
        3 => Just(Part::Output),
        2 => Just(Part::Result),
        2 => Just(Part::Injected),
        3 => Just(Part::Input),
        1 => Just(Part::Front),
        1 => Just(Part::Beside),
    ];
    let request = prop::option::weighted(0.8, 0_u64..8);
    let node = (prop::option::weighted(0.05, key()), parent, part, request);
    let keys = || prop::collection::vec(key(), 0..6);
    prop_oneof![
        30 => node.prop_map(|(key, parent, part, request)| Change::Node(
            key,
            parent,
            part,
            request.filter(|_| part == Part::Output)
        )),
        8 => key().prop_map(Change::Leaf),
        1 => (0_usize..30).prop_map(Change::Cut),
        1 => keys().prop_map(Change::Reset),
        1 => keys().prop_map(Change::Retain),
    ]
}

fn apply(tree: &mut RecordTree, change: &Change) -> Option<BranchChange> {
    let keys = |keys: &[u64]| -> Vec<Key> { keys.iter().map(|key| of(tree, *key)).collect() };
    match change {
        Change::Node(again, parent, part, request) => {
            let parent = match *parent {
                Parent::Key(key) => Parent::Key(of(tree, key.get())),
                other => other,
            };
            if let Some(known) = again.and_then(|key| tree.find(of(tree, key))) {
                tree.relink(known, parent);
                return None;
            }
            let key = Some(Key::new(tree.nodes.len() as u64));
            tree.push(key, parent, *part, request.map(Key::new), false)
        }
        Change::Leaf(key) => tree.set_leaf(of(tree, *key), true),
        Change::Cut(position) => Some(tree.cut(*position)),
        Change::Reset(kept) => {
            let (key, kept) = (
                Key::new(tree.nodes.len() as u64),
                RetainedItems::Nodes(keys(kept)),
            );
            Some(tree.reset(Some(key), &kept))
        }
        Change::Retain(kept) => {
            let kept = keys(kept);
            Some(tree.retain(&kept))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_walk_over_the_difference_comes_to_the_same_branch(
        changes in prop::collection::vec(change(), 0..120)
    ) {
        let (mut tree, mut whole) = (RecordTree::default(), RecordTree::default());
        for change in &changes {
            // Without what the walk before has left behind, the next one is through everything.
            whole.walked = None;
            let [one, other] = [&mut tree, &mut whole].map(|tree| apply(tree, change));
            prop_assert_eq!(format!("{one:?}"), format!("{other:?}"));
            prop_assert_eq!(&tree.path, &whole.path);
            prop_assert_eq!(tree.tip, whole.tip);
            for (ix, node) in tree.nodes.iter().enumerate() {
                prop_assert_eq!(node.live, tree.path.contains(&ix));
            }
        }
    }
}

/// A chain of this many nodes.
fn trunk(nodes: u64) -> RecordTree {
    let mut tree = RecordTree::default();
    for n in 0..nodes {
        tree.push(
            Some(Key::new(n)),
            Parent::Previous,
            Part::Input,
            None,
            false,
        );
    }
    tree
}

/// A question below a node and its answer.
fn a_try(tree: &mut RecordTree, n: u64, below: Parent) -> Parent {
    let [question, answer] = [0, 1].map(|nth| Key::new(1_000_000 + n * 2 + nth));
    tree.push(Some(question), below, Part::Input, None, true);
    let question = Parent::Key(question);
    tree.push(
        Some(answer),
        question,
        Part::Output,
        Some(Key::new(n)),
        false,
    );
    Parent::Key(answer)
}

/// Four times the changes of the branch visit four times the nodes, and some for the first walk.
fn assert_linear(visited: impl Fn(u64) -> RecordTree) {
    let [one, four] = [500, 2_000].map(|n| visited(n).visited);
    assert!(one > 0, "nothing was walked");
    assert!(four <= one * 5, "{one} nodes, then {four}");
}

#[test]
fn retries_of_the_last_turn_do_not_walk_the_whole_log() {
    assert_linear(|tries| {
        let mut tree = trunk(10);
        let mut from = Parent::Key(Key::new(9));
        for n in 0..tries {
            let answer = a_try(&mut tree, n, from);
            if n % 2 == 0 {
                from = answer;
            }
        }
        tree
    });
}

#[test]
fn retries_of_one_turn_do_not_walk_all_tries_before() {
    assert_linear(|tries| {
        let mut tree = trunk(10);
        for n in 0..tries {
            a_try(&mut tree, n, Parent::Key(Key::new(5)));
        }
        tree
    });
}

#[test]
fn retries_of_the_first_turn_do_not_walk_all_tries_before() {
    assert_linear(|tries| {
        let mut tree = trunk(2);
        for n in 0..tries {
            a_try(&mut tree, n, Parent::Root);
            if n % 8 == 7 {
                tree.set_leaf(Key::new(1), true);
            }
        }
        tree
    });
}

#[test]
fn rewinds_by_leaf_do_not_walk_the_whole_log() {
    assert_linear(|rewinds| {
        let mut tree = trunk(10);
        let mut kept = Key::new(9);
        for n in 0..rewinds {
            let Parent::Key(answer) = a_try(&mut tree, n, Parent::Previous) else {
                unreachable!();
            };
            if n % 3 == 2 {
                tree.set_leaf(kept, true);
            } else {
                kept = answer;
            }
        }
        tree
    });
}

#[test]
fn two_short_branches_of_a_long_log_cost_their_own_length() {
    assert_linear(|nodes| {
        let mut tree = trunk(nodes);
        let trunk = Parent::Key(Key::new(nodes - 1));
        let ends = [0, 1].map(|n| a_try(&mut tree, n, trunk));
        for n in 0..nodes as usize {
            let Parent::Key(end) = ends[n % 2] else {
                unreachable!();
            };
            tree.set_leaf(end, true);
        }
        tree
    });
}

#[test]
fn rewinds_after_many_cuts_cost_what_came_since() {
    assert_linear(|rewinds| {
        let mut tree = trunk(10);
        for n in 0..rewinds {
            a_try(&mut tree, n, Parent::Previous);
            tree.cut(tree.path.len() - 1);
            a_try(&mut tree, rewinds + n, Parent::Key(Key::new(7)));
        }
        tree
    });
}

#[test]
fn rewinds_over_each_reset_walk_a_bounded_number_of_nodes() {
    let mut tree = trunk(10);
    for n in 0..4_000 {
        tree.reset(Some(Key::new(1_000_000 + n)), &RetainedItems::Nothing);
        tree.set_leaf(Key::new(5), true);
    }
    let most = MOST_VISITED + tree.nodes.len() * (MOST_VISITED_PER_NODE + 1);
    let visited = tree.visited;
    assert!((MOST_VISITED..most).contains(&visited), "{visited}");
}

#[test]
fn resets_that_keep_everything_keep_a_bounded_number_of_nodes_together() {
    let mut tree = trunk(1_000);
    let all = RetainedItems::from(Some(Key::new(0)));
    for n in 0..4_000 {
        tree.reset(Some(Key::new(1_000_000 + n)), &all);
        if n == 100 {
            assert_eq!(tree.live().len(), 1_101);
        }
    }
    let kept = |node| tree.kept_by(node).into_iter().flatten().count();
    let kept: usize = (0..tree.nodes.len()).map(kept).sum();
    assert!(kept < MOST_KEPT + 5_000, "{kept}");
}

proptest! {
    #[test]
    fn a_node_has_the_items_that_were_added(added in prop::collection::vec(0..12_usize, 0..60)) {
        let mut tree = RecordTree::default();
        for _ in 0..12 {
            tree.push(None, Parent::Previous, Part::Input, None, false);
        }
        let mut expected = vec![Vec::new(); 12];
        for (item, node) in added.into_iter().enumerate() {
            tree.hold(node, item);
            expected[node].push(item);
        }
        for (node, expected) in expected.into_iter().enumerate() {
            prop_assert!(tree.items(node).eq(expected.iter().copied()));
            prop_assert!(tree.items(node).rev().eq(expected.into_iter().rev()));
        }
    }
}
