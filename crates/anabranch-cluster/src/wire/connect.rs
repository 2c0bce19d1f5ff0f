//! Connecting to a server.

use std::time::Duration;

use super::line::Line;
use super::queue;
use crate::address::Address;
use crate::error::Error;
use crate::options::ClusterOptions;

/// Connects to a server that has JetStream. A server that is not there yet is waited for.
pub(crate) async fn connect(
    address: &Address,
    options: &ClusterOptions,
    wait: Duration,
) -> Result<Line, Error> {
    let line = Line::connect(address, options, wait).await?;
    queue::check(&line, &address.to_string()).await?;
    Ok(line)
}
