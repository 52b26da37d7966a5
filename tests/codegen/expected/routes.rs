/// The route table of the declaration.
pub static ROUTES: Routes = Routes {
    seed: 0u64,
    displacements: &[0u16, 2u16],
    edges: &[
        Edge {
            from: 6u16,
            to: 7u16,
            segment: "pages",
        },
        Edge {
            from: u16::MAX,
            to: u16::MAX,
            segment: "",
        },
        Edge {
            from: u16::MAX,
            to: u16::MAX,
            segment: "",
        },
        Edge {
            from: 9u16,
            to: 10u16,
            segment: "run",
        },
        Edge {
            from: 4u16,
            to: 5u16,
            segment: "pages",
        },
        Edge {
            from: 0u16,
            to: 1u16,
            segment: "health",
        },
        Edge {
            from: u16::MAX,
            to: u16::MAX,
            segment: "",
        },
        Edge {
            from: 9u16,
            to: 11u16,
            segment: "socket",
        },
        Edge {
            from: u16::MAX,
            to: u16::MAX,
            segment: "",
        },
        Edge {
            from: 0u16,
            to: 3u16,
            segment: "v2",
        },
        Edge {
            from: 3u16,
            to: 6u16,
            segment: "own",
        },
        Edge {
            from: 0u16,
            to: 2u16,
            segment: "pages",
        },
        Edge {
            from: u16::MAX,
            to: u16::MAX,
            segment: "",
        },
        Edge {
            from: u16::MAX,
            to: u16::MAX,
            segment: "",
        },
        Edge {
            from: u16::MAX,
            to: u16::MAX,
            segment: "",
        },
        Edge {
            from: u16::MAX,
            to: u16::MAX,
            segment: "",
        },
    ],
    nodes: &[
        Node {
            parameter: 65535u16,
            leaves: [
                65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16,
                65535u16,
            ],
        },
        Node {
            parameter: 65535u16,
            leaves: [
                0u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16,
                65535u16,
            ],
        },
        Node {
            parameter: 9u16,
            leaves: [
                1u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16,
                65535u16,
            ],
        },
        Node {
            parameter: 4u16,
            leaves: [
                65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16,
                65535u16,
            ],
        },
        Node {
            parameter: 65535u16,
            leaves: [
                65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16,
                65535u16,
            ],
        },
        Node {
            parameter: 65535u16,
            leaves: [
                2u16, 3u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16,
            ],
        },
        Node {
            parameter: 65535u16,
            leaves: [
                65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16,
                65535u16,
            ],
        },
        Node {
            parameter: 8u16,
            leaves: [
                65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16,
                65535u16,
            ],
        },
        Node {
            parameter: 65535u16,
            leaves: [
                4u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16,
                65535u16,
            ],
        },
        Node {
            parameter: 65535u16,
            leaves: [
                65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16, 65535u16,
                65535u16,
            ],
        },
        Node {
            parameter: 65535u16,
            leaves: [
                65535u16, 65535u16, 5u16, 65535u16, 65535u16, 65535u16, 65535u16,
                65535u16,
            ],
        },
        Node {
            parameter: 65535u16,
            leaves: [
                65535u16, 65535u16, 65535u16, 65535u16, 6u16, 65535u16, 65535u16,
                65535u16,
            ],
        },
    ],
    leaves: &[
        Leaf {
            endpoint: 0u16,
            door: 0u16,
            parameters: &[],
        },
        Leaf {
            endpoint: 1u16,
            door: 0u16,
            parameters: &[],
        },
        Leaf {
            endpoint: 1u16,
            door: 1u16,
            parameters: &["site"],
        },
        Leaf {
            endpoint: 1u16,
            door: 2u16,
            parameters: &["site"],
        },
        Leaf {
            endpoint: 1u16,
            door: 3u16,
            parameters: &["at"],
        },
        Leaf {
            endpoint: 2u16,
            door: 0u16,
            parameters: &["name"],
        },
        Leaf {
            endpoint: 2u16,
            door: 1u16,
            parameters: &["name"],
        },
    ],
};
