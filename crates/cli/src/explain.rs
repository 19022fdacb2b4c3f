//! `derrl explain`.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use derrl::domain::{Domain, read_source};
use derrl::policies::{load_policy_with, scope_of};
use derrl_env::{Env, Rng, observe};
use derrl_learn::{
    Ask, Bounds, Change, Explainer, Explanation, Found, Laws, Leeway, Match, NumberChange, Others, Reading,
    Reason, Seen, Standing, WhatIf, WhatIfs, WhyNot, explain_episode, find_action,
};
use derrl_logic::{
    Action, Alphabet, Constant, Facts, MOST_WORK, Number, Policy, Pred, Role, Scope, Universe, bounded,
    parse_ground_action, parse_state, parse_state_in,
};
use derrl_report::table::{WIDTH, fixed, list, wrap};
use derrl_report::{English, Theme};
use serde_json::{Value, json};

use crate::args::Explain;
use crate::failure::Outcome;
use crate::output::{print, print_json};
use crate::picture::{self, Format};
use crate::say;
use crate::style::Paint;

/// The most other actions that the JSON of a state answers for, beside the one that was asked about.
const MOST_OTHERS: usize = 2_500;

/// The numbers of which it is told how far they may be off.
const FEW_NUMBERS: usize = 4;

/// The task of an episode where none is asked for: the one trained on.
const TASK: &str = "train";

/// Explains an episode, step by step, or what the policy does in a state given by hand.
pub fn run(args: &Explain) -> Outcome {
    let (policy, domain) =
        load_policy_with(&args.policy, args.domain.as_deref(), args.world.untyped, &args.problems.asked())?;
    let mut questions = Questions::new(args, &domain.alphabet)?;
    questions.scope = scope_of(&args.policy)?;
    if let Some(file) = &args.state {
        return in_state(file, args, &policy, &domain, &questions);
    }
    let format = args.picture.as_ref().map(|path| Format::of(path, Format::ALL)).transpose()?;
    let alphabet = &domain.alphabet;
    let task = args.task.as_deref().unwrap_or(TASK);
    let mut env = domain.world.make(alphabet, task, &args.world.options())?;
    let number = u64::from(args.episode) - 1;
    let ask = questions.ask(args);
    let trace =
        explain_episode(&policy, alphabet, env.as_mut(), (args.seed, number), args.steps as usize, &ask)?;
    questions.check(
        &|text| trace.steps.iter().any(|s| mentions(&s.explanation, s.what_if.as_ref(), text)),
        &|asked| find_action(alphabet, env.universe(), asked.action, &asked.names).map(|_| ()),
    )?;
    if let (Some(path), Some(format)) = (&args.picture, format) {
        let theme = if args.dark { Theme::Dark } else { Theme::Light };
        picture::save_episode(&trace, args.step, path, format, theme)?;
        say!("drawn: {}", path.display());
    }
    if args.json {
        print_json(&json!({
            "domain": domain.name,
            "task": task,
            "seed": args.seed,
            "episode": args.episode,
            "policy": policy.display(alphabet).to_string(),
            "steps": trace.steps,
            "end": trace.end,
        }))?;
        return Ok(());
    }
    let show = Show::new(args, &policy, &domain, &questions);
    if let Some(first) = trace.steps.first() {
        print(&show.background(&first.explanation.facts));
    }
    for step in &trace.steps {
        let agent = step.agent.map(|a| format!(" (agent {a})")).unwrap_or_default();
        print(&format!("\n{}", show.state(&format!("step {}{agent}", step.step), &step.explanation.facts)));
        print(&show.decision(&step.explanation, step.reward));
        print(&show.leeway(&step.leeway));
        print(&show.answers(&step.explanation, step.what_if.as_ref()));
    }
    let steps = trace.steps.len();
    let plural = if steps == 1 { "" } else { "s" };
    print(&format!(
        "\n{} after {steps} step{plural}, return {}\n",
        trace.end.status,
        fixed(trace.end.total, 2)
    ));
    Ok(())
}

/// Explains what the policy does in the state of a file.
fn in_state(file: &Path, args: &Explain, policy: &Policy, domain: &Domain, questions: &Questions) -> Outcome {
    let alphabet = &domain.alphabet;
    let source = read_source(file)?;
    let (universe, facts) = match args.task.as_deref() {
        None => {
            let given = parse_state(&source, alphabet)?;
            if let Some(note) = missing_background(policy, alphabet, &given.1) {
                say!("note: {}: {note}", source.name);
            }
            given
        }
        Some(task) => {
            let mut env = domain.world.make(alphabet, task, &args.world.options())?;
            let (mut world, _) = derrl_learn::episode_streams(args.seed, u64::from(args.episode) - 1);
            env.reset(&mut world);
            let facts = changed(env.as_ref(), alphabet, &source)?;
            (Universe::clone(env.universe()), facts)
        }
    };
    let find = |asked: &Asked| find_action(alphabet, &universe, asked.action, &asked.names);
    questions.check(&|_| false, &|asked| find(asked).map(|_| ()))?;
    let laws = if questions.what_if.is_some() { laws_of(policy, domain, args) } else { Laws::default() };
    let explainer = Explainer::new(policy, alphabet).learned_on(questions.scope.as_ref()).under(&laws);
    let asked = questions.ask(args).others.list(alphabet, &universe, None);
    let explain = || explainer.explain(&facts, &universe, &mut Rng::new(args.seed, 0), &asked);
    let explained = bounded(MOST_WORK, explain)?;
    let Some((_, explanation)) = explained else {
        let types: Vec<&str> =
            alphabet.actions.iter().flat_map(|a| &a.args).map(|t| alphabet.types.name(*t)).collect();
        return Err(anyhow::anyhow!(
            "{}: there is nothing to do, since no object here has a type that actions need: {}",
            source.name,
            types.join(", ")
        )
        .into());
    };
    let what_if = questions
        .what_if
        .as_ref()
        .and_then(|asked| find(asked).ok())
        .map(|action| explainer.what_if(&action, &facts, &universe, questions.bounds));
    let leeway = explainer.leeway(&facts, &universe);
    if args.json {
        let objects: Vec<Value> = universe
            .objects()
            .map(|o| json!({"name": universe.name(o).to_string(), "type": alphabet.types.name(universe.type_of(o))}))
            .collect();
        let mut step = serde_json::to_value(&explanation)?;
        step["step"] = 1.into();
        step["leeway"] = serde_json::to_value(&leeway)?;
        if let Some(what_if) = &what_if {
            step["what_if"] = serde_json::to_value(what_if)?;
        }
        print_json(&json!({
            "domain": domain.name,
            "state": source.name,
            "seed": args.seed,
            "objects": objects,
            "policy": policy.display(alphabet).to_string(),
            "steps": [step],
        }))?;
        return Ok(());
    }
    let show = Show::new(args, policy, domain, questions);
    print(&show.background(&explanation.facts));
    print(&format!("\n{}", show.state("state", &explanation.facts)));
    print(&show.decision(&explanation, 0.0));
    print(&show.leeway(&leeway));
    print(&show.answers(&explanation, what_if.as_ref()));
    Ok(())
}

/// What is so in all states of the world that a domain is about, as far as a few episodes tell. A domain file alone has no world.
fn laws_of(policy: &Policy, domain: &Domain, args: &Explain) -> Laws {
    let alphabet = &domain.alphabet;
    let task = args.task.as_deref().unwrap_or(TASK);
    let world = domain.world.make(alphabet, task, &args.world.options());
    let seen = |mut env: Box<dyn Env>| {
        Seen::of_world(&Explainer::new(policy, alphabet), env.as_mut(), args.seed).laws(alphabet)
    };
    world.map(seen).unwrap_or_default()
}

/// What to say where a file leaves out the background that rules speak of, which is easily forgotten.
fn missing_background(policy: &Policy, alphabet: &Alphabet, facts: &Facts) -> Option<String> {
    let used = policy.rules.iter().flat_map(|r| &r.body).filter(|l| l.positive).map(|l| l.pred);
    let is_missing = |pred: &Pred| {
        alphabet.predicate(*pred).role == Role::Background && facts.iter().all(|(p, _)| p != *pred)
    };
    let missing: BTreeSet<Pred> = used.filter(is_missing).collect();
    let names: Vec<String> = missing
        .into_iter()
        .map(|p| alphabet.predicate(p))
        .map(|p| format!("`{}/{}`", p.name, p.args.len()))
        .collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!(
            "no facts of {names}, which rules need; with --task train, such background is that of an instance"
        )
    })
}

/// The facts of an instance, changed as a file says.
fn changed(env: &dyn Env, alphabet: &Alphabet, source: &derrl_logic::Source) -> anyhow::Result<Facts> {
    if let Some(fault) = env.fault() {
        anyhow::bail!("{fault}");
    }
    let mut facts = Facts::new(alphabet);
    observe(env, &mut facts);
    Ok(parse_state_in(source, alphabet, env.universe(), &facts)?)
}

/// Whether a step says anything about an action.
fn mentions(e: &Explanation, what_if: Option<&WhatIf>, action: &str) -> bool {
    e.action == action
        || e.others.iter().any(|o| o.action == action)
        || what_if.is_some_and(|w| w.action == action)
}

/// An action that a question is about.
struct Asked {
    action: Action,
    names: Vec<Constant>,
    text: String,
}

impl Asked {
    fn new(text: &str, alphabet: &Alphabet) -> anyhow::Result<Asked> {
        let (action, names) = parse_ground_action(text, alphabet)?;
        let objects = names.iter().map(|name| (name.clone(), derrl_logic::Types::ANY)).collect();
        // The text as steps show it, whatever its spaces.
        let named = Universe::new(objects);
        let args: Vec<_> = names.iter().filter_map(|name| named.find(name)).collect();
        Ok(Asked { text: named.show_action(alphabet, action, &args), action, names })
    }
}

struct Questions {
    why_not: Option<Asked>,
    what_if: Option<Asked>,
    bounds: Bounds,
    /// What the policy was learned on.
    scope: Option<Scope>,
}

impl Questions {
    fn new(args: &Explain, alphabet: &Alphabet) -> anyhow::Result<Questions> {
        let asked = |text: &Option<String>| text.as_deref().map(|t| Asked::new(t, alphabet)).transpose();
        let bounds = Bounds {
            changes: args.max_changes as usize,
            background: args.any_fact,
            inconsistent: args.any_state,
            ..Bounds::default()
        };
        Ok(Questions { why_not: asked(&args.why_not)?, what_if: asked(&args.what_if)?, bounds, scope: None })
    }

    fn ask(&self, args: &Explain) -> Ask {
        let why_not = self.why_not.as_ref().map(|asked| (asked.action, asked.names.clone()));
        let others = match why_not {
            _ if args.json => Others::First(MOST_OTHERS, why_not),
            None => Others::None,
            Some((action, names)) => Others::One(action, names),
        };
        let what_if = match &self.what_if {
            None => WhatIfs::None,
            Some(asked) => WhatIfs::One(asked.action, asked.names.clone()),
        };
        Ask { others, what_if, leeway: true, bounds: self.bounds, until: None, scope: self.scope.clone() }
    }

    /// An error if an action that is asked about came up nowhere (`seen`) and does not exist (`find`).
    fn check(
        &self,
        seen: &dyn Fn(&str) -> bool,
        find: &dyn Fn(&Asked) -> Result<(), String>,
    ) -> anyhow::Result<()> {
        for (option, asked) in [("--why-not", &self.why_not), ("--what-if", &self.what_if)] {
            if let Some(asked) = asked.as_ref().filter(|asked| !seen(&asked.text)) {
                find(asked).map_err(|e| anyhow::anyhow!("{option}: {e}"))?;
            }
        }
        Ok(())
    }
}

/// Explanations as short text.
struct Show<'a> {
    paint: Paint,
    alphabet: &'a Alphabet,
    questions: &'a Questions,
    policy: &'a Policy,
    words: &'a str,
    /// The rules that were read out: once is enough.
    read_out: RefCell<BTreeSet<usize>>,
}

impl<'a> Show<'a> {
    fn new(args: &Explain, policy: &'a Policy, domain: &'a Domain, questions: &'a Questions) -> Show<'a> {
        let (alphabet, words) = (domain.alphabet.as_ref(), domain.world.wording());
        let (paint, read_out) = (Paint::stdout(args.color), RefCell::default());
        Show { paint, alphabet, questions, policy, words, read_out }
    }

    /// A rule in English, where it fires for the first time.
    fn in_english(&self, rule: usize) -> String {
        let rule = rule - 1;
        if !self.read_out.borrow_mut().insert(rule) {
            return String::new();
        }
        let text = English::new(self.alphabet, self.words).rule(&self.policy.rules[rule]);
        self.paint.faint(&wrap(&text, "          ", WIDTH))
    }

    fn is_background(&self, fact: &str) -> bool {
        let name = fact.split('(').next().unwrap_or_default();
        self.alphabet.predicates.iter().any(|p| p.role == Role::Background && p.name == name)
    }

    fn background(&self, facts: &[String]) -> String {
        let fixed: Vec<&str> = facts.iter().map(String::as_str).filter(|f| self.is_background(f)).collect();
        if fixed.is_empty() {
            String::new()
        } else {
            flow("background:", &self.paint.faint("background:"), &some(&fixed, 12), "  ")
        }
    }

    fn state(&self, title: &str, facts: &[String]) -> String {
        let changing: Vec<&str> =
            facts.iter().map(String::as_str).filter(|f| !self.is_background(f)).collect();
        let title = format!("{title}:");
        flow(&title, &self.paint.faint(&title), &some(&changing, 40), "  ")
    }

    fn decision(&self, e: &Explanation, reward: f64) -> String {
        let paint = self.paint;
        let reward = if reward == 0.0 { String::new() } else { format!("   reward {reward:.2}") };
        let why = match &e.fired {
            None => format!("{}\n", paint.unsure("no rule fires: any action may be chosen")),
            Some(m) => {
                let derived =
                    m.because.iter().flat_map(|line| ["            ", line, "\n"]).collect::<String>();
                let body: Vec<Piece> = m.body.iter().map(|b| (b.clone(), paint.good(b))).collect();
                let since = flow("          since", "          since", &body, "            ");
                let derived = format!("{}{derived}", show_readings(m, |_| true));
                let english = self.in_english(m.rule);
                format!(
                    "because {}\n{english}{}{since}{derived}",
                    paint.rule(&m.text),
                    show_substitution(m).trim_start_matches('\n').to_owned()
                        + if m.substitution.is_empty() { "" } else { "\n" }
                )
            }
        };
        let others: Vec<&str> = e.ties.iter().map(String::as_str).filter(|t| *t != e.action).collect();
        let ties = if e.fired.is_none() || others.is_empty() {
            String::new()
        } else {
            let title = format!("  {}", paint.unsure("ties with"));
            flow("  ties with", &title, &some(&others, 12), "    ")
        };
        let mut shield = String::new();
        if let Some(m) = &e.forced {
            let _ = writeln!(
                shield,
                "  {} by {}{}",
                paint.bad("every action is forbidden, this one of the least bad"),
                paint.rule(&m.text),
                show_substitution(m)
            );
        }
        for f in e.forbidden.iter().filter(|f| f.action != e.action) {
            let (rule, substitution) = (paint.rule(&f.by.text), show_substitution(&f.by));
            let _ = writeln!(shield, "  {} {} by {rule}{substitution}", paint.bad("forbidden:"), f.action);
        }
        let outside = e.outside.iter().map(|o| format!("  {} {o}\n", paint.unsure("outside what it knows:")));
        let outside: String = outside.collect();
        format!("  {}{reward}\n  {why}{ties}{shield}{outside}", paint.strong(&e.action))
    }

    /// How far the numbers may be off that have the least room.
    fn leeway(&self, all: &[Leeway]) -> String {
        if all.is_empty() {
            return String::new();
        }
        let words: Vec<String> = all.iter().take(FEW_NUMBERS).map(Leeway::words).collect();
        let more = all.len().saturating_sub(FEW_NUMBERS);
        let more = (more > 0).then(|| format!("... {more} more"));
        let pieces: Vec<Piece> = words.into_iter().chain(more).map(|text| (text.clone(), text)).collect();
        flow("  so decided while", &self.paint.faint("  so decided while"), &pieces, "    ")
    }

    fn answers(&self, e: &Explanation, what_if: Option<&WhatIf>) -> String {
        let why_not = match &self.questions.why_not {
            Some(asked) if e.action == asked.text => format!("  {} is what was chosen\n", asked.text),
            Some(asked) => {
                let why = e.others.iter().find(|w| w.action == asked.text);
                why.map(|why| show_why_not(why, self.paint)).unwrap_or_default()
            }
            None => String::new(),
        };
        let what_if = what_if.map(|asked| self.what_if(asked)).unwrap_or_default();
        format!("{why_not}{what_if}")
    }

    fn what_if(&self, asked: &WhatIf) -> String {
        let now = match asked.now {
            Standing::Alone => return format!("  {} is chosen as things are\n", asked.action),
            Standing::Tie => format!("  {} ties as things are\n", asked.action),
            Standing::AnyAction => format!("  {} may be chosen as things are: no rule fires\n", asked.action),
            Standing::Beaten => String::new(),
        };
        let chosen = self.found(&format!("for {}", asked.action), &asked.chosen);
        // One answer is enough where both are the same.
        let alone = match (&asked.chosen, &asked.alone) {
            (chosen, alone) if chosen == alone => String::new(),
            (_, alone) => self.found(&format!("for {} alone", asked.action), alone),
        };
        let silent = asked.silent.as_ref().map(|change| self.change("or", change)).unwrap_or_default();
        let numbers: String = asked.numbers.iter().map(|n| self.number(&asked.action, n)).collect();
        match asked.chosen {
            // A number does it where facts do not.
            Found::Impossible if !numbers.is_empty() => format!("{now}{numbers}"),
            _ => format!("{now}{chosen}{alone}{silent}{numbers}"),
        }
    }

    fn number(&self, action: &str, change: &NumberChange) -> String {
        let NumberChange { of, now, words, fired, .. } = change;
        let paint = self.paint;
        let then = fired.as_ref().map(|m| format!("then {}{}", paint.rule(&m.text), show_substitution(m)));
        let to = paint.good(&format!("{of} were {words}"));
        format!("  for {action}: if {to} (it is {})\n          {}\n", Number(*now), then.unwrap_or_default())
    }

    fn found(&self, what: &str, found: &Found) -> String {
        let none = |why: &str| {
            let text = wrap(&format!("{what}: {why}"), "    ", WIDTH);
            format!("  {}\n", self.paint.bad(text.trim()))
        };
        match found {
            Found::Already => String::new(),
            Found::Found(change) => self.change(what, change),
            Found::Impossible if self.questions.bounds.background => none("no change of facts does it"),
            Found::Impossible => none(
                "no change of state facts to a state that can be does it (--any-fact lets background facts change, too; \
                 --any-state shows states that cannot be)",
            ),
            Found::Unreachable => none("no state that can be reached does it"),
            Found::Beyond { changes } => {
                let facts = count(*changes);
                none(&format!(
                    "no change of up to {facts} to a state that can be does it; larger ones were not tried \
                     (--max-changes)"
                ))
            }
            Found::GaveUp { changes: 0 } => none("the search for a change took too long"),
            Found::GaveUp { changes } => {
                let facts = count(*changes);
                none(&format!("no change of up to {facts} does it; the search for larger ones took too long"))
            }
        }
    }

    fn change(&self, what: &str, change: &Change) -> String {
        let paint = self.paint;
        let removed = change.removed.iter().map(|f| format!("- {f}")).map(|f| (f.clone(), paint.bad(&f)));
        let added = change.added.iter().map(|f| format!("+ {f}")).map(|f| (f.clone(), paint.good(&f)));
        let all: Vec<Piece> = removed.chain(added).collect();
        let title = format!("  {what}, change {}:", count(all.len()));
        let then = match (&change.fired, change.standing) {
            (None, _) => paint.unsure("then no rule fires: any action may be chosen"),
            (Some(m), standing) => {
                let ties: Vec<&str> = change.ties.iter().map(String::as_str).collect();
                let tie = match standing {
                    Standing::Alone => String::new(),
                    _ => format!("\n          {} {}", paint.unsure("tied with"), list(&ties, 6)),
                };
                format!("then {}{}{tie}", paint.rule(&m.text), show_substitution(m))
            }
        };
        let breaks = if change.breaks.is_empty() {
            String::new()
        } else {
            let axioms: Vec<String> = change.breaks.iter().map(|axiom| format!("`{axiom}`")).collect();
            let note = format!("(no state of this world: it breaks {})", axioms.join(" and "));
            format!("\n          {}", paint.faint(&note))
        };
        format!("{}          {then}{breaks}\n", flow(&title, &title, &all, "            "))
    }
}

/// Text, and the same in colour.
type Piece = (String, String);

/// The first few of these, and how many more there are.
fn some(all: &[&str], most: usize) -> Vec<Piece> {
    let more = all.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("... {more} more"));
    all.iter().take(most).map(ToString::to_string).chain(more).map(|text| (text.clone(), text)).collect()
}

/// A title (and the same in colour) with pieces after it, in lines that fit the terminal and are broken between pieces.
fn flow(title: &str, painted: &str, pieces: &[Piece], indent: &str) -> String {
    let mut text = painted.to_string();
    let mut column = title.chars().count();
    for (i, (plain, painted)) in pieces.iter().enumerate() {
        let comma = if i + 1 < pieces.len() { "," } else { "" };
        let width = plain.chars().count() + comma.len();
        if column + 1 + width > WIDTH {
            text.push('\n');
            text.push_str(indent);
            column = indent.len();
        } else {
            text.push(' ');
            column += 1;
        }
        text.push_str(painted);
        text.push_str(comma);
        column += width;
    }
    text.push('\n');
    text
}

/// What the variables of a rule stand for, on a line of its own.
pub fn show_substitution(m: &Match) -> String {
    let pairs: Vec<String> = m.substitution.iter().map(|(v, o)| format!("{v} = {o}")).collect();
    if pairs.is_empty() { String::new() } else { format!("\n          with {}", pairs.join(", ")) }
}

/// The numbers that a rule compares, those that are asked for, a line each.
fn show_readings(m: &Match, asked: impl Fn(&Reading) -> bool) -> String {
    let lines = m.readings.iter().filter(|r| asked(r));
    lines.flat_map(|r| ["            ", r.words.as_str(), "\n"]).collect()
}

/// Why an action was not chosen.
pub fn show_why_not(why: &WhyNot, paint: Paint) -> String {
    let WhyNot { action, value, nearest, failed, .. } = why;
    let rule = nearest
        .as_ref()
        .map(|m| format!("{}{}", paint.rule(&m.text), show_substitution(m)))
        .unwrap_or_default();
    let not = format!("  not {action}:");
    match why.reason {
        Reason::Tie => format!("{not} {}\n", paint.unsure("it ties, and chance chose another")),
        Reason::Weaker => format!("{not} its value is only {value:.2}\n          by {rule}\n"),
        Reason::Illegal => format!("{not} it is not legal in this state\n"),
        Reason::Forbidden => format!("{not} {}\n          by {rule}\n", paint.bad("it is forbidden")),
        Reason::NoRule => format!("{not} no rule is about it\n"),
        Reason::Failed => {
            let numbers = nearest.as_ref().map(|m| show_readings(m, |r| !r.holds)).unwrap_or_default();
            let failed = paint.bad(&failed.join(", "));
            format!("{not} these conditions fail: {failed}\n{numbers}          in {rule}\n")
        }
    }
}

fn count(facts: usize) -> String {
    format!("{facts} fact{}", if facts == 1 { "" } else { "s" })
}
