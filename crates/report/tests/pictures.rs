//! Every world is drawn: each state has a picture whose pieces tell apart what is in it, and which can be written in every format.

use std::collections::BTreeSet;

use derrl_env::scene::Image;
use derrl_env::{Objects, Options, Rng, Scene, worlds};
use derrl_learn::{Ask, explain_episode};
use derrl_logic::Policy;
use derrl_report::{Marks, Picture, Theme, frames, raster, stills};

fn facts(list: &[&str]) -> Vec<String> {
    list.iter().map(|f| (*f).to_string()).collect()
}

#[test]
fn every_world_is_drawn_in_every_format() {
    for spec in worlds() {
        let alphabet = spec.alphabet();
        let Ok(mut env) = spec.make(&alphabet, &spec.tasks()[0].name, &Options::default()) else {
            continue; // the simulator behind it is missing; its own tests say so
        };
        let ask = Ask::default();
        let Ok(trace) = explain_episode(&Policy::default(), &alphabet, env.as_mut(), (1, 0), 6, &ask) else {
            continue;
        };
        let frames = frames(&trace);
        assert_eq!(frames.len(), trace.steps.len() + 1);
        for frame in &frames {
            let keys: BTreeSet<&str> = frame.picture.pieces.iter().map(|p| p.key.as_str()).collect();
            assert_eq!(keys.len(), frame.picture.pieces.len(), "{}: keys are unique", spec.name());
            assert!(!frame.picture.label.is_empty(), "{}: a description", spec.name());
            assert_eq!(frame.picture.width, frames[0].picture.width, "{}: the size stays", spec.name());
        }
        let stills = stills(&frames);
        assert!(stills.windows(2).all(|w| w[0].width == w[1].width && w[0].height == w[1].height));
        for theme in [Theme::Light, Theme::Dark] {
            let svg = stills[0].to_svg(theme);
            assert!(!svg.contains("NaN") && !svg.contains("var("), "{}: {svg}", spec.name());
        }
        let png = raster::png(&stills[0], Theme::Light, 1.0).expect("a PNG");
        assert!(png.starts_with(b"\x89PNG"));
        let film: Vec<_> = stills.into_iter().map(|still| (still, 50)).collect();
        let gif = raster::gif(&film, Theme::Dark, 0.5).expect("a GIF");
        assert!(gif.starts_with(b"GIF89a"));
    }
}

/// The scenes of an environment and of the families that verification walks are the same pictures: a block keeps its place and colour.
#[test]
fn families_are_drawn_as_their_worlds_are() {
    let mut kinds = BTreeSet::new();
    for spec in worlds() {
        let alphabet = spec.alphabet();
        let derrl_env::Exhaustive::Sizes { range, .. } = *spec.exhaustive() else { continue };
        let extent = derrl_env::Extent { largest: range.0.max(2), ..derrl_env::Extent::default() };
        let space = spec.space(&alphabet, &extent).expect("a space");
        let family = space.family(space.sizes().len() - 1, 0);
        let mut start = None;
        family.starts(&mut |state, _| start = start.or(Some(state)));
        let scene = family.scene(start.expect("a family has instances"));
        let mut env =
            spec.make(&alphabet, &spec.tasks()[0].name, &Options::default()).expect("an environment");
        env.reset(&mut Rng::new(0, 0));
        let kind = std::mem::discriminant(&scene);
        assert_eq!(kind, std::mem::discriminant(&env.scene()), "{}: one kind of picture", spec.name());
        assert!(!matches!(scene, Scene::Facts | Scene::Objects(_)), "{}", spec.name());
        kinds.insert(format!("{kind:?}"));
        let prefixes = |picture: &Picture| -> BTreeSet<String> {
            picture.pieces.iter().filter_map(|p| p.key.split(' ').next().map(str::to_string)).collect()
        };
        let own = prefixes(&Picture::new(&env.scene(), &[], &Marks::default()));
        let walked = prefixes(&Picture::new(&scene, &[], &Marks::default()));
        assert!(walked.is_subset(&own) || own.is_subset(&walked), "{}: {walked:?} {own:?}", spec.name());
    }
    assert!(kinds.len() >= 3, "{kinds:?}");
}

#[test]
fn a_world_without_a_picture_is_a_graph_of_its_facts() {
    let facts = facts(&[
        "on(a, b)",
        "on(b, 'c, d')",
        "clear(a)",
        "handempty",
        "same(a, a)",
        "less(a, b)",
        "line(a, b, b)",
    ]);
    let picture = Picture::new(&Scene::Facts, &facts, &Marks::default());
    let keys: Vec<&str> = picture.pieces.iter().map(|p| p.key.as_str()).collect();
    assert!(keys.contains(&"object 'c, d'"), "a comma inside quotes is part of a name: {keys:?}");
    assert!(keys.contains(&"fact on(a, b)") && keys.contains(&"fact same(a, a)"));
    let svg = picture.document().to_svg(Theme::Light);
    assert!(svg.contains("handempty") && svg.contains("line(a, b, b)") && svg.contains("clear"), "{svg}");
    raster::png(&picture.document(), Theme::Dark, 1.0).expect("a PNG");
}

#[test]
fn what_a_world_draws_itself_is_shown_as_it_is() {
    let scene = Scene::Text { text: "a <b>\n  c".to_string() };
    let svg = Picture::new(&scene, &[], &Marks::default()).document().to_svg(Theme::Light);
    assert!(svg.contains("a\u{a0}&lt;b&gt;") && svg.contains("\u{a0}\u{a0}c"), "{svg}");
    let image = Image { address: "data:image/png;base64,AAAA".to_string(), width: 8, height: 4 };
    let picture = Picture::new(&Scene::Image(image), &facts(&["p(a)"]), &Marks::default());
    assert_eq!((picture.width, picture.height), (320.0, 160.0), "small images are enlarged");
    assert_eq!(picture.label, "p(a).");
    assert!(picture.document().to_svg(Theme::Dark).contains("href=\"data:image/png;base64,AAAA\""));
}

#[test]
fn objects_of_a_type_share_a_column_and_stay_when_nothing_is_said_of_them() {
    let groups: Vec<Vec<String>> = vec![facts(&["car1", "car2"]), facts(&["loc1", "loc2", "loc3"])];
    let scene = Scene::Objects(Objects { groups });
    let before = facts(&["likes(car1, loc1)", "likes(car2, loc2)", "goal_likes(car1, loc2)", "empty"]);
    let after = facts(&["likes(car2, loc2)", "goal_likes(car1, loc2)", "tired(car1)"]);
    let draw = |facts: &[String]| Picture::new(&scene, facts, &Marks::default());
    let (first, second) = (draw(&before), draw(&after));
    let place = |picture: &Picture, name: &str| {
        let key = format!("object {name}");
        picture.pieces.iter().find(|p| p.key == key).map(|p| (p.x, p.y)).expect("each object is drawn")
    };
    for name in ["car1", "car2", "loc1", "loc2", "loc3"] {
        assert_eq!(place(&first, name), place(&second, name), "{name} stays where it is");
    }
    assert_eq!(place(&first, "loc1").0, place(&first, "loc3").0);
    assert!(place(&first, "car1").0 < place(&first, "loc1").0);
    assert_eq!((first.width, first.height), (second.width, second.height));
    let svg = first.document().to_svg(Theme::Light);
    assert!(svg.contains("stroke-dasharray"), "what is wanted is dashed: {svg}");
    // Names of arrows lie apart from each other.
    let names: Vec<(f64, f64)> =
        first.pieces.iter().filter(|p| p.key.starts_with("name ")).map(|p| (p.x, p.y)).collect();
    assert_eq!(names.len(), 3);
    for (i, a) in names.iter().enumerate() {
        assert!(
            names[..i].iter().all(|b| (a.0 - b.0).abs() > 18.0 || (a.1 - b.1).abs() >= 18.0),
            "{names:?}"
        );
    }
}

#[test]
fn too_many_facts_for_a_graph_are_text() {
    let many: Vec<String> = (0..200).map(|i| format!("edge(n{i}, n{})", i + 1)).collect();
    let picture = Picture::new(&Scene::Facts, &many, &Marks::default());
    assert!(picture.pieces.iter().all(|p| p.key.starts_with("text")));
    assert!(picture.document().to_svg(Theme::Light).contains("and 140 more"));
    let none = Picture::new(&Scene::Facts, &[], &Marks::default());
    assert_eq!(none.label, "Nothing holds.");
    raster::png(&none.document(), Theme::Light, 1.0).expect("a PNG");
}

#[test]
fn images_that_are_too_large_are_drawn_smaller_and_empty_films_are_refused() {
    let picture = Picture::new(&Scene::Facts, &facts(&["p(a)"]), &Marks::default());
    let width = |scale: f32| {
        let png = raster::png(&picture.document(), Theme::Light, scale).expect("a PNG");
        u32::from_be_bytes(png[16..20].try_into().expect("four bytes"))
    };
    assert!(width(100.0) < 20 * width(1.0), "{} and {}", width(100.0), width(1.0));
    assert!(matches!(raster::gif(&[], Theme::Light, 1.0), Err(raster::Error::Empty)));
}

/// The place of a piece.
fn at(picture: &Picture, key: &str) -> (f64, f64) {
    let piece = picture.pieces.iter().find(|p| p.key == key);
    let piece =
        piece.unwrap_or_else(|| panic!("no piece `{key}` among {:?}", picture.pieces.iter().map(|p| &p.key)));
    (piece.x, piece.y)
}

fn groups(all: &[&[&str]]) -> Scene {
    let list = |group: &&[&str]| group.iter().map(ToString::to_string).collect();
    Scene::Objects(Objects { groups: all.iter().map(list).collect() })
}

#[test]
fn things_move_and_places_stay() {
    let scene = groups(&[&["c1", "c2"], &["l1", "l2"]]);
    let picture = |said: &[&str]| Picture::new(&scene, &facts(said), &Marks::default());
    let goals = ["goal_at(c1, l2)", "goal_at(c2, l1)"];
    let waiting =
        picture(&[&["at(c1, l1)", "at(c2, l2)", "at_ferry(l1)", "empty_ferry"], &goals[..]].concat());
    let aboard = picture(&[&["on(c1)", "at(c2, l2)", "at_ferry(l1)"], &goals[..]].concat());
    let sailed = picture(&[&["on(c1)", "at(c2, l2)", "at_ferry(l2)"], &goals[..]].concat());
    let landed =
        picture(&[&["at(c1, l2)", "at(c2, l2)", "at_ferry(l2)", "empty_ferry"], &goals[..]].concat());
    for later in [&aboard, &sailed, &landed] {
        for place in ["object l1", "object l2"] {
            assert_eq!(at(&waiting, place), at(later, place), "{place} stays");
        }
        assert_eq!(waiting.width, later.width);
    }
    let (ferry, car) = (at(&sailed, "object ferry"), at(&sailed, "object c1"));
    assert!(car.0 > ferry.0 && car.1 > ferry.1, "the car is on the ferry: {ferry:?}, {car:?}");
    assert!(ferry.0 > at(&sailed, "object l2").0, "the ferry is at l2");
    assert_eq!(at(&aboard, "object ferry"), at(&waiting, "object ferry"), "the ferry waits");
    let svg = |picture: &Picture| picture.document().to_svg(Theme::Page);
    assert!(!svg(&sailed).contains('✓') && svg(&landed).contains('✓'), "a goal that is reached is marked");
    let as_text = landed.pieces.iter().filter(|p| p.key.starts_with("text"));
    assert_eq!(as_text.count(), 1, "goals are shown at their things, and only the empty ferry is text");
}

#[test]
fn things_that_are_nowhere_are_drawn_too() {
    let scene = groups(&[&["c1", "c2"], &["l1", "l2"]]);
    let picture = |said: &[&str]| Picture::new(&scene, &facts(said), &Marks::default());
    let before = picture(&["at(c1, l1)", "at(c2, l2)"]);
    let after = picture(&["at(c2, l2)", "taken(c1)"]);
    assert_eq!((before.width, before.height), (after.width, after.height));
    assert!(at(&after, "object c1").1 > at(&after, "object l1").1 + 20.0, "below the places");
}

#[test]
fn facts_that_contradict_each_other_are_drawn_all_the_same() {
    let scene = groups(&[&["a"], &["b"], &["p", "q"]]);
    for said in [
        &["in(a, b)", "in(b, a)", "at(a, p)"][..],
        &["in(a, b)", "in(b, a)", "at_robot(p)"],
        &["at_a(p)", "at(a, p)", "at(b, a)"],
        &["at(a, p)", "at(a, q)", "at_x(p)", "at_x(q)"],
        &["on(a, b)", "on(b, a)", "on_table(a)"],
        &["holding(a)", "holding(b)", "on(a, b)"],
    ] {
        let picture = Picture::new(&scene, &facts(said), &Marks::default());
        let keys: BTreeSet<&str> = picture.pieces.iter().map(|p| p.key.as_str()).collect();
        assert_eq!(keys.len(), picture.pieces.len(), "{said:?}: keys are unique");
        assert!(!picture.document().to_svg(Theme::Light).contains("NaN"));
    }
}

#[test]
fn blocks_of_a_planning_problem_stand_in_towers() {
    let scene = groups(&[&["b1", "b2", "b3"]]);
    let said = ["on_table(b1)", "on(b2, b1)", "clear(b2)", "holding(b3)", "goal_on(b3, b2)", "settled(b1)"];
    let picture = Picture::new(&scene, &facts(&said), &Marks::default());
    let (low, high, held) = (at(&picture, "block b1"), at(&picture, "block b2"), at(&picture, "block b3"));
    assert_eq!(low.0, high.0);
    assert!(high.1 < low.1 && held.1 < high.1, "{picture:?}");
    assert!(picture.label.contains("In the hand: b3"));
}
