//! The settings of what is open.

use std::{fs, sync::Arc};

use super::Result;
use crate::{
    config::Config,
    http::{Documents, Origins, Surface, guard::Limits},
};

pub(super) fn read(config: &Config, limits: &Limits) -> Result<Surface> {
    let origins: String = config.get("cors.origins")?;
    Ok(Surface {
        documents: documents(config, limits)?.map(Arc::new),
        introspection: config.get("graphql.introspection")?,
        graphiql: config.get("graphql.graphiql")?,
        origins: Origins::read(&origins).map_err(|reason| config.wrong("cors.origins", &reason))?,
    })
}

fn documents(config: &Config, limits: &Limits) -> Result<Option<Documents>> {
    let path: String = config.get("limits.documents")?;
    if path.is_empty() {
        return Ok(None);
    }
    let json = fs::read(&path).map_err(|error| format!("the file cannot be read: {error}"));
    let read = json.and_then(|json| Documents::read(&json, limits));
    read.map(Some)
        .map_err(|reason| config.wrong("limits.documents", &reason))
}
