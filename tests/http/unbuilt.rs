//! The endpoints that are declared and governed, but have no handler yet: `tests/unbuilt.txt`, to be emptied.

#[path = "../golden.rs"]
mod golden;

use policy_lang::endpoint::ENDPOINTS;

#[test]
fn the_list_of_unbuilt_endpoints_is_true() {
    let unbuilt = ENDPOINTS.iter().filter(|decl| runtime::handlers::of(decl.id).is_none());
    let list: String = unbuilt.map(|decl| format!("{}\n", decl.name)).collect();
    let mut goldens = golden::Goldens::new("cargo test -p runtime --test http unbuilt", &[]);
    goldens.compare("tests/unbuilt.txt", &list);
    goldens.finish();
}
