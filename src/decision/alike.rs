//! Lists of replicas of which mostly the same is known: what they share is kept once, so that most work of a decision is
//! done once for all of them.

/// Something known of a replica, which may be known of others too.
pub trait OfMember: Copy + PartialEq {
    /// Position of the replica in the roster.
    fn member(&self) -> u32;

    /// The same of the replica at `member`.
    fn of(self, member: u32) -> Self;

    /// Whether `other` differs by its replica at most.
    fn is_alike(&self, other: &Self) -> bool {
        *self == other.of(self.member())
    }
}

/// A list in which neighbours that differ by their replica only stand together.
#[derive(Clone, PartialEq)]
pub struct Alike<T> {
    groups: Vec<Group<T>>,
    /// Positions in the roster, group by group; ascending in each.
    members: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq)]
struct Group<T> {
    /// What holds for each; the member is that of the first.
    common: T,
    /// Where its members end in the list of all.
    until: u32,
}

impl<T> Default for Alike<T> {
    fn default() -> Self {
        Self { groups: Vec::new(), members: Vec::new() }
    }
}

impl<T: OfMember> Alike<T> {
    /// An empty list with room for so many replicas, in so many groups.
    pub fn with_capacity(replicas: usize, groups: usize) -> Self {
        Self { groups: Vec::with_capacity(groups), members: Vec::with_capacity(replicas) }
    }

    /// A list in which each of `members` is a group by itself; `known` is what is known of it, or of one that is like it.
    pub(super) fn each_alone<'a>(members: Vec<u32>, known: impl Fn(u32) -> &'a T) -> Self
    where
        T: 'a,
    {
        let group = |(member, until): (&u32, u32)| Group { common: *known(*member), until };
        let mut groups: Vec<Group<T>> = members.iter().zip(1..).map(group).collect();
        // Only now, so that what is copied above is copied as it stands; mostly there is nothing to do.
        for (group, member) in groups.iter_mut().zip(&members) {
            if group.common.member() != *member {
                group.common = group.common.of(*member);
            }
        }
        Self { groups, members }
    }

    /// A list in which each of `items` is a group by itself.
    pub(super) fn of_alone(items: impl ExactSizeIterator<Item = T>) -> Self {
        let mut groups = Vec::with_capacity(items.len());
        groups.extend(items.zip(1..).map(|(common, until)| Group { common, until }));
        let members = groups.iter().map(|group: &Group<T>| group.common.member()).collect();
        Self { groups, members }
    }

    /// Number of replicas.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.groups().flat_map(|(common, members)| members.iter().map(move |member| common.of(*member)))
    }

    /// The first one.
    pub fn first(&self) -> Option<T> {
        self.groups.first().map(|group| group.common)
    }

    /// Adds one at the end.
    #[inline]
    pub fn push(&mut self, item: T) {
        let start = self.members.len();
        self.members.push(item.member());
        self.close(start, item);
    }

    /// Adds some at the end that differ by their replica only: `members`, ascending. The one in `common` means nothing.
    pub fn extend_alike(&mut self, common: T, members: impl IntoIterator<Item = u32>) {
        let start = self.members.len();
        self.members.extend(members);
        if let Some(first) = self.members.get(start) {
            self.close(start, common.of(*first));
        }
    }

    /// The same; as a group by themselves whatever stands before them, where they are the `first` ones.
    pub fn extend_group(&mut self, common: T, first: bool, members: impl IntoIterator<Item = u32>) {
        if first { self.push_group(common, members) } else { self.extend_alike(common, members) }
    }

    /// The same, as a group by themselves whatever stands before them.
    pub fn push_group(&mut self, common: T, members: impl IntoIterator<Item = u32>) {
        let start = self.members.len();
        self.members.extend(members);
        if let Some(first) = self.members.get(start) {
            let until = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
            self.groups.push(Group { common: common.of(*first), until });
        }
    }

    /// The same for one replica, that of `item`.
    #[inline]
    pub fn push_alone(&mut self, item: T) {
        self.members.push(item.member());
        let until = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        self.groups.push(Group { common: item, until });
    }

    /// Makes a group of the members from `start` on, or adds them to the last one; `common` is that of the first.
    #[inline]
    fn close(&mut self, start: usize, common: T) {
        let first = common.member();
        let until = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        if let Some(last) = self.groups.last_mut()
            && self.members[start - 1] < first
            && last.common.is_alike(&common)
        {
            last.until = until;
            return;
        }
        self.groups.push(Group { common, until });
    }

    /// What replicas share, and the replicas that share it.
    pub fn groups(&self) -> impl Iterator<Item = (T, &[u32])> {
        let mut from = 0;
        self.groups.iter().map(move |group| {
            let until = group.until as usize;
            let members = &self.members[from..until];
            from = until;
            (group.common, members)
        })
    }

    /// Number of groups.
    pub(super) fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// The replicas of each group.
    pub(super) fn all_members(&self) -> impl Iterator<Item = &[u32]> {
        let mut from = 0;
        self.groups.iter().map(move |group| {
            let until = group.until as usize;
            &self.members[std::mem::replace(&mut from, until)..until]
        })
    }

    /// The replicas of group `at`.
    pub(super) fn members_of(&self, at: usize) -> &[u32] {
        let from = at.checked_sub(1).map_or(0, |before| self.groups[before].until as usize);
        &self.members[from..self.groups[at].until as usize]
    }

    /// What replicas share, group by group; the member is that of the group's first.
    pub(super) fn commons(&self) -> impl Iterator<Item = &T> {
        self.groups.iter().map(|group| &group.common)
    }

    /// What replicas share, to be changed for all of them; the member has to stay.
    pub(super) fn commons_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.groups.iter_mut().map(|group| &mut group.common)
    }
}

impl<T: OfMember> Extend<T> for Alike<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

impl<T: OfMember> FromIterator<T> for Alike<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut all = Self::default();
        all.extend(items);
        all
    }
}

impl<T: OfMember> From<Vec<T>> for Alike<T> {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T: OfMember + std::fmt::Debug> std::fmt::Debug for Alike<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Held(u32, &'static str);

    impl OfMember for Held {
        fn member(&self) -> u32 {
            self.0
        }

        fn of(self, member: u32) -> Self {
            Self(member, self.1)
        }
    }

    #[test]
    fn a_list_reads_as_it_was_written() {
        let items = [Held(1, "a"), Held(2, "a"), Held(2, "b"), Held(1, "b"), Held(3, "b"), Held(0, "a")];
        let mut all: Alike<Held> = items.into_iter().collect();
        assert_eq!(all.iter().collect::<Vec<_>>(), items);
        // Only neighbours stand together, and only in the order of the roster.
        let groups =
            |all: &Alike<Held>| all.groups().map(|(_, members)| members.to_vec()).collect::<Vec<_>>();
        assert_eq!(groups(&all), [vec![1, 2], vec![2], vec![1, 3], vec![0]]);
        all.extend_alike(Held(9, "a"), [4, 7]);
        all.extend_alike(Held(9, "c"), []);
        assert_eq!((all.len(), all.first()), (8, Some(Held(1, "a"))));
        assert_eq!(groups(&all).last(), Some(&vec![0, 4, 7]));
        assert_eq!(all.iter().last(), Some(Held(7, "a")));
        all.push_alone(Held(8, "a"));
        assert_eq!(groups(&all).last(), Some(&vec![8]));
        let alone = Alike::each_alone(vec![1, 2], |_| &Held(1, "a"));
        assert_eq!(alone.iter().collect::<Vec<_>>(), [Held(1, "a"), Held(2, "a")]);
        assert_eq!(groups(&alone), [[1], [2]]);
        assert!(Alike::<Held>::default().is_empty() && Alike::<Held>::with_capacity(3, 1).first().is_none());
    }
}
