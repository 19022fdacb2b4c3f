//! Problems in which children are fed.

use derrl_env::Rng;

use super::{Numbers, Text, numbered, some};

pub(super) fn usual(children: usize, rng: &mut Rng) -> Numbers {
    let allergic = rng.below(children + 1);
    let trays = 1 + rng.below(1 + children.div_ceil(15));
    let tables = 1 + rng.below(3);
    let sandwiches = children + rng.below(1 + children / 2);
    [children, allergic, trays, tables, sandwiches]
}

/// Every child gets a sandwich, and there is no more bread than that: what is free of gluten suffices for those who need it.
pub(super) fn childsnack(numbers: Numbers, rng: &mut Rng) -> Text {
    let [children, allergic, trays, tables, sandwiches] = numbers;
    let (children, trays, tables) = (children.max(1), trays.max(1), tables.max(1));
    let (allergic, sandwiches) = (allergic.min(children), sandwiches.max(children));
    let mut init: Vec<String> = (1..=trays).map(|t| format!("at tray{t} kitchen")).collect();
    for portion in ["bread", "content"] {
        let free = some(allergic, children, rng);
        for p in 0..children {
            init.push(format!("at_kitchen_{portion} {portion}{}", p + 1));
            if free.contains(&p) {
                init.push(format!("no_gluten_{portion} {portion}{}", p + 1));
            }
        }
    }
    let needy = some(allergic, children, rng);
    for c in 0..children {
        let allergy = if needy.contains(&c) { "allergic_gluten" } else { "not_allergic_gluten" };
        init.push(format!("{allergy} child{}", c + 1));
        init.push(format!("waiting child{} table{}", c + 1, 1 + rng.below(tables)));
    }
    init.extend((1..=sandwiches).map(|s| format!("notexist sandwich{s}")));
    let objects = vec![
        ("child", numbered("child", children)),
        ("bread-portion", numbered("bread", children)),
        ("content-portion", numbered("content", children)),
        ("sandwich", numbered("sandwich", sandwiches)),
        ("tray", numbered("tray", trays)),
        ("place", numbered("table", tables)),
    ];
    Text { objects, init, goal: (1..=children).map(|c| format!("served child{c}")).collect() }
}
