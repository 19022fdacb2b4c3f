//! An edited policy: parsed, acting, scored, verified, and compared with the learned one.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use derrl::domain::{Domain, read_source};
use derrl::runs::RunFolder;
use derrl::runs::page::subject;
use derrl::shell::quoted;
use derrl_env::{Env, Rng, Size};
use derrl_learn::{Everywhere, Monitor, Score, cores, evaluate, evaluate_while};
use derrl_logic::{Alphabet, How, Literal, Policy, Role, Rule, Source, Type, bounded};
use derrl_pages::{Extent, Verification, small, try_out};
use serde::Deserialize;
use serde_json::{Value, json};

/// What a page asks for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// The label of the run.
    pub run: String,
    /// The text of the policy.
    pub policy: String,
    /// Which episode to show, from 1; a telling one where none is asked for.
    #[serde(default)]
    pub episode: Option<u64>,
}

/// Rules of a policy that is tried, conditions of each, and bytes of its text, at the most: what can be tried at once.
const MOST_RULES: usize = 40;
const MOST_ATOMS: usize = 14;
const MOST_BYTES: usize = 32 * 1024;
/// Ways for the variables of a rule to stand for objects, at the most: a single decision may have to look at each of them.
const MOST_WAYS: f64 = 1e8;
/// The same for a definition, whose instances are all kept.
const MOST_KEPT: f64 = 1e5;
/// Facts that are tried for conditions while scoring, telling an episode, verifying and comparing, at the most, each: some seconds.
const MOST_TRIED: u64 = 200_000_000;
/// Objects that the instances of a verification have at least.
const OBJECTS: usize = 12;
/// Episodes per score, where the time is enough.
const EPISODES: usize = 40;
/// How long verifying and comparing may take, each, and half of what scoring may take.
const PATIENCE: Duration = Duration::from_secs(4);

/// Stops when its time is up.
struct Deadline(Instant);

impl Monitor for Deadline {
    fn walked(&mut self, _size: &Size, _done: u64) {}

    fn interrupted(&mut self) -> bool {
        Instant::now() > self.0
    }
}

/// What a playground begins with: the text of the learned policy.
pub fn start(folder: &RunFolder, label: &str) -> anyhow::Result<Value> {
    let mut domain = playable(folder)?;
    let learned = learned(folder, &mut domain)?;
    Ok(json!({
        "run": label,
        "domain": domain.name,
        "world": domain.world.name(),
        "summary": domain.world.summary(),
        "policy": learned.display(&domain.alphabet).to_string(),
        "vocabulary": vocabulary(&domain.alphabet),
    }))
}

/// What rules may say: each word with how it is written, and what it is.
fn vocabulary(alphabet: &Alphabet) -> Vec<Value> {
    let written = |name: &str, types: &[Type]| {
        let types: Vec<&str> = types.iter().map(|t| alphabet.types.name(*t)).collect();
        if types.is_empty() { name.to_string() } else { format!("{name}({})", types.join(", ")) }
    };
    let word = |name: &str, types: &[Type], kind: &str| json!({ "name": name, "arity": types.len(), "written": written(name, types), "kind": kind });
    let actions = alphabet.actions.iter().map(|a| word(&a.name, &a.args, "action"));
    let kind = |role: Role| match role {
        Role::State => "state",
        Role::Background => "background",
        _ => "derived",
    };
    let named = alphabet.predicates.iter().filter(|p| p.role.is_named());
    let predicates = named.map(|p| word(&p.name, &p.args, kind(p.role)));
    let measures = alphabet.measures.iter().map(|m| word(&m.name, &m.args, "number"));
    actions.chain(predicates).chain(measures).collect()
}

/// The domain of a run, if its policies can be tried at once.
pub fn playable(folder: &RunFolder) -> anyhow::Result<Domain> {
    let domain = folder.domain()?;
    let task = folder.task(&domain)?;
    let env = domain.world.make(&domain.alphabet, &task.name, &folder.config.options)?;
    if env.simulator().is_some() {
        bail!(
            "policies of `{}` are tried in a simulator, which takes too long for a playground",
            domain.world.name()
        );
    }
    Ok(domain)
}

/// The learned policy; what it defines joins the alphabet of the domain.
fn learned(folder: &RunFolder, domain: &mut Domain) -> anyhow::Result<Policy> {
    if !folder.is_finished() {
        bail!("the run is not finished: there is no policy yet");
    }
    let (policy, alphabet) = Policy::read_beside(&read_source(&folder.policy_path())?, &domain.alphabet)?;
    domain.alphabet = alphabet;
    Ok(policy)
}

/// Tries a policy: what it does, as a page shows a run; or where its text is wrong.
pub fn attempt(folder: &RunFolder, asked: &Attempt) -> anyhow::Result<Value> {
    let mut domain = playable(folder)?;
    if asked.policy.len() > MOST_BYTES {
        bail!("the policy is too long to be tried here: {MOST_BYTES} bytes at the most");
    }
    let source = Source::new("policy", asked.policy.as_str());
    let policy = match Policy::read(&source, &domain.alphabet) {
        Ok((policy, alphabet)) => {
            domain.alphabet = alphabet;
            policy
        }
        Err(error) => return Ok(json!({ "error": located(&error) })),
    };
    if policy.rules.len() > MOST_RULES || policy.rules.iter().any(|r| r.body.len() > MOST_ATOMS) {
        bail!("at most {MOST_RULES} rules of {MOST_ATOMS} conditions each can be tried here");
    }
    let task = folder.task(&domain)?;
    let options = folder.config.options.of(task);
    let alphabet = &domain.alphabet;
    let mut env = domain.world.make(alphabet, &task.name, &options)?;
    env.reset(&mut Rng::new(folder.config.seed, 0));
    let objects = env.universe().len().max(OBJECTS);
    if policy.rules.iter().any(|rule| ways(variables(rule, alphabet), objects) > MOST_WAYS) {
        bail!("a rule has too many variables to be tried here: each may stand for {objects} objects");
    }
    // They are all looked at in every decision.
    if defining(alphabet).map(|variables| ways(variables, objects)).sum::<f64>() > MOST_KEPT {
        bail!(
            "the definitions have too many variables to be tried here: each may stand for {objects} objects"
        );
    }
    let score = || score(&policy, alphabet, env.as_mut(), folder.config.seed);
    let score = bounded(MOST_TRIED, score)??;
    let scores = derrl::score::to_json(&[(task.name.clone(), score)]);
    let until = Some(Instant::now() + PATIENCE);
    let only = asked.episode.and_then(|number| number.checked_sub(1));
    let extent = Extent { episodes: 1, steps: 60, played: 1, curves: 0, until, only };
    let place = quoted(folder.path());
    let tried = subject(folder, &domain, &policy, &place);
    let mut told = bounded(MOST_TRIED, || try_out(&tried, &scores, extent))??;
    let deadline = || Deadline(Instant::now() + PATIENCE);
    let found = bounded(MOST_TRIED, || Verification::of_policy(&tried, &mut deadline()));
    let found = found.unwrap_or_else(|error| Verification::Never { reason: error.message.clone() });
    told["verification"] = serde_json::to_value(found)?;
    let learned = learned(folder, &mut domain)?;
    let differs = bounded(MOST_TRIED, || difference(&domain, &learned, &policy, &mut deadline()));
    told["difference"] = differs.unwrap_or_else(|_| Ok(json!({ "state": "never" })))?;
    Ok(told)
}

/// How many variables a rule has.
fn variables(rule: &Rule, alphabet: &Alphabet) -> usize {
    let in_body = rule.body.iter().flat_map(Literal::vars).map(|v| v.0 as usize + 1).max().unwrap_or(0);
    in_body.max(alphabet.action(rule.action).args.len())
}

/// How many variables each definition of a policy has; those of the domain are known to be good.
fn defining(alphabet: &Alphabet) -> impl Iterator<Item = usize> {
    let own = alphabet.definitions().iter().filter(|d| d.pred.0 as usize >= alphabet.of_domain);
    own.map(|d| match &d.how {
        How::Clause(clause) => clause.variables,
        How::Compare(_) => alphabet.predicate(d.pred).args.len(),
        // A way from one to the other goes by a third.
        How::Closure { .. } | How::Distance { .. } => alphabet.predicate(d.pred).args.len() + 1,
    })
}

/// In how many ways so many variables can stand for different objects.
fn ways(variables: usize, objects: usize) -> f64 {
    (0..variables).map(|taken| objects.saturating_sub(taken).max(1) as f64).product()
}

/// The score over [`EPISODES`] episodes, or over as many as there is time for.
fn score(policy: &Policy, alphabet: &Alphabet, env: &mut dyn Env, seed: u64) -> anyhow::Result<Score> {
    let end = Instant::now() + PATIENCE;
    let mut done = 0;
    let mut go_on = |episodes| {
        done = episodes;
        Instant::now() < end
    };
    Ok(match evaluate_while(policy, alphabet, env, EPISODES, seed, &mut go_on)? {
        Some(score) => score,
        None => evaluate(policy, alphabet, env, done, seed)?,
    })
}

/// Where in the text an error is, and how it is drawn with a caret.
fn located(error: &derrl_logic::Error) -> Value {
    let place = error.place.as_ref();
    json!({
        "message": error.message,
        "drawn": error.to_string(),
        "line": place.map(|p| p.line),
        "column": place.map(|p| p.column),
        "start": place.map(|p| p.span.start),
        "end": place.map(|p| p.span.end),
        "help": error.help,
    })
}

/// Whether the policy decides as the learned one does, in every state of small instances; else a first state in which it does not.
fn difference(
    domain: &Domain,
    learned: &Policy,
    policy: &Policy,
    monitor: &mut dyn Monitor,
) -> anyhow::Result<Value> {
    // The states of a problem are not counted before they are walked, and may be many.
    let walkable = !domain.world.is_chosen();
    let small = || small(&domain.world, &domain.alphabet, &[learned, policy]);
    let Some(extent) = walkable.then(small).transpose()?.flatten() else {
        return Ok(json!({ "state": "never" }));
    };
    let everywhere =
        Everywhere::new(&domain.alphabet, &domain.world, &extent, cores()).context("cannot compare")?;
    Ok(match everywhere.compare(learned, policy, monitor) {
        None => json!({ "state": "never" }),
        Some(compared) => match compared.difference {
            None => json!({ "state": "same", "states": compared.states }),
            Some(found) => json!({ "state": "different", "states": compared.states, "found": found }),
        },
    })
}
