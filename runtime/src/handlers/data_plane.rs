//! The sandbox data plane: doors under `/api/v2/sandboxes/{sandbox_id}/…` and `/v2/sandboxes/…` whose bodies and answers
//! are of another shape than those of the endpoints they belong to. Same id, same rule, same audit; the engines are
//! the same too.
//!
//! | door | endpoint | here |
//! |---|---|---|
//! | `execute` | `shell` | [`mod@execute`] |
//! | `execute/stream/start`, `…/resume`, `execute/ws` | `shell_stream` | [`mod@stream`] |
//! | `upload`, `download`, `glob`, `grep` | `files_…` | beside the handlers of those |
//! | `tunnel` | `tunnel_connect` | the handler of that |
//! | `boxes/{name}` | `capabilities` | the handler of that |

mod asked;
mod execute;
mod ledger;
mod opening;
mod stream;

pub(super) use execute::call as execute;
pub(super) use stream::call as stream;
