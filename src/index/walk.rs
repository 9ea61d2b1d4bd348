//! The walk along a chain: how far each replica holds it from the start.
//!
//! It begins with the crowd of the first block's segment, band by band, and goes on so as long as segments are held by
//! the same crowd. Where one is held by others, its holders go on as single runs, and all others have ended.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::arena::NONE;
use super::crowd::Crowd;
use super::group::Hold;
use super::names::Place;
use super::read::{Run, Runs, View};
use super::segment::{Segment, span};
use crate::decision::{ChainCounts, Holder, Holders};
use crate::model::{HashList, Tier, Timestamp};

/// A walk under way: either bands are live, or single runs.
struct Walk<'a> {
    holders: Holders,
    counts: ChainCounts<'a>,
    /// Blocks that were summed last, and their tokens.
    summed: (usize, i32),
    bands: Option<LiveBands<'a>>,
    /// By member.
    runs: Runs,
    calm: Option<Calm<'a>>,
}

/// The bands of a crowd that hold the chain so far.
struct LiveBands<'a> {
    /// That of the segment passed last; those before had the same bands of the same holders.
    crowd: &'a Arc<Crowd>,
    bands: SmallVec<[LiveBand; 8]>,
    /// Bands that live.
    count: usize,
    /// Slots that all live bands held in that segment, since times that are fresh; the same bands again change nothing.
    calm: u64,
}

#[derive(Clone, Copy)]
struct LiveBand {
    is_live: bool,
    tier: Tier,
    last_seen_ns: i64,
}

/// The segment passed last, where each live run holds the slots of `mask` at least in one group of one time: where the
/// next one has the same groups, nothing changes.
struct Calm<'a> {
    segment: &'a Segment,
    mask: u64,
}

/// Blocks that lie one behind the other in a segment.
#[derive(Clone, Copy)]
struct Piece {
    segment: u32,
    slot: u32,
    count: u32,
    /// Place of the first in the chain.
    at: usize,
}

impl Walk<'_> {
    fn tokens(&mut self, blocks: usize) -> i32 {
        if self.summed.0 != blocks {
            self.summed = (blocks, self.counts.sum(blocks));
        }
        self.summed.1
    }

    fn has_ended(&self) -> bool {
        self.runs.is_empty() && self.bands.as_ref().is_none_or(|live| live.count == 0)
    }
}

impl<'a> View<'a> {
    /// The longest leading run of each holder of block 0.
    pub(super) fn chain(&self, hashes: HashList<'_>, counts: ChainCounts<'_>) -> Holders {
        let (holders, runs) = (Holders::default(), Runs::new());
        let mut walk = Walk { holders, counts, summed: (0, 0), bands: None, runs, calm: None };
        let (mut at, mut guess, mut code) = (0, NONE, None);
        while at < hashes.len() {
            // What followed in a report is what follows here, but for where chains part.
            let guessed = self.state.run_at(guess, self.partition, hashes, at);
            let found = guessed.or_else(|| {
                let code = code.unwrap_or_else(|| self.state.table.code(self.partition, hashes.get(at)));
                let key = self.state.find_coded(self.partition, hashes.get(at), code)?;
                self.state.run_at(key, self.partition, hashes, at)
            });
            let Some((held, segment, slot, count)) = found else { break };
            if at == 0 {
                self.begin(&mut walk, segment, slot);
            }
            let next = at + count as usize;
            // A run that ends inside its segment ended at a hash that differs: the next slot is none to try.
            guess = if (slot + count) as usize == held.len() { held.next } else { NONE };
            // Where the table is to be asked, its memory comes while the holders are looked at.
            code = (guess == NONE && next < hashes.len())
                .then(|| self.state.table.code(self.partition, hashes.get(next)));
            code.iter().for_each(|code| self.state.table.ask_for(*code));
            self.pass(&mut walk, held, Piece { segment, slot, count, at });
            if walk.has_ended() {
                return walk.holders;
            }
            at = next;
        }
        if let Some(live) = walk.bands.take() {
            self.finish_bands(&mut walk, &live, 0..live.bands.len(), at, &[]);
        }
        for run in std::mem::take(&mut walk.runs) {
            self.finish(&mut walk, &run, at);
        }
        walk.holders
    }

    fn begin(&self, walk: &mut Walk<'a>, segment: u32, slot: u32) {
        let held = &self.state.segments[segment];
        // One that was cleared does not stand for what it held.
        let crowd = if self.is_clearing { None } else { self.state.crowd(held, self.domain, None) };
        match crowd {
            Some(crowd) => {
                let fresh = LiveBand { is_live: true, tier: Tier::T1, last_seen_ns: i64::MAX };
                let (bands, count) = (SmallVec::from_elem(fresh, crowd.bands.len()), crowd.bands.len());
                let all = crowd.seats.len() + crowd.single.len();
                walk.holders = Holders::with_capacity(all, count + 4);
                let holds = |single: &&Place| self.holds(segment, slot, single.member);
                walk.runs.extend(crowd.single.iter().filter(holds).map(|single| Run {
                    member: single.member,
                    place: self.domain.place_of_seat[single.seat as usize],
                    tier: Tier::T1,
                    last_seen_ns: i64::MAX,
                }));
                walk.bands = Some(LiveBands { crowd, bands, count, calm: 0 });
            }
            None => {
                walk.runs = self.starters(segment, slot);
                walk.holders = Holders::with_capacity(walk.runs.len(), walk.runs.len().min(4));
            }
        }
    }

    /// Whether `member` holds `slot` fresh.
    fn holds(&self, segment: u32, slot: u32, member: u32) -> bool {
        let mut groups = self.state.segments[segment].of_owner(member);
        groups.any(|at| self.fresh(segment, at) >> slot & 1 == 1)
    }

    fn pass(&self, walk: &mut Walk<'a>, held: &'a Segment, piece: Piece) {
        let crowd = match &walk.bands {
            Some(live) => self.state.crowd(held, self.domain, Some(live.crowd)),
            None => None,
        };
        let is_calm = walk.bands.as_ref().is_some_and(|live| {
            span(piece.slot, piece.count) & !live.calm == 0
                && crowd.is_some_and(|crowd| Arc::ptr_eq(crowd, live.crowd))
        });
        if !is_calm && let Some(mut live) = walk.bands.take() {
            let goes_on =
                crowd.is_some_and(|crowd| Arc::ptr_eq(crowd, live.crowd) || self.leave(walk, &live, crowd));
            match crowd.filter(|_| goes_on) {
                Some(crowd) => {
                    self.pass_bands(walk, &mut live, crowd, piece);
                    walk.bands = Some(live);
                }
                None => self.single_out(walk, &live, held, piece.at),
            }
        }
        if !walk.runs.is_empty() {
            self.pass_runs(walk, held, piece);
        }
    }

    /// Whether the live bands go on as those of `next`. Holders that are single there leave them and go on as runs.
    fn leave(&self, walk: &mut Walk<'a>, live: &LiveBands<'a>, next: &Crowd) -> bool {
        // A single run that is of a band there would be in both.
        let is_in_band = |run: &Run| next.find(run.member).is_some();
        let Some(leavers) = live.crowd.leavers(next).filter(|_| !walk.runs.iter().any(is_in_band)) else {
            return false;
        };
        for place in leavers {
            self.make_run(walk, live, live.crowd.members[place as usize]);
        }
        walk.runs.sort_unstable_by_key(|run| run.member);
        walk.calm = None;
        true
    }

    /// Makes a single run of a live holder; its place in the crowd's lists, where it is one.
    fn make_run(&self, walk: &mut Walk<'a>, live: &LiveBands<'a>, member: u32) -> Option<u32> {
        let (band, at) = live.crowd.find(member)?;
        let LiveBand { is_live, tier, last_seen_ns } = live.bands[band];
        if !is_live {
            return None;
        }
        let place = self.domain.place_of_seat[live.crowd.seats[at] as usize];
        walk.runs.push(Run { member, place, tier, last_seen_ns });
        Some(at as u32)
    }

    /// Takes the blocks of `piece`, which the bands of `crowd` hold or hold in part.
    fn pass_bands(&self, walk: &mut Walk<'a>, live: &mut LiveBands<'a>, crowd: &'a Arc<Crowd>, piece: Piece) {
        let Piece { slot, count, at, .. } = piece;
        let span = span(slot, count);
        if span & !live.calm == 0 && crowd.bands == live.crowd.bands {
            live.crowd = crowd;
            return;
        }
        live.crowd = crowd;
        live.calm = u64::MAX;
        let mut ended: SmallVec<[(usize, u32); 8]> = SmallVec::new();
        for ((held, band), place) in live.bands.iter_mut().zip(&crowd.bands).zip(0..) {
            if !held.is_live {
                continue;
            }
            let blocks = match self.is_fresh(band.at_ns) {
                true => (band.mask >> slot).trailing_ones().min(count),
                false => 0,
            };
            if blocks > 0 {
                held.last_seen_ns = held.last_seen_ns.min(band.at_ns);
                held.tier = held.tier.max(band.tier);
            }
            if blocks < count {
                ended.push((place, blocks));
            } else {
                live.calm &= band.mask;
            }
        }
        for (band, blocks) in ended {
            self.finish_bands(walk, live, band..band + 1, at + blocks as usize, &[]);
            live.bands[band].is_live = false;
            live.count -= 1;
        }
    }

    /// Makes single runs of the live holders that have a group of `held`, and ends all others before block `at`.
    fn single_out(&self, walk: &mut Walk<'a>, live: &LiveBands<'a>, held: &Segment, at: usize) {
        let mut places: SmallVec<[u32; 8]> = SmallVec::new();
        let mut last = NONE;
        for member in held.held().iter().map(|hold| Hold(*hold).owner()) {
            if std::mem::replace(&mut last, member) != member {
                places.extend(self.make_run(walk, live, member));
            }
        }
        walk.runs.sort_unstable_by_key(|run| run.member);
        walk.calm = None;
        places.sort_unstable();
        self.finish_bands(walk, live, 0..live.bands.len(), at, &places);
    }

    /// The holders of live bands end after `blocks`, but for those at `others` of the crowd's lists, ascending.
    fn finish_bands(
        &self,
        walk: &mut Walk<'a>,
        live: &LiveBands<'a>,
        bands: Range<usize>,
        blocks: usize,
        others: &[u32],
    ) {
        let matched_tokens = walk.tokens(blocks);
        if matched_tokens <= 0 {
            return;
        }
        let (crowd, places) = (live.crowd, &self.domain.place_of_seat);
        let in_place = crowd.places(self.domain);
        let place = |at: usize| places[crowd.seats[at] as usize];
        let mut others = others;
        let mut start = crowd.holders(bands.start).start;
        for (held, band) in live.bands[bands.clone()].iter().zip(&crowd.bands[bands]) {
            let all = std::mem::replace(&mut start, band.until as usize)..band.until as usize;
            let mut between: &[u32] = &[];
            if others.first().is_some_and(|other| *other < band.until) {
                (between, others) = others.split_at(others.partition_point(|other| *other < band.until));
            }
            let LiveBand { is_live, tier, last_seen_ns } = *held;
            if !is_live {
                continue;
            }
            let last_seen = Timestamp::from_ns(last_seen_ns);
            let common = |member| Holder {
                member,
                blocks: blocks as u32,
                matched_tokens,
                last_seen,
                tier,
                stats: None,
            };
            if !self.has_stats && all.len() == 1 {
                if between.is_empty() {
                    walk.holders.push_alone(common(place(all.start)));
                }
                continue;
            }
            let common = common(0);
            let mut from = all.start;
            for until in between.iter().map(|other| *other as usize).chain([all.end]) {
                let is_first = from == all.start;
                if !self.has_stats {
                    match in_place {
                        Some(places) => {
                            walk.holders.extend_group(common, is_first, places[from..until].iter().copied());
                        }
                        None => walk.holders.extend_group(common, is_first, (from..until).map(place)),
                    }
                } else {
                    for at in from..until {
                        let run = Run { member: crowd.members[at], place: place(at), tier, last_seen_ns };
                        walk.holders.push(self.holder(&run, blocks as u32, matched_tokens));
                    }
                }
                from = until + 1;
            }
        }
    }

    /// Takes the blocks of `piece`. The runs and the groups are both sorted by member, so that this is one merge; a member
    /// that drops out is finished and cannot come back.
    fn pass_runs(&self, walk: &mut Walk<'a>, segment_held: &'a Segment, piece: Piece) {
        let Piece { segment, slot, count, at } = piece;
        let held = segment_held.held();
        let span = span(slot, count);
        if let Some(calm) = &walk.calm
            && span & !calm.mask == 0
            && calm.segment.held() == held
        {
            return;
        }
        let mut runs = std::mem::take(&mut walk.runs);
        let (mut next, mut common, mut is_calm) = (0, u64::MAX, true);
        runs.retain(|run| {
            while held.get(next).is_some_and(|hold| Hold(*hold).owner() < run.member) {
                next += 1;
            }
            let mut of_member = held[next.min(held.len())..]
                .iter()
                .map(|hold| Hold(*hold))
                .take_while(|hold| hold.owner() == run.member);
            let holds_all = |hold: &Hold| !hold.is_varied() && span & !hold.mask() == 0;
            // Mostly one group has it all.
            if let Some(hold) = of_member.find(holds_all)
                && self.is_fresh(hold.at_ns())
            {
                run.last_seen_ns = run.last_seen_ns.min(hold.at_ns());
                run.tier = run.tier.max(hold.tier());
                common &= hold.mask();
                return true;
            }
            is_calm = false;
            if held.get(next).is_none_or(|hold| Hold(*hold).owner() != run.member) {
                self.finish(walk, run, at);
                return false;
            }
            let blocks = self.pass_slowly(run, segment, next, slot, count);
            if blocks < count {
                self.finish(walk, run, at + blocks as usize);
            }
            blocks == count
        });
        walk.runs = runs;
        walk.calm = is_calm.then_some(Calm { segment: segment_held, mask: common });
    }

    /// How many of `count` slots the member of `run` holds from `slot` on; its groups begin at `from`.
    fn pass_slowly(&self, run: &mut Run, segment: u32, from: usize, slot: u32, count: u32) -> u32 {
        let held = &self.state.segments[segment];
        let of_member = held.held()[from..].iter().take_while(|hold| Hold(**hold).owner() == run.member);
        let of_member = from..from + of_member.count();
        let fresh = of_member.clone().fold(0, |mask, at| mask | self.fresh(segment, at));
        let blocks = (fresh >> slot).trailing_ones().min(count);
        if blocks == 0 {
            return 0;
        }
        for at in of_member {
            let hold = held.hold(at);
            let part = hold.mask() & span(slot, blocks);
            if part == 0 {
                continue;
            }
            // Times never fall from slot to slot.
            let oldest = self.state.groups[held.ids[at]].at_ns(hold, part.trailing_zeros());
            run.last_seen_ns = run.last_seen_ns.min(oldest);
            run.tier = run.tier.max(hold.tier());
        }
        blocks
    }

    fn finish(&self, walk: &mut Walk<'_>, run: &Run, blocks: usize) {
        let tokens = walk.tokens(blocks);
        if tokens > 0 {
            walk.holders.push(self.holder(run, blocks as u32, tokens));
        }
    }
}
