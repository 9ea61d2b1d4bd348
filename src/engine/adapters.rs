//! Numbers for the adapters that some block uses, so that a block needs 4 bytes for its partition.

use std::collections::HashMap;

use crate::model::AdapterId;

/// As many as there are blocks at most: an adapter leaves with its last block.
#[derive(Debug, Default)]
pub(super) struct Adapters {
    slots: Vec<Slot>,
    numbers: HashMap<AdapterId, u32>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    name: AdapterId,
    users: usize,
}

impl Adapters {
    /// The number of `name`, with one more user.
    pub(super) fn hold(&mut self, name: &AdapterId) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            self.slots[*number as usize].users += 1;
            return *number;
        }
        let slot = Slot { name: name.clone(), users: 1 };
        let number = match self.free.pop() {
            Some(number) => {
                self.slots[number as usize] = slot;
                number
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        };
        self.numbers.insert(name.clone(), number);
        number
    }

    /// One user less.
    pub(super) fn release(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        slot.users -= 1;
        if slot.users == 0 {
            self.numbers.remove(&slot.name);
            self.free.push(number);
        }
    }

    /// The name of a number in use.
    pub(super) fn name(&self, number: u32) -> &AdapterId {
        &self.slots[number as usize].name
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again() {
        let mut adapters = Adapters::default();
        let [a, b] = ["a", "b"].map(AdapterId::from);
        assert_eq!([adapters.hold(&a), adapters.hold(&b), adapters.hold(&a)], [0, 1, 0]);
        adapters.release(0);
        assert_eq!(adapters.name(0), &a);
        adapters.release(0);
        assert_eq!(adapters.hold(&AdapterId::from("c")), 0);
        assert_eq!(adapters.hold(&a), 2);
    }
}
