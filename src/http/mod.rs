//! The HTTP side: GraphQL, the REST lists, the playground and the health checks, behind one router.

pub mod guard;
