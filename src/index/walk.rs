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

/// A walk under way: bands are live, or single runs, or some of both.
struct Walk<'a> {
    ends: Ends<'a>,
    bands: Option<LiveBands<'a>>,
    /// By member.
    runs: Runs,
    calm: Option<Calm<'a>>,
}

/// The holders whose run has ended, and what turns blocks into tokens.
struct Ends<'a> {
    holders: Holders,
    counts: ChainCounts<'a>,
    /// Blocks that were summed last, and their tokens.
    summed: (usize, i32),
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

impl Ends<'_> {
    fn tokens(&mut self, blocks: usize) -> i32 {
        if self.summed.0 != blocks {
            self.summed = (blocks, self.counts.sum(blocks));
        }
        self.summed.1
    }
}

impl Walk<'_> {
    fn has_ended(&self) -> bool {
        self.runs.is_empty() && self.bands.as_ref().is_none_or(|live| live.count == 0)
    }
}

impl<'a> View<'a> {
    /// The longest leading run of each holder of block 0.
    pub(super) fn chain(&self, hashes: HashList<'_>, counts: ChainCounts<'_>) -> Holders {
        let ends = Ends { holders: Holders::default(), counts, summed: (0, 0) };
        let mut walk = Walk { ends, bands: None, runs: Runs::new(), calm: None };
        let (mut at, mut guess) = (0, NONE);
        while at < hashes.len() {
            // What followed in a report is what follows here, but for where chains part.
            let guessed = self.state.run_at(guess, self.partition, hashes, at);
            let found = guessed.or_else(|| {
                let key = self.state.find_key(self.partition, hashes.get(at))?;
                self.state.run_at(key, self.partition, hashes, at)
            });
            let Some((held, segment, slot, count)) = found else { break };
            if at == 0 {
                self.begin(&mut walk, segment, slot);
            }
            // A run that ends inside its segment ended at a hash that differs: the next slot is none to try.
            guess = if (slot + count) as usize == held.len() { held.next } else { NONE };
            self.pass(&mut walk, held, Piece { segment, slot, count, at });
            if walk.has_ended() {
                return walk.ends.holders;
            }
            at += count as usize;
        }
        let Walk { mut ends, bands, runs, .. } = walk;
        if let Some(live) = &bands {
            self.finish_bands(&mut ends, live, 0..live.bands.len(), at, &[]);
        }
        for run in &runs {
            self.finish(&mut ends, run, at);
        }
        ends.holders
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
                walk.ends.holders = Holders::with_capacity(all, count + 4);
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
                walk.ends.holders = Holders::with_capacity(walk.runs.len(), walk.runs.len().min(4));
            }
        }
    }

    /// Whether `member` holds `slot` fresh.
    fn holds(&self, segment: u32, slot: u32, member: u32) -> bool {
        let mut groups = self.state.segments[segment].of_owner(member);
        groups.any(|at| self.fresh(segment, at) >> slot & 1 == 1)
    }

    fn pass(&self, walk: &mut Walk<'a>, held: &'a Segment, piece: Piece) {
        let mut go_on = true;
        if let Some(live) = &mut walk.bands {
            let crowd = self.state.crowd(held, self.domain, Some(live.crowd));
            let is_same = crowd.is_some_and(|crowd| Arc::ptr_eq(crowd, live.crowd));
            match crowd.filter(|crowd| is_same || self.leave(&mut walk.runs, &mut walk.calm, live, crowd)) {
                Some(_) if is_same && span(piece.slot, piece.count) & !live.calm == 0 => {}
                Some(crowd) => self.pass_bands(&mut walk.ends, live, crowd, piece),
                None => {
                    walk.calm = None;
                    self.single_out(&mut walk.ends, &mut walk.runs, live, held, piece.at);
                    go_on = false;
                }
            }
        }
        if !go_on {
            walk.bands = None;
        }
        if !walk.runs.is_empty() {
            self.pass_runs(walk, held, piece);
        }
    }

    /// Whether the live bands go on as those of `next`. Holders that are single there leave them and go on as runs.
    fn leave(
        &self,
        runs: &mut Runs,
        calm: &mut Option<Calm<'a>>,
        live: &LiveBands<'a>,
        next: &Crowd,
    ) -> bool {
        // A single run that is of a band there would be in both.
        let is_in_band = |run: &Run| next.find(run.member).is_some();
        let Some(leavers) = live.crowd.leavers(next).filter(|_| !runs.iter().any(is_in_band)) else {
            return false;
        };
        if leavers.is_empty() {
            return true;
        }
        for place in leavers {
            self.make_run(runs, live, live.crowd.members[place as usize]);
        }
        runs.sort_unstable_by_key(|run| run.member);
        *calm = None;
        true
    }

    /// Makes a single run of a live holder; its place in the crowd's lists, where it is one.
    fn make_run(&self, runs: &mut Runs, live: &LiveBands<'a>, member: u32) -> Option<u32> {
        let (band, at) = live.crowd.find(member)?;
        let LiveBand { is_live, tier, last_seen_ns } = live.bands[band];
        if !is_live {
            return None;
        }
        let place = self.domain.place_of_seat[live.crowd.seats[at] as usize];
        runs.push(Run { member, place, tier, last_seen_ns });
        Some(at as u32)
    }

    /// Takes the blocks of `piece`, which the bands of `crowd` hold or hold in part.
    fn pass_bands(&self, ends: &mut Ends<'_>, live: &mut LiveBands<'a>, crowd: &'a Arc<Crowd>, piece: Piece) {
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
            self.finish_bands(ends, live, band..band + 1, at + blocks as usize, &[]);
            live.bands[band].is_live = false;
            live.count -= 1;
        }
    }

    /// Makes single runs of the live holders that have a group of `held`, and ends all others before block `at`.
    fn single_out(
        &self,
        ends: &mut Ends<'_>,
        runs: &mut Runs,
        live: &LiveBands<'a>,
        held: &Segment,
        at: usize,
    ) {
        let mut places: SmallVec<[u32; 8]> = SmallVec::new();
        let mut last = NONE;
        for member in held.held().iter().map(|hold| Hold(*hold).owner()) {
            if std::mem::replace(&mut last, member) != member {
                places.extend(self.make_run(runs, live, member));
            }
        }
        runs.sort_unstable_by_key(|run| run.member);
        places.sort_unstable();
        self.finish_bands(ends, live, 0..live.bands.len(), at, &places);
    }

    /// The holders of live bands end after `blocks`, but for those at `others` of the crowd's lists, ascending.
    fn finish_bands(
        &self,
        ends: &mut Ends<'_>,
        live: &LiveBands<'a>,
        bands: Range<usize>,
        blocks: usize,
        others: &[u32],
    ) {
        let matched_tokens = ends.tokens(blocks);
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
                    ends.holders.push_alone(common(place(all.start)));
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
                            ends.holders.extend_group(common, is_first, places[from..until].iter().copied());
                        }
                        None => ends.holders.extend_group(common, is_first, (from..until).map(place)),
                    }
                } else {
                    for at in from..until {
                        let run = Run { member: crowd.members[at], place: place(at), tier, last_seen_ns };
                        ends.holders.push(self.holder(&run, blocks as u32, matched_tokens));
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
        let Walk { ends, runs, calm, .. } = walk;
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
                self.finish(ends, run, at);
                return false;
            }
            let blocks = self.pass_slowly(run, segment, next, slot, count);
            if blocks < count {
                self.finish(ends, run, at + blocks as usize);
            }
            blocks == count
        });
        *calm = is_calm.then_some(Calm { segment: segment_held, mask: common });
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

    fn finish(&self, ends: &mut Ends<'_>, run: &Run, blocks: usize) {
        let tokens = ends.tokens(blocks);
        if tokens > 0 {
            ends.holders.push(self.holder(run, blocks as u32, tokens));
        }
    }
}
