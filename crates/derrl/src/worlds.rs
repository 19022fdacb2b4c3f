//! Every world that this process knows by name: the built-in ones, and those that a program brings.

use std::sync::OnceLock;

use derrl_env::World;

static WORLDS: OnceLock<Vec<World>> = OnceLock::new();

/// Makes worlds known by their names, beside the built-in ones. A world takes the place of a built-in one of the same name. The
/// worlds of the first call in a process stay.
pub fn bring(worlds: impl IntoIterator<Item = World>) {
    WORLDS.get_or_init(|| {
        let mut all: Vec<World> = worlds.into_iter().collect();
        let built_in = derrl_env::worlds().iter().filter(|b| all.iter().all(|w| w.name() != b.name()));
        let built_in: Vec<World> = built_in.cloned().collect();
        all.extend(built_in);
        all
    });
}

/// Every world that is known.
pub fn worlds() -> &'static [World] {
    WORLDS.get().map_or_else(derrl_env::worlds, Vec::as_slice)
}
