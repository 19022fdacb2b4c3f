//! The table of built-in worlds.

use std::sync::OnceLock;

use crate::error::{Error, nearest};
use crate::world::World;
use crate::{blocks, cartpole, countdown, doorkey, gridworld, pacman, rearrange};

/// Makes each built-in world. Adding one is a file and a row.
const WORLDS: &[fn() -> World] = &[
    countdown::world,
    blocks::world,
    gridworld::world,
    doorkey::world,
    rearrange::world,
    cartpole::world,
    pacman::world,
    #[cfg(feature = "sumo")]
    crate::traffic::world,
    #[cfg(feature = "sumo")]
    crate::signals::world,
];

/// Every built-in world.
pub fn worlds() -> &'static [World] {
    static MADE: OnceLock<Vec<World>> = OnceLock::new();
    MADE.get_or_init(|| WORLDS.iter().map(|world| world()).collect())
}

/// The built-in world of that name, or an error that suggests the nearest one.
pub fn find(name: &str) -> Result<&'static World, Error> {
    find_in(worlds(), name)
}

/// The world of that name among these, or an error that suggests the nearest one.
pub fn find_in<'a>(worlds: &'a [World], name: &str) -> Result<&'a World, Error> {
    worlds.iter().find(|w| w.name() == name).ok_or_else(|| Error::UnknownDomain {
        name: name.to_string(),
        help: nearest(name, worlds.iter().map(World::name)),
    })
}
