//! A wire that can be cut: forwards TCP to an address that can change.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

#[derive(Clone, Copy, PartialEq)]
struct Plan {
    /// `None` while the wire is cut.
    target: Option<SocketAddr>,
    generation: u64,
}

pub struct Proxy {
    pub addr: SocketAddr,
    plan: watch::Sender<Plan>,
    /// Bytes that may still pass to the client before the wire is cut once.
    budget: Arc<AtomicU64>,
    accepted: Arc<AtomicU64>,
}

impl Proxy {
    pub async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let addr = listener.local_addr().expect("bound");
        let target = Some(SocketAddr::from(([127, 0, 0, 1], port)));
        let (plan, seen) = watch::channel(Plan { target, generation: 0 });
        let budget = Arc::new(AtomicU64::new(u64::MAX));
        let accepted = Arc::new(AtomicU64::new(0));
        let (left, count) = (Arc::clone(&budget), Arc::clone(&accepted));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(forward(client, seen.clone(), Arc::clone(&left)));
            }
        });
        Self { addr, plan, budget, accepted }
    }

    /// Connections that were made.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Ends what is connected; new connections end at once until [`Proxy::mend`].
    pub fn cut(&self) {
        self.plan.send_modify(|plan| *plan = Plan { target: None, generation: plan.generation + 1 });
    }

    pub fn mend(&self, port: u16) {
        let target = Some(SocketAddr::from(([127, 0, 0, 1], port)));
        self.plan.send_modify(|plan| *plan = Plan { target, generation: plan.generation + 1 });
    }

    /// Ends the connection once so many more bytes have passed to the client.
    pub fn cut_after(&self, bytes: u64) {
        self.budget.store(bytes, Ordering::SeqCst);
    }
}

async fn forward(client: TcpStream, mut plan: watch::Receiver<Plan>, budget: Arc<AtomicU64>) {
    let Some(target) = plan.borrow_and_update().target else { return };
    let Ok(server) = TcpStream::connect(target).await else { return };
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let down = async {
        let mut buffer = [0; 16 << 10];
        while let Ok(read @ 1..) = from_server.read(&mut buffer).await {
            let left = budget.load(Ordering::SeqCst);
            let passes = usize::try_from(left).unwrap_or(usize::MAX).min(read);
            if to_client.write_all(&buffer[..passes]).await.is_err() {
                return;
            }
            if passes < read {
                budget.store(u64::MAX, Ordering::SeqCst);
                return;
            }
            if left != u64::MAX {
                budget.store(left - passes as u64, Ordering::SeqCst);
            }
        }
    };
    tokio::select! {
        () = down => {}
        _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
        _ = plan.changed() => {}
    }
}
