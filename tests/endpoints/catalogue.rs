//! What must hold for the catalogue as a whole.

use policy_lang::endpoint::{ENDPOINTS, EndpointId, GROUPS, KEYS, Key};

/// The figures of the source document: 118 endpoints, 48 of them beside the agents.
#[test]
fn every_group_has_its_number_of_endpoints() {
    let counts: Vec<(&str, usize)> = GROUPS.iter().map(|group| (group.name, group.members.len())).collect();
    let wanted = [
        ("core", 3),
        ("commands", 2),
        ("file_ops", 12),
        ("process", 8),
        ("terminal", 6),
        ("system", 6),
        ("dev_tools", 3),
        ("browser", 8),
        ("agents", 70),
    ];
    assert_eq!(counts, wanted);
    assert_eq!(EndpointId::COUNT, 118);
}

#[test]
fn positions_are_those_of_the_enums() {
    assert!(EndpointId::ALL.iter().zip(&ENDPOINTS).all(|(id, row)| row.id == *id && row.name == id.as_str()));
    assert!(Key::ALL.iter().zip(&KEYS).all(|(key, row)| row.key == *key && row.name == key.as_str()));
    assert!(EndpointId::ALL.iter().all(|id| EndpointId::from_name(id.as_str()) == Some(*id)));
}

/// A key that nothing accepts is a leftover.
#[test]
fn every_key_is_accepted_somewhere() {
    let idle = |key: &Key| !ENDPOINTS.iter().any(|row| row.accepts.contains(*key));
    assert_eq!(Key::ALL.into_iter().filter(idle).collect::<Vec<_>>(), []);
}

/// The doors of the data plane come in pairs, with and without `/api`, that differ in nothing else.
#[test]
fn data_plane_doors_come_in_pairs() {
    for row in &ENDPOINTS {
        for door in row.doors.iter().filter(|door| door.path.starts_with("/api/")) {
            let twin = row.doors.iter().find(|other| {
                door.path.strip_prefix("/api") == Some(other.path) && other.method == door.method
            });
            let twin = twin.unwrap_or_else(|| panic!("{} has no /v2 twin", door.path));
            assert_eq!(
                (twin.body, twin.upgrade, twin.errors, twin.listener),
                (door.body, door.upgrade, door.errors, door.listener),
                "{}",
                door.path
            );
        }
    }
}
