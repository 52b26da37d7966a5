/// The most parameters that a path has.
pub const MOST_PARAMETERS: usize = 1;
/// The route table of the declaration.
pub static ROUTES: Routes = Routes {
    seed: 0,
    displacements: &[0, 2],
    edges: &[
        Edge {
            from: 6,
            to: 7,
            segment: "pages",
        },
        Edge::EMPTY,
        Edge::EMPTY,
        Edge {
            from: 9,
            to: 10,
            segment: "run",
        },
        Edge {
            from: 4,
            to: 5,
            segment: "pages",
        },
        Edge {
            from: 0,
            to: 1,
            segment: "health",
        },
        Edge::EMPTY,
        Edge {
            from: 9,
            to: 11,
            segment: "socket",
        },
        Edge::EMPTY,
        Edge {
            from: 0,
            to: 3,
            segment: "v2",
        },
        Edge {
            from: 3,
            to: 6,
            segment: "own",
        },
        Edge {
            from: 0,
            to: 2,
            segment: "pages",
        },
        Edge::EMPTY,
        Edge::EMPTY,
        Edge::EMPTY,
        Edge::EMPTY,
    ],
    nodes: &[
        Node::EMPTY,
        Node {
            parameter: NONE,
            leaves: [0, NONE, NONE, NONE, NONE, NONE, NONE, NONE],
        },
        Node {
            parameter: 9,
            leaves: [1, NONE, NONE, NONE, NONE, NONE, NONE, NONE],
        },
        Node {
            parameter: 4,
            leaves: [NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE],
        },
        Node::EMPTY,
        Node {
            parameter: NONE,
            leaves: [2, 3, NONE, NONE, NONE, NONE, NONE, NONE],
        },
        Node::EMPTY,
        Node {
            parameter: 8,
            leaves: [NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE],
        },
        Node {
            parameter: NONE,
            leaves: [4, NONE, NONE, NONE, NONE, NONE, NONE, NONE],
        },
        Node::EMPTY,
        Node {
            parameter: NONE,
            leaves: [NONE, NONE, 5, NONE, NONE, NONE, NONE, NONE],
        },
        Node {
            parameter: NONE,
            leaves: [NONE, NONE, NONE, NONE, 6, NONE, NONE, NONE],
        },
    ],
    leaves: &[
        leaf(0, 0, &[]),
        leaf(1, 0, &[]),
        leaf(1, 1, &["site"]),
        leaf(1, 2, &["site"]),
        leaf(1, 3, &["at"]),
        leaf(2, 0, &["name"]),
        leaf(2, 1, &["name"]),
    ],
};
