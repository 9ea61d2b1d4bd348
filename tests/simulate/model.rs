//! The modelled cache against a plain list.

use icache::simulate::BlockCache;
use proptest::prelude::*;

/// Blocks by last use, the least recent first.
#[derive(Default)]
struct Naive {
    list: Vec<u32>,
}

impl Naive {
    /// Leading blocks found, and blocks that had to go.
    fn admit(&mut self, prompt: &[u32], capacity: usize) -> (usize, Vec<u32>) {
        let found = prompt.iter().take_while(|block| self.list.contains(block)).count();
        let kept = &prompt[..prompt.len().min(capacity)];
        self.list.retain(|block| !kept.contains(block));
        self.list.extend(kept.iter().rev());
        let over = self.list.len().saturating_sub(capacity);
        (found, self.list.drain(..over).collect())
    }
}

/// Prompts as paths of a small tree: a block is known by all that comes before it.
fn prompts() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let path = proptest::collection::vec(0_u32..3, 0..7);
    let block = |path: &[u32]| path.iter().fold(0, |block, step| block * 4 + step + 1);
    let prompt = path.prop_map(move |path| (1..=path.len()).map(|len| block(&path[..len])).collect());
    proptest::collection::vec(prompt, 1..60)
}

proptest! {
    #[test]
    fn the_cache_is_a_list_by_last_use(prompts in prompts(), capacity in 1_usize..12) {
        let (mut cache, mut naive) = (BlockCache::new(capacity), Naive::default());
        prop_assert!(cache.is_empty());
        for prompt in prompts {
            let leading = cache.leading(&prompt);
            let admitted = cache.admit(&prompt);
            let (found, evicted) = naive.admit(&prompt, capacity);
            prop_assert_eq!((admitted.found, admitted.evicted), (found, evicted));
            prop_assert_eq!((leading, admitted.kept), (found, prompt.len().min(capacity)));
            prop_assert_eq!(cache.held().collect::<Vec<_>>(), naive.list.clone());
            prop_assert_eq!(cache.len(), naive.list.len());
            // What is held of a prompt is a leading part of it.
            let held = prompt.iter().filter(|block| naive.list.contains(block)).count();
            prop_assert_eq!(cache.leading(&prompt), held);
        }
    }
}
