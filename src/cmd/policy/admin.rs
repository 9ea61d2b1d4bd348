//! The policies of a running server, from its admin port.

use hyper::Method;

use crate::cmd::CommandError;
use crate::cmd::admin::{AdminRequest, Port, ask};
use crate::cmd::connect::AccessArgs;
use crate::policy::{POLICY_VIEW_VERSION, PolicyView};

/// Whether `text` stands for a server and not for a file.
pub fn is_url(text: &str) -> bool {
    text.contains("://")
}

/// Asks the server at `url` for `GET /policy`; Ctrl-C ends the wait.
pub fn policies(url: &str, access: &AccessArgs) -> Result<PolicyView, CommandError> {
    let (path, answer) = ("/policy", "list of policies");
    let version = Some(POLICY_VIEW_VERSION);
    ask(url, access, &AdminRequest { method: Method::GET, path, answer, version, port: Port::Admin })
}
