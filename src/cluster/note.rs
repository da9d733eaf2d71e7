//! What happens on the way to a server that the user should see.

use std::sync::Arc;
use std::time::Duration;

use crate::manifest::ObjectId;

/// Takes each [`Note`] as it happens; called from any task, so it must be quick.
pub type Notes = Arc<dyn Fn(Note) + Send + Sync>;

/// Something that happened during a call and that is not its result.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A call failed in passing and is made again after `wait`.
    Retry {
        /// The call, such as `PATCH Deployment shop/web`.
        call: String,
        /// The attempt that failed, from 1.
        attempt: u32,
        /// How long until the next.
        wait: Duration,
        /// Why it failed, such as `connection refused`.
        why: String,
    },
    /// The server answers again, after a call that failed in passing.
    Answers,
    /// The server warns (a `Warning` header): a deprecated API, a webhook's remark. Each text is
    /// told once for an object.
    Warning {
        /// The object of the call, if it was about one.
        object: Option<ObjectId>,
        /// The text, cleaned of control characters; withheld for Secrets.
        text: String,
    },
    /// The kubeconfig turns the verification of the server's certificate off.
    InsecureTls,
}
