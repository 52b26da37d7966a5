//! Matching a path: the declared endpoints beside ten times as many. The figures should not differ.
//!
//! Both tables are laid out by the code of `codegen` that lays out the real one. Each iteration matches every declared
//! door once; divan prints the time of the whole round and the rate of single matches.

#[path = "../../codegen/src/emit/routes/hash.rs"]
mod hash;
#[path = "../../codegen/src/emit/routes/perfect.rs"]
mod perfect;
#[path = "../../codegen/src/emit/routes/trie.rs"]
mod trie;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use policy_lang::endpoint::{Door, ENDPOINTS, EndpointDecl, Listener, Method};
use runtime::routes::{Edge, Leaf, Node, ROUTES, Routes};

fn main() {
    divan::main();
}

/// The position of every declared door.
fn doors() -> impl Iterator<Item = (usize, usize)> {
    ENDPOINTS
        .iter()
        .enumerate()
        .flat_map(|(endpoint, row)| (0..row.doors.len()).map(move |door| (endpoint, door)))
}

#[expect(clippy::indexing_slicing, reason = "the positions come from `doors`")]
fn at(endpoint: usize, door: usize) -> (&'static EndpointDecl, &'static Door) {
    (&ENDPOINTS[endpoint], &ENDPOINTS[endpoint].doors[door])
}

/// A request for every declared door.
fn requests() -> Vec<(Listener, Method, String)> {
    let filled = |path: &str| path.replace(['{', '}'], "");
    let request = |door: &Door| (door.listener, door.method, filled(door.path));
    doors().map(|(endpoint, door)| request(at(endpoint, door).1)).collect()
}

/// The table of `copies` times the declaration; each copy is another version of the API.
fn table(copies: usize) -> Routes {
    let prefix = |copy: usize| if copy == 0 { String::new() } else { format!("/v{copy}0") };
    let copy =
        |copy| doors().map(move |(endpoint, door)| format!("{}{}", prefix(copy), at(endpoint, door).1.path));
    let paths: Vec<String> = (0..copies).flat_map(copy).collect();
    let routes =
        paths.iter().zip(doors().collect::<Vec<_>>().into_iter().cycle()).map(|(path, (endpoint, door))| {
            let (_, its) = at(endpoint, door);
            trie::Route { endpoint, door, path, slot: its.method as usize + 4 * its.listener as usize }
        });
    let trie = trie::build(routes);
    let edges = perfect::build(&trie.edges);
    let names = |names: Vec<String>| -> &'static [&'static str] {
        names.into_iter().map(|name| &*name.leak()).collect::<Vec<_>>().leak()
    };
    let edge = |edge: trie::Edge| Edge { from: edge.from, to: edge.to, segment: edge.segment.leak() };
    let node = |node: trie::Node| Node { parameter: node.parameter, leaves: node.leaves };
    let leaf = |leaf: trie::Leaf| {
        let (declared, door) = at(usize::from(leaf.endpoint), usize::from(leaf.door));
        Leaf { endpoint: declared.id.into(), declared, door, parameters: names(leaf.parameters) }
    };
    Routes {
        seed: edges.seed,
        displacements: edges.displacements.leak(),
        edges: edges.slots.into_iter().map(|slot| slot.map_or(Edge::EMPTY, edge)).collect::<Vec<_>>().leak(),
        nodes: trie.nodes.into_iter().map(node).collect::<Vec<_>>().leak(),
        leaves: trie.leaves.into_iter().map(leaf).collect::<Vec<_>>().leak(),
    }
}

fn round(bencher: Bencher<'_, '_>, routes: &Routes) {
    let requests = requests();
    let found = |(listener, method, path): &(Listener, Method, String)| {
        routes.find(black_box(path)).and_then(|found| found.door(*listener, *method)).is_some()
    };
    assert!(requests.iter().all(found), "a request is not matched");
    bencher
        .counter(ItemsCount::new(requests.len()))
        .bench_local(|| requests.iter().filter(|each| found(each)).count());
}

/// Endpoints: 118 and 1,180.
#[divan::bench(args = [118, 1_180])]
fn built(bencher: Bencher<'_, '_>, endpoints: usize) {
    round(bencher, &table(endpoints / ENDPOINTS.len()));
}

/// The table in the binary.
#[divan::bench]
fn generated(bencher: Bencher<'_, '_>) {
    round(bencher, &ROUTES);
}

/// Paths that lead nowhere.
#[divan::bench(args = [118, 1_180])]
fn missed(bencher: Bencher<'_, '_>, endpoints: usize) {
    let routes = table(endpoints / ENDPOINTS.len());
    let paths = ["/", "/nothing", "/files/lists", "/agents/sessions/a/b/c/d", "/api/v2/sandboxes/x/none"];
    bencher
        .counter(ItemsCount::new(paths.len()))
        .bench_local(|| paths.iter().filter(|path| routes.find(black_box(path)).is_none()).count());
}
