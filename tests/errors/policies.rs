//! Files of policies: lint, show, diff, simulate, rules.

use super::look;
use super::world::World;

fn world() -> World {
    let world = World::new();
    world.file("folder/notes.txt", "").file("plain.txt", "hello\n").file("latin.yaml", b"# \xe9\n");
    let policy = |spec: &str| {
        format!(
            "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nmetadata: {{name: a, namespace: t}}\nspec: {spec}\n"
        )
    };
    world.file("good.yaml", policy("{}"));
    world.file("unknown.yaml", policy("{minimumMatchTokens: 1}"));
    world.file("value.yaml", policy("{minimumMatchedTokens: many}"));
    world.file("cut.yaml", "a: [1,\n");
    world.file(
        "kind.yaml",
        "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolice\nmetadata: {name: a}\n",
    );
    world.file("nameless.yaml", "apiVersion: inferencecache.io/v1alpha1\nkind: CachePolicy\nspec: {}\n");
    world.file("header.jsonl", "{\"icache\":\"capture\",\"version\":1}\n");
    world
}

#[test]
fn policy() {
    let lines = [
        "policy lint",
        "policy lint none.yaml",
        "policy lint folder",
        "policy lint good.yaml --format xml",
        "policy lint good.yaml --deny errors",
        "policy lint good.yaml --allow nothing",
        "policy lint good.yaml --allow unknown-field",
        "policy lint good.yaml --allow unknown-feld",
        "policy lint good.yaml --block-size 0",
        "policy lint good.yaml --sweep-interval 0s",
        "policy lint good.yaml > /dev/full",
        "policy rules nothing",
        "policy rules unknown-feld",
        "policy show",
        "policy show none.yaml",
        "policy show latin.yaml",
        "policy show cut.yaml",
        "policy show unknown.yaml",
        "policy show value.yaml",
        "policy show nameless.yaml",
        "policy show good.yaml --namespace ''",
        "policy show good.yaml --default-ttl 0s",
        "policy show good.yaml --admin-url http://127.0.0.1:1",
        "policy show --admin-url 127.0.0.1:1",
        "policy show --admin-url http://127.0.0.1:1",
        "policy diff good.yaml",
        "policy diff - - < good.yaml",
        "policy diff good.yaml none.yaml",
        "policy diff good.yaml unknown.yaml",
        "policy diff good.yaml http://127.0.0.1:1",
        "policy simulate header.jsonl",
        "policy simulate --policy good.yaml",
        "policy simulate --policy none.yaml header.jsonl",
        "policy simulate --policy unknown.yaml header.jsonl",
        "policy simulate --policy good.yaml none.jsonl",
        "policy simulate --policy good.yaml plain.txt",
        "policy simulate $NINE header.jsonl",
        "policy schema --kind Pod",
        "policy crd Pod",
    ];
    let mut world = world();
    world.name("NINE", "--policy good.yaml ".repeat(9).trim());
    look("policy", &world, &lines);
}
