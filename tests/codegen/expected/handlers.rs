/// The handler of an endpoint.
pub(crate) fn handler(id: EndpointId) -> Handler {
    match id {
        EndpointId::Health => handler!(core::health),
        EndpointId::PagesList => handler!(not_built),
        EndpointId::PagesRun => handler!(pages::pages_run),
    }
}
/// The endpoints that have no handler yet, in declaration order.
pub static NOT_BUILT: &[EndpointId] = &[EndpointId::PagesList];
