//! Problems in which things are taken to where they belong.

use derrl_env::Rng;

use super::roads::Roads;
use super::{Numbers, Text, numbered};

/// Where each of `count` things is and where it belongs, of `places` places; one at least is to be moved.
fn moves(count: usize, places: usize, rng: &mut Rng) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = (0..count).map(|_| (rng.below(places), rng.below(places))).collect();
    if all.iter().all(|(from, to)| from == to) {
        let thing = rng.below(count);
        all[thing].1 = (all[thing].0 + 1 + rng.below(places - 1)) % places;
    }
    all
}

pub(super) fn usual_gripper(balls: usize, _: &mut Rng) -> Numbers {
    [balls, 2 + balls.isqrt(), 0, 0, 0]
}

pub(super) fn gripper([balls, rooms, ..]: Numbers, rng: &mut Rng) -> Text {
    let (balls, rooms) = (balls.max(1), rooms.max(2));
    let moves = moves(balls, rooms, rng);
    let mut init =
        vec![format!("at-robby room{}", 1 + rng.below(rooms)), "free left".into(), "free right".into()];
    init.extend(moves.iter().enumerate().map(|(b, m)| format!("at ball{} room{}", b + 1, m.0 + 1)));
    let goal = moves.iter().enumerate().map(|(b, m)| format!("at ball{} room{}", b + 1, m.1 + 1)).collect();
    let grippers = vec!["left".to_string(), "right".to_string()];
    let objects =
        vec![("room", numbered("room", rooms)), ("ball", numbered("ball", balls)), ("gripper", grippers)];
    Text { objects, init, goal }
}

pub(super) fn usual_ferry(cars: usize, _: &mut Rng) -> Numbers {
    [cars, 3.max(3 * cars / 4), 0, 0, 0]
}

pub(super) fn ferry([cars, locations, ..]: Numbers, rng: &mut Rng) -> Text {
    let (cars, locations) = (cars.max(1), locations.max(2));
    let moves = moves(cars, locations, rng);
    let mut init = vec!["empty-ferry".to_string(), format!("at-ferry loc{}", 1 + rng.below(locations))];
    init.extend(moves.iter().enumerate().map(|(c, m)| format!("at car{} loc{}", c + 1, m.0 + 1)));
    let goal = moves.iter().enumerate().map(|(c, m)| format!("at car{} loc{}", c + 1, m.1 + 1)).collect();
    let objects = vec![("location", numbered("loc", locations)), ("car", numbered("car", cars))];
    Text { objects, init, goal }
}

pub(super) fn usual_miconic(passengers: usize, _: &mut Rng) -> Numbers {
    [passengers, passengers.max(3), 0, 0, 0]
}

pub(super) fn miconic([passengers, floors, ..]: Numbers, rng: &mut Rng) -> Text {
    let (passengers, floors) = (passengers.max(1), floors.max(2));
    let mut init = vec![format!("lift-at f{}", 1 + rng.below(floors))];
    for p in 1..=passengers {
        // Nobody waits where they want to go.
        let from = rng.below(floors);
        let to = (from + 1 + rng.below(floors - 1)) % floors;
        init.push(format!("origin p{p} f{}", from + 1));
        init.push(format!("destin p{p} f{}", to + 1));
    }
    for low in 1..=floors {
        init.extend((low + 1..=floors).map(|high| format!("above f{low} f{high}")));
    }
    let goal = (1..=passengers).map(|p| format!("served p{p}")).collect();
    let objects = vec![("floor", numbered("f", floors)), ("passenger", numbered("p", passengers))];
    Text { objects, init, goal }
}

pub(super) fn usual_spanner(nuts: usize, rng: &mut Rng) -> Numbers {
    [nuts, nuts + rng.below(1 + nuts / 2), nuts.max(2), 0, 0]
}

pub(super) fn spanner([nuts, spanners, locations, ..]: Numbers, rng: &mut Rng) -> Text {
    let (nuts, locations) = (nuts.max(1), locations.max(1));
    let spanners = spanners.max(nuts);
    let mut init = vec!["at bob shed".to_string(), "link shed l1".to_string()];
    init.extend((1..locations).map(|l| format!("link l{l} l{}", l + 1)));
    init.push(format!("link l{locations} gate"));
    for s in 1..=spanners {
        init.push(format!("at s{s} l{}", 1 + rng.below(locations)));
        init.push(format!("usable s{s}"));
    }
    for n in 1..=nuts {
        init.push(format!("at nut{n} gate"));
        init.push(format!("loose nut{n}"));
    }
    let goal = (1..=nuts).map(|n| format!("tightened nut{n}")).collect();
    let mut places = vec!["shed".to_string(), "gate".to_string()];
    places.extend(numbered("l", locations));
    let objects = vec![
        ("man", vec!["bob".to_string()]),
        ("spanner", numbered("s", spanners)),
        ("nut", numbered("nut", nuts)),
        ("location", places),
    ];
    Text { objects, init, goal }
}

pub(super) fn usual_transport(packages: usize, rng: &mut Rng) -> Numbers {
    let vehicles = 1 + rng.below(1 + packages.div_ceil(3));
    let locations = 2 + packages / 2 + rng.below(2);
    [packages, vehicles, locations, 2 + rng.below(3), 0]
}

pub(super) fn transport([packages, vehicles, locations, most, _]: Numbers, rng: &mut Rng) -> Text {
    let (packages, vehicles) = (packages.max(1), vehicles.max(1));
    let (locations, most) = (locations.max(2), most.max(1));
    let roads = Roads::new(locations, locations / 2, rng);
    let mut init: Vec<String> =
        roads.pairs().map(|(a, b)| format!("road loc{} loc{}", a + 1, b + 1)).collect();
    init.extend((1..=most).map(|n| format!("capacity-predecessor size{} size{n}", n - 1)));
    for v in 1..=vehicles {
        init.push(format!("at truck{v} loc{}", 1 + rng.below(locations)));
        init.push(format!("capacity truck{v} size{}", 1 + rng.below(most)));
    }
    let mut goal = Vec::new();
    for p in 1..=packages {
        let from = rng.below(locations);
        let to = (from + 1 + rng.below(locations - 1)) % locations;
        init.push(format!("at package{p} loc{}", from + 1));
        goal.push(format!("at package{p} loc{}", to + 1));
    }
    let objects = vec![
        ("location", numbered("loc", locations)),
        ("vehicle", numbered("truck", vehicles)),
        ("package", numbered("package", packages)),
        ("capacity-number", (0..=most).map(|n| format!("size{n}")).collect()),
    ];
    Text { objects, init, goal }
}

pub(super) fn usual_logistics(packages: usize, rng: &mut Rng) -> Numbers {
    let cities = 2 + rng.below(1 + packages.div_ceil(3));
    [packages, cities, 1 + rng.below(1 + packages.div_ceil(8)), 0, 0]
}

/// Each city has an airport, a truck and a few other places.
pub(super) fn logistics([packages, cities, airplanes, ..]: Numbers, rng: &mut Rng) -> Text {
    let (packages, cities, airplanes) = (packages.max(1), cities.max(2), airplanes.max(1));
    let (mut init, mut airports, mut locations) = (Vec::new(), Vec::new(), Vec::new());
    for c in 1..=cities {
        let first = airports.len() + locations.len();
        airports.push(format!("airport{c}"));
        init.push(format!("in-city airport{c} city{c}"));
        for l in 1..=rng.below(4) {
            init.push(format!("in-city loc{c}-{l} city{c}"));
            locations.push(format!("loc{c}-{l}"));
        }
        let own = airports.len() + locations.len() - first;
        let at = match rng.below(own) {
            0 => format!("airport{c}"),
            l => format!("loc{c}-{l}"),
        };
        init.push(format!("at truck{c} {at}"));
    }
    init.extend((1..=airplanes).map(|a| format!("at plane{a} airport{}", 1 + rng.below(cities))));
    let places: Vec<&String> = airports.iter().chain(&locations).collect();
    let mut goal = Vec::new();
    for (p, (from, to)) in moves(packages, places.len(), rng).into_iter().enumerate() {
        init.push(format!("at package{} {}", p + 1, places[from]));
        goal.push(format!("at package{} {}", p + 1, places[to]));
    }
    let objects = vec![
        ("city", numbered("city", cities)),
        ("airport", airports),
        ("location", locations),
        ("truck", numbered("truck", cities)),
        ("airplane", numbered("plane", airplanes)),
        ("package", numbered("package", packages)),
    ];
    Text { objects, init, goal }
}
