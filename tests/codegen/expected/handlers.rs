/// The handler of an endpoint; `None` while it is not built.
#[must_use]
pub fn of(id: EndpointId) -> Option<Handler> {
    match id {
        EndpointId::Health => Some(handler!(core::health)),
        EndpointId::PagesList => None,
        EndpointId::PagesRun => Some(handler!(pages::pages_run, streams_body)),
    }
}
/// The endpoints that have no handler yet, in declaration order.
pub static NOT_BUILT: &[EndpointId] = &[EndpointId::PagesList];
