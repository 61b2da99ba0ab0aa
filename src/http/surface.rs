//! What the server lets be seen and asked.

use std::sync::Arc;

use super::{cors::Origins, documents::Documents};
use crate::graphql::{self, Schema};

/// What of the API is open; by default everything, to programs and to pages from this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surface {
    /// The only documents that run; every one without a list.
    pub documents: Option<Arc<Documents>>,
    /// Whether the schema can be asked for.
    pub introspection: bool,
    /// Whether GraphiQL is served.
    pub graphiql: bool,
    /// Which pages of other sites may read answers.
    pub origins: Origins,
}

impl Default for Surface {
    fn default() -> Self {
        Self {
            documents: None,
            introspection: true,
            graphiql: true,
            origins: Origins::default(),
        }
    }
}

impl Surface {
    /// The schema that may be seen.
    #[must_use]
    pub fn schema(&self) -> Schema {
        if self.introspection {
            graphql::schema()
        } else {
            graphql::hidden_schema()
        }
    }
}
