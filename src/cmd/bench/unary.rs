//! Lookups as calls of LookupRoute.

use std::sync::Arc;

use parking_lot::Mutex;

use super::pace::Slice;
use super::run::Load;
use crate::bench::Tally;
use crate::cmd::client::Client;
use crate::contract::decode_answer;

/// Asks one after the other until the slice is over.
pub(super) async fn ask(slice: Arc<Slice>, load: Arc<Load>, client: Client, tally: Arc<Mutex<Tally>>) {
    let mut contract = client.contract();
    while let Some(ticket) = slice.ticket().await {
        let question = load.workload.question(ticket.number);
        let reply = contract.lookup_route(client.request(load.identity.listed(question))).await;
        let latency = ticket.due.elapsed();
        match reply {
            Ok(reply) => {
                let answer = decode_answer(reply.into_inner());
                load.count(question, &answer, latency, &tally);
                slice.answered();
            }
            Err(status) => slice.failed(status, &tally),
        }
    }
}
