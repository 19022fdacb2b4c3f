//! Trains agents of the table on a domain and scores them on all of its tasks.
//!
//! ```text
//! cargo run --release -p derrl-learn --example agents -- blocks nlrl,gcn,mlp,random 3 400000
//! ```
//!
//! The arguments are the domain, the agents, the number of seeds, the budget in decisions, and settings of the
//! baselines such as `learning_rate=0.01`; `noise=0.1` sets the world's option, `rules=1` prints what was learned.

use std::time::Instant;

use derrl_env::{Options, find};
use derrl_learn::{
    BaselineConfig, Config, Setup, Silent, TrainingJob, evaluate_agent, find_agent, mean_stderr,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [domain, agents, seeds, decisions, settings @ ..] = args.as_slice() else {
        return Err("usage: agents DOMAIN AGENT,.. SEEDS DECISIONS [SETTING=VALUE]..".into());
    };
    let (seeds, decisions): (u64, u64) = (seeds.parse()?, decisions.parse()?);
    let spec = find(domain)?;
    let alphabet = spec.alphabet();
    let mut options = Options::default();
    let config = Config::default();
    let mut show_rules = false;
    let tasks: Vec<_> = spec.tasks().iter().filter(|t| t.scored).collect();

    for name in agents.split(',') {
        let row = find_agent(name)?;
        let mut learning: Option<BaselineConfig> = row.learning.map(|own| own());
        for setting in settings {
            let (key, value) = setting.split_once('=').ok_or("settings are written KEY=VALUE")?;
            match (key, &mut learning) {
                ("noise", _) => options.noise = Some(value.parse()?),
                ("rules", _) => show_rules = value == "1",
                ("learning_rate", Some(l)) => l.learning_rate = value.parse()?,
                ("gamma", Some(l)) => l.gamma = value.parse()?,
                ("batch", Some(l)) => l.batch = value.parse()?,
                ("entropy", Some(l)) => l.entropy = value.parse()?,
                ("hidden", Some(l)) => l.hidden = value.parse()?,
                ("restarts", Some(l)) => l.restarts = value.parse()?,
                ("init_noise", Some(l)) => l.init_noise = value.parse()?,
                (_, None) => {}
                _ => return Err(format!("unknown setting {key}").into()),
            }
        }
        let make_env = || spec.make(&alphabet, &tasks[0].name, &options);
        let mut means = vec![Vec::new(); tasks.len()];
        let (mut seconds, mut episodes) = (0.0, 0);
        for seed in 0..seeds {
            let setup = Setup {
                alphabet: &alphabet,
                make_env: &make_env,
                config: &config,
                learning: learning.as_ref(),
            };
            let mut agent = (row.make)(&setup)?;
            let start = Instant::now();
            let training = TrainingJob { make_env: &make_env, seed, decisions, threads: 1, watcher: &Silent };
            let Some(trained) = agent.train(&training)? else { continue };
            seconds += start.elapsed().as_secs_f64() / seeds as f64;
            episodes += trained.episodes / seeds;
            for (task, means) in tasks.iter().zip(&mut means) {
                let mut env = spec.make(&alphabet, &task.name, &Options::default())?;
                let episodes = env.cost().episodes();
                means.push(evaluate_agent(agent.as_mut(), env.as_mut(), episodes, 1000)?.mean);
            }
            let scores: Vec<String> = means.iter().map(|m| format!("{:6.3}", m[m.len() - 1])).collect();
            let last = trained.curve.last().map_or(0.0, |p| p.mean_return);
            eprintln!("{name} seed {seed}: trained to {last:.3}, scores {}", scores.join(" "));
            if let (true, Some(rules)) = (show_rules, agent.rules()) {
                eprintln!("{rules}");
            }
        }
        println!("{domain} {name}: {episodes} episodes and {seconds:.1} s a seed");
        for (task, means) in tasks.iter().zip(&means) {
            let (mean, stderr) = mean_stderr(means);
            println!("  {:18} {mean:6.3} ± {stderr:.3}", task.name);
        }
    }
    Ok(())
}
