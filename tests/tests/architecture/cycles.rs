//! Finds cycles of imports.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use crate::imports::Imports;
use crate::sources::Sources;

/// For each node, the nodes that it imports from.
pub(crate) type Edges<N> = BTreeMap<N, BTreeSet<N>>;

/// Returns the import cycles between the source files of a crate, as text. The modules in `roots`
/// assemble the crate, so they may import everything.
pub(crate) fn cycles_between_files(folder: &Path, roots: &[&str]) -> Vec<String> {
    let sources = Sources::read(folder);
    let edges = Imports::of(&sources).edges(&sources, roots);
    let named_edges: Edges<String> = edges
        .into_iter()
        .map(|(module, used_modules)| {
            (module.join("::"), used_modules.iter().map(|used_module| used_module.join("::")).collect())
        })
        .collect();
    cycles(&named_edges).into_iter().map(|cycle| cycle.join(" -> ")).collect()
}

/// Returns the shortest cycle through each node, unless the cycle shares a node with one that is
/// already in the result. Each cycle starts and ends with the same node.
pub(crate) fn cycles<N: Ord + Clone>(edges: &Edges<N>) -> Vec<Vec<N>> {
    let mut listed_nodes: BTreeSet<&N> = BTreeSet::new();
    let mut cycles: Vec<Vec<N>> = Vec::new();
    for start in edges.keys() {
        let Some(cycle) = shortest(edges, start) else { continue };
        if cycle.iter().any(|node| listed_nodes.contains(node)) {
            continue;
        }
        listed_nodes.extend(&cycle);
        cycles.push(cycle.into_iter().cloned().collect());
    }
    cycles
}

/// Returns the shortest path from a node back to the same node.
fn shortest<'e, N: Ord>(edges: &'e Edges<N>, start: &'e N) -> Option<Vec<&'e N>> {
    let mut predecessors: BTreeMap<&N, &N> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for next in edges.get(node).into_iter().flatten() {
            if next == start {
                let mut path = vec![start, node];
                while let Some(unvisited) =
                    predecessors.get(path[path.len() - 1]).filter(|_| path[path.len() - 1] != start)
                {
                    path.push(unvisited);
                }
                path.dedup();
                path.reverse();
                return Some(if path.len() == 1 { vec![start, start] } else { path });
            }
            if !predecessors.contains_key(next) {
                predecessors.insert(next, node);
                queue.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(edges: &[(&str, &str)], expected: &[&str]) {
        let mut all_edges: Edges<&str> = Edges::new();
        for (from, to) in edges {
            all_edges.entry(from).or_default().insert(to);
        }
        let found_cycles: Vec<String> = cycles(&all_edges).iter().map(|cycle| cycle.join(" -> ")).collect();
        assert_eq!(found_cycles, expected, "{edges:?}");
    }

    #[test]
    fn the_shortest_cycles_are_found() {
        check(&[("a", "b"), ("b", "c"), ("a", "c")], &[]);
        check(&[("a", "b"), ("b", "a")], &["a -> b -> a"]);
        check(&[("a", "b"), ("b", "c"), ("c", "a")], &["a -> b -> c -> a"]);
        check(&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "b"), ("c", "b")], &["b -> c -> b"]);
        check(&[("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")], &["a -> b -> a", "c -> d -> c"]);
        check(&[("a", "a")], &["a -> a"]);
    }
}
