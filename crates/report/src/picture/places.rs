//! A state of a world that has no picture of its own, as things at places: where the facts say that things are at, in or on others.
//!
//! What is a place and what is a thing is read from the names of the facts: `at(car1, l2)` and `in(p1, truck)` put one object into
//! another, `at_ferry(l2)` makes a ferry, `link(l1, l2)` joins places. Places stay where they are; things move from one to another.
//! A goal that is reached is green, one that is not is said under its thing.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Fact, read};
use super::{Marks, Picture};
use crate::node::Node;

type Point = (f64, f64);

/// The width of a picture, and of a place at the most.
const WIDTH: f64 = 620.0;
const WIDEST: f64 = 190.0;
const GAP: f64 = 14.0;
const MARGIN: f64 = 12.0;
/// The height of the name of a place, and of a thing.
const TITLE: f64 = 24.0;
const THING: f64 = 26.0;
/// The height of a thing with what is wanted of it.
const WANTED: f64 = 40.0;
/// The side of a square of a grid.
const SQUARE: f64 = 62.0;
/// Places, and things at them, that can still be looked at.
const MOST_PLACES: usize = 150;
const MOST_THINGS: usize = 60;
const LINE: f64 = 20.0;
const MOST_LINES: usize = 4;
const LETTERS: usize = 74;

/// The first or last word of a name that puts one object into another.
const WHERE: [&str; 5] = ["at", "in", "on", "inside", "under"];
/// Names that say the same without such a word.
const HELD_BY: [&str; 2] = ["carry", "carried"];
const HOLDS: [&str; 5] = ["carrying", "holding", "has", "holds", "contains"];
/// Where things are that are nowhere else: at first, and in the end.
const FROM: [&str; 3] = ["origin", "from", "start"];
const ARRIVED: [&str; 3] = ["served", "delivered", "done"];
const TO: [&str; 2] = ["destin", "destination"];

fn words(name: &str) -> Vec<&str> {
    name.split(['_', '-']).filter(|w| !w.is_empty()).collect()
}

/// Whether a name of two objects says that the first is where the second is.
fn places_first(name: &str) -> bool {
    let all = words(name);
    [all.first(), all.last()].into_iter().flatten().any(|w| WHERE.contains(w)) || HELD_BY.contains(&name)
}

/// What a name of one object says to be there: `at_ferry`, `lift_at`.
pub(super) fn token(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("at_").or_else(|| name.strip_suffix("_at"))?;
    (!rest.is_empty()).then_some(rest)
}

/// What is read from the facts of a state.
pub(super) struct Reading<'a> {
    facts: Vec<Fact<'a>>,
    /// What each object is in.
    pub inside: BTreeMap<&'a str, &'a str>,
    /// Things that are no objects, and where they are.
    tokens: BTreeMap<&'a str, &'a str>,
    pub places: Vec<&'a str>,
    /// Things that are in no place now.
    pub nowhere: Vec<&'a str>,
    /// What is said about things and places, a word each.
    pub said: BTreeMap<&'a str, Vec<String>>,
    /// Of these, what squares of a grid have room for: values such as colours.
    values: BTreeMap<&'a str, String>,
    /// What is wanted of a thing or place, and whether it is so.
    pub wanted: BTreeMap<&'a str, Vec<(String, bool)>>,
    /// Facts that nothing is drawn for.
    pub rest: Vec<(String, bool)>,
}

/// Draws facts about objects that come in groups; `None` where they are not about things at places.
pub(super) fn draw(groups: &[Vec<String>], facts: &[String], marks: &Marks) -> Option<Picture> {
    let reading = Reading::new(groups, facts)?;
    let mut layout = Layout::new(&reading);
    // Where one thing carries all others, nothing is nowhere.
    let tray = (reading.tokens.len() != 1).then_some(layout.height);
    layout.height += if tray.is_some() { WANTED + 8.0 } else { 0.0 };
    let shown: Vec<&(String, bool)> = reading.rest.iter().collect();
    let lines = lines(&shown);
    let height = layout.height + lines.len() as f64 * LINE + if lines.is_empty() { 0.0 } else { 12.0 };
    let label =
        if facts.is_empty() { "Nothing holds.".to_string() } else { format!("{}.", facts.join("; ")) };
    let mut picture = Picture::empty(layout.width, height, label);
    layout.draw(&reading, marks, &mut picture);
    if let Some(top) = tray {
        let shelf = Shelf { reading: &reading, marks, is_grid: false };
        shelf.fill(&reading.nowhere, (MARGIN, top), (layout.width - 2.0 * MARGIN, WANTED), &mut picture);
    }
    for (i, (line, done)) in lines.into_iter().enumerate() {
        let text = Node::text(0.0, 0.0, 13.5, line).fill(if done { "var(--good)" } else { "var(--soft)" });
        picture.put(
            format!("text {i}"),
            (MARGIN, layout.height + 10.0 + (i as f64 + 0.5) * LINE),
            vec![text],
        );
    }
    Some(picture)
}

/// Facts in lines, what is reached apart.
fn lines(all: &[&(String, bool)]) -> Vec<(String, bool)> {
    let mut lines: Vec<(String, bool)> = Vec::new();
    for (text, done) in all {
        match lines.last_mut() {
            Some((line, same))
                if *same == *done && line.chars().count() + text.chars().count() + 3 < LETTERS =>
            {
                line.push_str(" · ");
                line.push_str(text);
            }
            _ => lines.push((text.clone(), *done)),
        }
    }
    lines.truncate(MOST_LINES);
    lines
}

impl<'a> Reading<'a> {
    pub fn new(groups: &'a [Vec<String>], facts: &'a [String]) -> Option<Reading<'a>> {
        let facts: Vec<Fact<'a>> = facts.iter().map(|f| read(f)).collect();
        let mut group = BTreeMap::new();
        for (i, of_type) in groups.iter().enumerate() {
            group.extend(of_type.iter().map(|o| (o.as_str(), i)));
        }
        for o in facts.iter().flat_map(|f| &f.args) {
            group.entry(o).or_insert(groups.len());
        }
        let (mut inside, mut tokens) = (BTreeMap::new(), BTreeMap::new());
        let mut containers = BTreeSet::new();
        let (mut homes, mut located) = (BTreeSet::new(), BTreeSet::new());
        for fact in &facts {
            let is_goal = fact.name.strip_prefix("goal_");
            let name = is_goal.unwrap_or(fact.name);
            match *fact.args.as_slice() {
                [x, y] if group[x] != group[y] && places_first(name) => {
                    containers.insert(group[y]);
                    located.insert(group[x]);
                    if is_goal.is_none() {
                        inside.insert(x, y);
                    }
                }
                [x, y] if HOLDS.contains(&name) && group[x] != group[y] && is_goal.is_none() => {
                    inside.insert(y, x);
                }
                [x] => {
                    if let (Some(token), None) = (token(name), is_goal)
                        && !group.contains_key(token)
                    {
                        homes.insert(group[x]);
                        tokens.insert(token, x);
                    }
                }
                _ => {}
            }
        }
        // Where a thing comes from is where it is, as long as it is nowhere else.
        let said_of =
            |x: &str, words: &[&str]| facts.iter().any(|f| f.args == [x] && words.contains(&f.name));
        for fact in &facts {
            if let [x, y] = *fact.args.as_slice() {
                let is_served = has_arrived(&facts, x);
                let is_here = if is_served { TO.contains(&fact.name) } else { FROM.contains(&fact.name) };
                let on_the_way = said_of(x, &["boarded", "on", "in", "aboard", "loaded"]);
                if is_here && !on_the_way && !inside.contains_key(x) {
                    containers.insert(group[y]);
                    inside.insert(x, y);
                }
            }
        }
        // Places are what things are in and what is in nothing itself.
        let moving: BTreeSet<usize> = inside.keys().map(|x| group[x]).chain(located).collect();
        let one_token = if tokens.len() == 1 { tokens.keys().next().copied() } else { None };
        let compartments = |g: &usize| !homes.is_empty() && !homes.contains(g) && one_token.is_some();
        let is_place = |g: &usize| {
            homes.contains(g) || (containers.contains(g) && !moving.contains(g) && !compartments(g))
        };
        let place_groups: BTreeSet<usize> = containers.union(&homes).copied().filter(is_place).collect();
        let mut places: Vec<&str> =
            group.iter().filter(|(_, g)| place_groups.contains(g)).map(|(o, _)| *o).collect();
        places.sort_by_key(|p| natural(p));
        if places.is_empty() || places.len() > MOST_PLACES || inside.is_empty() && tokens.is_empty() {
            return None;
        }
        // What is in no place but is spoken of is on the one thing that moves: cars on a ferry, the grippers of a robot.
        if let Some(token) = one_token {
            let spoken: Vec<&str> = facts
                .iter()
                .filter(|f| !f.name.starts_with("goal_"))
                .filter_map(|f| match *f.args.as_slice() {
                    [x] => Some(x),
                    [_, y] if containers.contains(&group[y]) => Some(y),
                    _ => None,
                })
                .filter(|o| !place_groups.contains(&group[o]) && !inside.contains_key(o))
                .collect();
            for o in spoken {
                inside.insert(o, token);
            }
        }
        // What is in nothing that is in a place is not drawn, nor what is in itself.
        let is_somewhere = |x: &str| {
            let mut at = x;
            (0..inside.len()).any(|_| {
                at = inside.get(at).copied().unwrap_or(at);
                places.contains(&at) || tokens.contains_key(at)
            })
        };
        let lost: Vec<&str> = inside.keys().copied().filter(|x| !is_somewhere(x)).collect();
        for x in lost {
            inside.remove(x);
        }
        // Objects of a kind that is in places, but that are in none now.
        let moving: BTreeSet<usize> = moving.into_iter().filter(|g| !place_groups.contains(g)).collect();
        let nowhere = group.iter().filter(|(o, g)| moving.contains(g) && !inside.contains_key(*o));
        let mut nowhere: Vec<&str> = nowhere.map(|(o, _)| *o).collect();
        nowhere.sort_by_key(|o| natural(o));
        if inside.len() + nowhere.len() > MOST_THINGS {
            return None;
        }
        let mut reading = Reading {
            facts,
            inside,
            tokens,
            places,
            nowhere,
            said: BTreeMap::new(),
            values: BTreeMap::new(),
            wanted: BTreeMap::new(),
            rest: Vec::new(),
        };
        reading.say();
        Some(reading)
    }

    fn is_drawn(&self, object: &str) -> bool {
        self.inside.contains_key(object) || self.places.contains(&object) || self.nowhere.contains(&object)
    }

    /// Notes what is said and wanted of each object, and what is left to be written as text.
    fn say(&mut self) {
        let facts = std::mem::take(&mut self.facts);
        for fact in &facts {
            let name = fact.name;
            if let Some(wish) = name.strip_prefix("goal_") {
                let done = facts.iter().any(|f| f.name == wish && f.args == fact.args);
                match *fact.args.as_slice() {
                    [x] if self.is_drawn(x) => {
                        self.wanted.entry(x).or_default().push((wish.replace('_', " "), done));
                    }
                    [x, y] if self.is_drawn(x) => {
                        self.wanted.entry(x).or_default().push((y.to_string(), done));
                    }
                    _ => self.rest.push((format!("wanted: {}", fact.text.trim_start_matches("goal_")), done)),
                }
                continue;
            }
            match *fact.args.as_slice() {
                [] => self.rest.push((name.replace('_', " "), false)),
                // Where it is, is seen.
                [x] if token(name).is_some() && self.tokens.values().any(|p| *p == x) => {}
                [x] if self.is_drawn(x) => {
                    let in_token = self.inside.get(x).is_some_and(|y| self.tokens.contains_key(y));
                    let is_seen = ["on", "boarded", "in", "clear"].contains(&name);
                    if !(is_seen && (in_token || name == "clear")) {
                        self.said.entry(x).or_default().push(name.replace('_', " "));
                    }
                }
                [x, y] => {
                    let seen = self.inside.get(x) == Some(&y) || self.inside.get(y) == Some(&x);
                    let relation = self.places.contains(&x) && self.places.contains(&y);
                    let way = TO.contains(&name) && self.is_drawn(x);
                    if way && !has_arrived(&facts, x) {
                        self.wanted.entry(x).or_default().push((y.to_string(), false));
                    } else if !seen
                        && !relation
                        && !way
                        && !FROM.contains(&name)
                        && self.is_drawn(x)
                        && !self.is_drawn(y)
                    {
                        self.values.insert(x, y.to_string());
                        self.said.entry(x).or_default().push(y.to_string());
                    }
                }
                _ => {}
            }
        }
        self.facts = facts;
        // "served" of one who wants to get to a floor is said by the floor.
        for (x, wishes) in &mut self.wanted {
            if wishes.len() > 1
                && self.facts.iter().any(|f| TO.contains(&f.name) && f.args.first() == Some(x))
            {
                wishes.retain(|(text, done)| *done || text != "served");
            }
        }
    }

    /// What is in a place or a thing, in order.
    pub fn content(&self, of: &str) -> Vec<&'a str> {
        let tokens = self.tokens.iter().filter(|(_, p)| **p == of).map(|(t, _)| *t);
        let mut things: Vec<&str> = self.inside.iter().filter(|(_, p)| **p == of).map(|(x, _)| *x).collect();
        things.sort_by_key(|x| natural(x));
        tokens.chain(things).collect()
    }

    /// Pairs of places that a fact relates.
    fn ways(&self) -> BTreeSet<(&'a str, &'a str)> {
        let pair = |f: &Fact<'a>| match *f.args.as_slice() {
            [x, y] | [x, y, _] if self.places.contains(&x) && self.places.contains(&y) => {
                Some(if x < y { (x, y) } else { (y, x) })
            }
            _ => None,
        };
        self.facts.iter().filter_map(pair).collect()
    }
}

/// Whether facts say that a thing is where it wants to be.
fn has_arrived(facts: &[Fact<'_>], x: &str) -> bool {
    facts.iter().any(|f| f.args == [x] && ARRIVED.contains(&f.name))
}

/// A name by its letters and its numbers, so that `l10` comes after `l9`.
fn natural(name: &str) -> (String, Vec<u64>) {
    let letters = name.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect::<String>();
    let letters = letters.split('0').filter(|s| !s.is_empty()).collect::<Vec<_>>().join("0");
    let numbers = name.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
    (letters, numbers)
}

/// The column and row in a name such as `loc_3_2` or `x0-y1`.
fn square(name: &str) -> Option<(u64, u64)> {
    match natural(name).1.as_slice() {
        [x, y] => Some((*x, *y)),
        _ => None,
    }
}

/// Where places are.
struct Layout<'a> {
    /// Their upper left corners.
    at: BTreeMap<&'a str, Point>,
    side: (f64, f64),
    is_grid: bool,
    width: f64,
    height: f64,
    ways: Vec<(&'a str, &'a str)>,
}

impl<'a> Layout<'a> {
    fn new(reading: &Reading<'a>) -> Layout<'a> {
        let places = &reading.places;
        let squares: Option<Vec<(u64, u64)>> = places.iter().map(|p| square(p)).collect();
        if let Some(squares) = squares.filter(|s| s.len() > 3) {
            return Layout::grid(places, &squares);
        }
        let ways = reading.ways();
        let count = places.len();
        let is_tower = reading.facts.iter().any(|f| f.name == "above" && f.args.len() == 2);
        let things = reading.inside.len() + reading.tokens.len();
        if is_tower {
            // The one that is above most others is on top.
            let below = |p: &str| {
                reading.facts.iter().filter(|f| f.name == "above" && f.args.first() == Some(&p)).count()
            };
            let mut order = places.clone();
            order.sort_by_key(|p| below(p));
            let side = (WIDTH - 2.0 * MARGIN, if things > 8 { 122.0 } else { 78.0 });
            let at = |(i, p): (usize, &&'a str)| (*p, (MARGIN, MARGIN + i as f64 * (side.1 + 4.0)));
            let at = order.iter().enumerate().map(at).collect();
            let height = count as f64 * (side.1 + 4.0) + 2.0 * MARGIN;
            return Layout { at, side, is_grid: false, width: WIDTH, height, ways: Vec::new() };
        }
        let order = along(places, &ways);
        let per_row = if count == 4 { 2 } else { count.clamp(1, 5) };
        let wide = ((WIDTH - 2.0 * MARGIN + GAP) / per_row as f64 - GAP).min(2.0 * WIDEST);
        let columns = ((wide - 12.0) / 84.0).floor().max(1.0);
        // Room for many things in one place, but not for all.
        let rows = (things.min(9) as f64 / columns).ceil().clamp(1.0, 4.0);
        let is_nested = reading.inside.values().any(|y| reading.inside.contains_key(y));
        let rows = if is_nested { rows.max(3.0) } else { rows };
        let side =
            (wide, TITLE + rows * (WANTED + 6.0) + 16.0 + if reading.tokens.is_empty() { 0.0 } else { 44.0 });
        let between = if ways.is_empty() { GAP } else { GAP + 14.0 };
        let at = |(i, p): (usize, &&'a str)| {
            let (row, column) = (i / per_row, i % per_row);
            // Ways go back and forth, as one plows.
            let column = if row % 2 == 1 && !ways.is_empty() { per_row - 1 - column } else { column };
            (*p, (MARGIN + column as f64 * (wide + GAP), MARGIN + row as f64 * (side.1 + between)))
        };
        let at = order.iter().enumerate().map(at).collect();
        let height = count.div_ceil(per_row) as f64 * (side.1 + between) + 2.0 * MARGIN - between;
        let width = per_row as f64 * (wide + GAP) - GAP + 2.0 * MARGIN;
        // Where everything leads everywhere, lines say nothing.
        let ways = if ways.len() > 2 * count { Vec::new() } else { ways.into_iter().collect() };
        Layout { at, side, is_grid: false, width: width.max(300.0), height, ways }
    }

    fn grid(places: &[&'a str], squares: &[(u64, u64)]) -> Layout<'a> {
        let (left, top) = (squares.iter().map(|s| s.0).min(), squares.iter().map(|s| s.1).min());
        let (left, top) = (left.unwrap_or(0), top.unwrap_or(0));
        let wide = squares.iter().map(|s| s.0 - left).max().unwrap_or(0) as f64 + 1.0;
        let high = squares.iter().map(|s| s.1 - top).max().unwrap_or(0) as f64 + 1.0;
        let at = |(p, s): (&&'a str, &(u64, u64))| {
            (*p, (MARGIN + (s.0 - left) as f64 * SQUARE, MARGIN + (s.1 - top) as f64 * SQUARE))
        };
        Layout {
            at: places.iter().zip(squares).map(at).collect(),
            side: (SQUARE, SQUARE),
            is_grid: true,
            width: wide * SQUARE + 2.0 * MARGIN,
            height: high * SQUARE + 2.0 * MARGIN,
            ways: Vec::new(),
        }
    }

    fn middle(&self, place: &str) -> Point {
        let (x, y) = self.at.get(place).copied().unwrap_or_default();
        (x + self.side.0 / 2.0, y + self.side.1 / 2.0)
    }

    fn draw(&self, reading: &Reading<'a>, marks: &Marks, picture: &mut Picture) {
        for (x, y) in &self.ways {
            let (from, to) = (self.middle(x), self.middle(y));
            let line = Node::line(from.0, from.1, to.0, to.1)
                .stroke("var(--road)", 9.0)
                .set("stroke-linecap", "round");
            picture.put(format!("way {x} {y}"), (0.0, 0.0), vec![line]);
        }
        for (place, &at) in &self.at {
            picture.put(format!("object {place}"), at, self.place(place, reading, marks));
        }
        for (place, &(x, y)) in &self.at {
            let title = if self.is_grid { 8.0 } else { TITLE + 4.0 };
            let is_strip = !self.is_grid && self.side.0 > 2.5 * WIDEST;
            // A strip has its name at the left.
            let (left, top) = if is_strip { (x + 64.0, y + 7.0) } else { (x + 7.0, y + title) };
            let room = (x + self.side.0 - 6.0 - left, y + self.side.1 - 4.0 - top);
            let shelf = Shelf { reading, marks, is_grid: self.is_grid };
            shelf.fill(&reading.content(place), (left, top), room, picture);
        }
    }

    fn place(&self, place: &str, reading: &Reading<'a>, marks: &Marks) -> Vec<Node> {
        let (w, h) = self.side;
        let wishes = reading.wanted.get(place).map(Vec::as_slice).unwrap_or_default();
        let done = !wishes.is_empty() && wishes.iter().all(|(_, done)| *done);
        let open = wishes.iter().any(|(_, done)| !done);
        let inset = if self.is_grid { 2.0 } else { 0.0 };
        let body = Node::rect(inset, inset, w - 2.0 * inset, h - 2.0 * inset)
            .at("rx", if self.is_grid { 6.0 } else { 12.0 })
            .fill(if done { "var(--good-soft)" } else { "var(--floor)" });
        let mark = marks.get(place);
        let body = match mark {
            Some(mark) => body.stroke(mark.colour, 3.5),
            None if open => body.stroke("var(--good)", 1.6).set("stroke-dasharray", "4 4"),
            None => body.stroke(if done { "var(--good)" } else { "var(--wall)" }, 1.3),
        };
        let mut nodes = vec![body];
        let said = reading.said.get(place).map(|s| s.join(", ")).unwrap_or_default();
        if self.is_grid {
            let wish = wishes.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(", ");
            let value = reading.values.get(place).cloned().unwrap_or_default();
            let text = if value.is_empty() && open { wish } else { value };
            if !text.is_empty() {
                nodes.push(Node::text(w / 2.0, h - 8.0, 10.5, short(&text, 9)).middle().fill("var(--soft)"));
            }
        } else {
            let name = if said.is_empty() { place.to_string() } else { format!("{place}: {said}") };
            let fits = ((w - 20.0) / 7.4) as usize;
            nodes.push(Node::text(11.0, 18.0, 13.0, short(&name, fits)).bold().fill("var(--soft)"));
            let fill = if done { "var(--good)" } else { "var(--soft)" };
            for (i, (wish, done)) in wishes.iter().enumerate().take(2) {
                let text = format!("{}{wish}", if *done { "✓ " } else { "→ " });
                nodes.push(
                    Node::text(w - 10.0, 18.0 + 14.0 * i as f64, 11.5, text)
                        .set("text-anchor", "end")
                        .fill(fill),
                );
            }
        }
        if let Some(mark) = mark {
            nodes.extend(mark.badge(w - 10.0, 8.0));
        }
        nodes
    }
}

/// Things beside and below each other.
struct Shelf<'r, 'a> {
    reading: &'r Reading<'a>,
    marks: &'r Marks,
    is_grid: bool,
}

impl Shelf<'_, '_> {
    fn fill(&self, things: &[&str], (left, top): Point, (wide, high): Point, picture: &mut Picture) {
        let (mut x, mut y, mut row) = (left, top, 0.0_f64);
        for (i, thing) in things.iter().enumerate() {
            let (w, h) = self.size(thing);
            let w = w.min(wide);
            if x > left && x + w > left + wide {
                (x, y, row) = (left, y + row + 4.0, 0.0);
            }
            if y > top && y + h > top + high + 2.0 {
                let more =
                    Node::text(0.0, 0.0, 12.0, format!("and {} more", things.len() - i)).fill("var(--soft)");
                picture.put(format!("more {left} {top}"), (left, top + high), vec![more]);
                return;
            }
            self.put(thing, (x, y), (w, h), picture);
            (x, row) = (x + w + 5.0, row.max(h));
        }
    }

    fn size(&self, thing: &str) -> Point {
        let content = self.reading.content(thing);
        let letters = thing.chars().count() as f64;
        if self.is_grid {
            return (SQUARE - 16.0, THING.min(SQUARE - 30.0));
        }
        let lines = self.below(thing).chars().count() as f64;
        let own = (7.6 * letters + 18.0).max(6.3 * lines + 14.0).max(36.0);
        let is_token = self.reading.tokens.contains_key(thing);
        let in_line = 7.6 * letters + 6.6 * lines + 22.0;
        if content.is_empty() && !is_token {
            return (own, if lines > 0.0 { WANTED } else { THING });
        }
        let sizes: Vec<Point> = content.iter().map(|t| self.size(t)).collect();
        let wide: f64 = sizes.iter().map(|s| s.0 + 5.0).sum::<f64>() + 9.0;
        let high = sizes.iter().map(|s| s.1).fold(if is_token { THING } else { 0.0 }, f64::max);
        (in_line.max(wide).max(if is_token { 84.0 } else { 0.0 }), 20.0 + high + 8.0)
    }

    /// What stands under the name of a thing.
    fn below(&self, thing: &str) -> String {
        let wishes = self.reading.wanted.get(thing).into_iter().flatten();
        let mut parts: Vec<String> =
            wishes.map(|(text, done)| if *done { "✓".to_string() } else { format!("→ {text}") }).collect();
        parts.extend(self.reading.said.get(thing).into_iter().flatten().cloned());
        parts.join(" ")
    }

    fn put(&self, thing: &str, at: Point, (w, h): Point, picture: &mut Picture) {
        let is_token = self.reading.tokens.contains_key(thing);
        let content = self.reading.content(thing);
        let wishes = self.reading.wanted.get(thing).map(Vec::as_slice).unwrap_or_default();
        let done = !wishes.is_empty() && wishes.iter().all(|(_, done)| *done);
        let mark = self.marks.get(thing);
        let (fill, ink) = match () {
            () if is_token => ("var(--accent-soft)", "var(--accent)"),
            () if done => ("var(--good-soft)", "var(--good)"),
            () => ("var(--card)", "var(--ink)"),
        };
        let body = Node::rect(0.0, 0.0, w, h).at("rx", if is_token { 9.0 } else { 7.0 }).fill(fill);
        let body = match mark {
            Some(mark) => body.stroke(mark.colour, 3.5),
            None => body.stroke(
                if done {
                    "var(--good)"
                } else if is_token {
                    "var(--accent)"
                } else {
                    "var(--wall)"
                },
                1.5,
            ),
        };
        // What does not fit is cut: the facts say it in full.
        let below =
            if self.is_grid { String::new() } else { short(&self.below(thing), ((w - 8.0) / 6.0) as usize) };
        let name = if self.is_grid { short(thing, 6) } else { thing.replace('_', " ") };
        let mut looks = vec![body];
        if content.is_empty() && !is_token {
            let middle = if below.is_empty() { h / 2.0 + 4.6 } else { 17.0 };
            looks.push(Node::text(w / 2.0, middle, 13.0, name).middle().bold().fill(ink));
            if !below.is_empty() {
                let fill = if done { "var(--good)" } else { "var(--soft)" };
                looks.push(Node::text(w / 2.0, 32.0, 11.5, below).middle().fill(fill));
            }
        } else if self.is_grid {
            looks.push(Node::text(w / 2.0, h / 2.0 + 4.6, 12.0, name).middle().bold().fill(ink));
        } else {
            let name = if below.is_empty() { name } else { format!("{name} {below}") };
            looks.push(Node::text(8.0, 15.0, 12.0, name).bold().fill(ink));
        }
        looks.extend(mark.into_iter().flat_map(|m| m.badge(w - 4.0, 2.0)));
        picture.put(format!("object {thing}"), at, looks);
        let room = (w - 10.0, h - 24.0);
        self.fill(&content, (at.0 + 6.0, at.1 + 21.0), (room.0 + 6.0, room.1), picture);
    }
}

fn short(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_string();
    }
    let mut cut: String = text.chars().take(letters.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// Places in the order of a path, where they are one; else as they are named.
fn along<'a>(places: &[&'a str], ways: &BTreeSet<(&'a str, &'a str)>) -> Vec<&'a str> {
    let beside = |p: &str| -> Vec<&'a str> {
        ways.iter()
            .filter_map(|&(x, y)| {
                if x == p {
                    Some(y)
                } else if y == p {
                    Some(x)
                } else {
                    None
                }
            })
            .collect()
    };
    let ends: Vec<&str> = places.iter().copied().filter(|p| beside(p).len() == 1).collect();
    let is_path =
        ends.len() == 2 && ways.len() + 1 == places.len() && places.iter().all(|p| beside(p).len() <= 2);
    let Some(&start) = ends.iter().min_by_key(|p| (!p.contains("start") && !p.contains("shed"), natural(p)))
    else {
        return places.to_vec();
    };
    if !is_path {
        return places.to_vec();
    }
    let mut order = vec![start];
    while let Some(next) = order.last().and_then(|p| beside(p).into_iter().find(|q| !order.contains(q))) {
        order.push(next);
    }
    order
}
