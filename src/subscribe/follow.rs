//! From what publishers send to what changes in the index, replica by replica.

use std::collections::{BTreeMap, BTreeSet};

use super::connection::Received;
use crate::engine::{
    Change, DecodeError, DropCounts, EngineDrop, Identity, Mapper, MapperOptions, Notice, decode_batch,
};
use crate::model::{ReplicaId, Timestamp};

/// Replicas of one sidecar; batches of further ranks are dropped.
pub const MAX_REPLICAS: usize = 1_024;

/// Whom a sidecar speaks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fleet {
    /// Identity of the engine; with ranks, its replica id is what `-dp<rank>` is put behind.
    pub engine: Identity,
    /// Publishers, each a data-parallel rank; 1 where there are no ranks.
    pub publishers: usize,
    /// Whether publishers are ranks.
    pub is_ranked: bool,
}

/// One replica: an engine, or one rank of it.
#[derive(Debug)]
pub struct Replica {
    /// On whose behalf its changes are reported.
    pub identity: Identity,
    /// The publisher whose own rank this is.
    pub publisher: Option<usize>,
    /// What it holds.
    pub mapper: Mapper,
}

/// What one thing received comes to.
#[derive(Debug, Default)]
pub struct Followed {
    /// Changes, with the position of their replica, in order.
    pub changes: Vec<(usize, Vec<Change>)>,
    /// What an operator should hear of, with the position of the replica.
    pub notices: Vec<(usize, Notice)>,
    /// Why a batch could not be read.
    pub unreadable: Option<DecodeError>,
}

/// Follows some publishers.
#[derive(Debug)]
pub struct Follower {
    fleet: Fleet,
    options: MapperOptions,
    replicas: Vec<Replica>,
    by_id: BTreeMap<ReplicaId, usize>,
    /// For each publisher the replicas that it fed since it began.
    fed: Vec<BTreeSet<usize>>,
    drops: DropCounts,
    restarts: u64,
    repetitions: u64,
    replays: u64,
    batches: u64,
}

/// Counters of a [`Follower`] since it began.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FollowCounts {
    /// What was passed over, by cause, over all replicas.
    pub drops: DropCounts,
    /// Batches that were read.
    pub batches: u64,
    /// Publishers that began anew.
    pub restarts: u64,
    /// Batches that came again.
    pub repetitions: u64,
    /// Replays that were asked for.
    pub replays: u64,
}

impl Follower {
    /// Of every publisher one replica is known from the start.
    pub fn new(fleet: Fleet, options: MapperOptions) -> Self {
        let mut follower = Self {
            fed: vec![BTreeSet::new(); fleet.publishers],
            options,
            replicas: Vec::new(),
            by_id: BTreeMap::new(),
            drops: DropCounts::default(),
            restarts: 0,
            repetitions: 0,
            replays: 0,
            batches: 0,
            fleet,
        };
        for publisher in 0..follower.fleet.publishers {
            let id = follower.own_id(publisher);
            follower.add(id, Some(publisher));
        }
        follower
    }

    /// The replicas; their positions stay.
    pub fn replicas(&self) -> &[Replica] {
        &self.replicas
    }

    /// What something received from `publisher` comes to.
    pub fn follow(&mut self, publisher: usize, received: &Received, now: Timestamp) -> Followed {
        let mut followed = Followed::default();
        match received {
            Received::Batch { payload, .. } => self.read(publisher, payload, now, &mut followed),
            Received::Restarted => {
                self.restarts += 1;
                for replica in std::mem::take(&mut self.fed[publisher]) {
                    let cleared = self.replicas[replica].mapper.clear();
                    followed.changes.push((replica, vec![cleared]));
                }
            }
            Received::Lost(batches) => self.drops.add(EngineDrop::Lost, *batches),
            Received::BadFrame => self.drops.add(EngineDrop::BadFrame, 1),
            Received::Again => self.repetitions += 1,
            Received::ReplayAsked => self.replays += 1,
            Received::Connected(_) => {}
        }
        followed
    }

    /// Drops what has waited for its parent too long; a batch does so for its own replica.
    pub fn expire(&mut self, now: Timestamp) {
        self.replicas.iter_mut().for_each(|replica| replica.mapper.expire(now));
    }

    /// Counters since the start.
    pub fn counts(&self) -> FollowCounts {
        let mut drops = self.drops.clone();
        for replica in &self.replicas {
            for (cause, count) in replica.mapper.counts().drops.iter() {
                drops.add(cause, count);
            }
        }
        let Self { batches, restarts, repetitions, replays, .. } = *self;
        FollowCounts { drops, batches, restarts, repetitions, replays }
    }

    fn read(&mut self, publisher: usize, payload: &[u8], now: Timestamp, followed: &mut Followed) {
        let batch = match decode_batch(payload) {
            Ok(batch) => batch,
            Err(error) => {
                self.drops.add(EngineDrop::BadBatch, 1);
                followed.unreadable = Some(error);
                return;
            }
        };
        let Some(at) = self.replica_of(publisher, batch.rank) else {
            self.drops.add(EngineDrop::TooManyRanks, 1);
            return;
        };
        self.batches += 1;
        self.fed[publisher].insert(at);
        let applied = self.replicas[at].mapper.apply(&batch, now);
        followed.changes.push((at, applied.changes));
        followed.notices = applied.notices.into_iter().map(|notice| (at, notice)).collect();
    }

    /// A batch goes under the rank that it names. Without ranks, 0 is the engine itself: engines of one rank say it too.
    fn replica_of(&mut self, publisher: usize, rank: Option<u32>) -> Option<usize> {
        let id = match rank {
            None => self.own_id(publisher),
            Some(0) if !self.fleet.is_ranked => self.own_id(publisher),
            Some(rank) => self.rank_id(rank),
        };
        match self.by_id.get(&id) {
            Some(at) => Some(*at),
            None if self.replicas.len() >= MAX_REPLICAS => None,
            None => Some(self.add(id, None)),
        }
    }

    fn own_id(&self, publisher: usize) -> ReplicaId {
        match (self.fleet.is_ranked, u32::try_from(publisher)) {
            (true, Ok(rank)) => self.rank_id(rank),
            _ => self.fleet.engine.replica.clone(),
        }
    }

    fn rank_id(&self, rank: u32) -> ReplicaId {
        ReplicaId::from(format!("{}-dp{rank}", self.fleet.engine.replica).as_str())
    }

    fn add(&mut self, id: ReplicaId, publisher: Option<usize>) -> usize {
        let at = self.replicas.len();
        self.by_id.insert(id.clone(), at);
        let identity = Identity { replica: id, ..self.fleet.engine.clone() };
        self.replicas.push(Replica { identity, publisher, mapper: Mapper::new(self.options.clone()) });
        at
    }
}
