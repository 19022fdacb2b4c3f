//! scratch
use derrl_env::*;
use derrl_learn::*;
use std::sync::Arc;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let spec = find(&args[1]).unwrap();
    let seeds: u64 = args[2].parse().unwrap();
    let mut config = Config::default();
    let mut opts = Options::default();
    let mut single = false;
    for kv in &args[3..] {
        let (k, v) = kv.split_once('=').unwrap();
        match k {
            "est" => config.estimator = v.to_string().try_into().unwrap(),
            "base" => config.baseline = v.to_string().try_into().unwrap(),
            "cons" => config.constraints = v.to_string().try_into().unwrap(),
            "tnorm" => config.tnorm = v.to_string().try_into().unwrap(),
            "lsem" => config.lambda_sem = v.parse().unwrap(),
            "gamma" => config.gamma = v.parse().unwrap(),
            "temp" => config.temperature = v.parse().unwrap(),
            "lr" => config.learning_rate = v.parse().unwrap(),
            "updates" => config.updates = v.parse().unwrap(),
            "batch" => config.batch = v.parse().unwrap(),
            "group" => config.group = v.parse().unwrap(),
            "prior" => config.body_prior = v.parse().unwrap(),
            "init" => config.init_noise = v.parse().unwrap(),
            "pull" => config.pull = v.parse().unwrap(),
            "sharpen" => config.sharpen = v.parse().unwrap(),
            "conf" => config.confidence = v.parse().unwrap(),
            "restarts" => config.restarts = v.parse().unwrap(),
            "wave" => config.wave = v.parse().unwrap(),
            "agree" => config.agree = v.parse().unwrap(),
            "noise" => opts.noise = Some(v.parse().unwrap()),
            "single" => single = v == "1",
            _ => panic!("{k}"),
        }
    }
    let alphabet = spec.alphabet();
    let mk0 = make(spec, &alphabet, "train", &opts).unwrap();
    let problem = Arc::new(Problem::new(&alphabet, mk0.learners()).unwrap());
    if single {
        config.restarts = 1;
        config.wave = 1;
        config.agree = 1;
    }
    let mk = || make(spec, &alphabet, "train", &opts);
    let t0 = std::time::Instant::now();
    struct Obs;
    impl Observer for Obs {
        fn finished(&self, seed: u64, c: &Checkpoint, l: &Learned) {
            let steps: u64 = c.done.iter().map(|d| d.steps).sum();
            let rets: Vec<String> =
                c.done.iter().map(|d| format!("{:.3}", mean_stderr(&d.returns).0)).collect();
            eprintln!(
                "seed {seed} restarts {} steps {steps} pick {} {}",
                c.done.len(),
                l.restart,
                rets.join(" ")
            );
        }
    }
    let search = Search::new(&problem, &config, &mk, &Obs);
    let runs = search.run((0..seeds).map(|s| (s, Checkpoint::default())).collect(), 2).unwrap();
    let dt = t0.elapsed().as_secs_f64();
    if std::env::var("TERSE").is_ok() {
        let mut all = vec![];
        for r in runs.iter() {
            let r = r.as_ref().unwrap();
            let mut worst = f64::MAX;
            let mut first = 0.0;
            for (i, t) in spec.tasks.iter().filter(|t| t.scored).enumerate() {
                let mut env = make(spec, &alphabet, t.name, &Options::default()).unwrap();
                let sc = evaluate(&r.policy, &alphabet, env.as_mut(), 200, 1000).unwrap();
                worst = f64::min(worst, sc.mean - sc.best_known);
                if i == 0 {
                    first = sc.mean - sc.best_known;
                }
            }
            all.push((first, worst));
        }
        let ok = all.iter().filter(|a| a.0 > -0.02).count();
        let okw = all.iter().filter(|a| a.1 > -0.03).count();
        println!(
            "{} {:?}: train ok {ok}/{seeds} all tasks ok {okw}/{seeds} mean gap {:.3} time {dt:.2}",
            args[1],
            &args[3..],
            all.iter().map(|a| a.0).sum::<f64>() / seeds as f64
        );
        return;
    }
    for (s, r) in runs.iter().enumerate() {
        let r = r.as_ref().unwrap();
        let mut line = format!("seed {s}:");
        for t in spec.tasks.iter().filter(|t| t.scored) {
            let mut env = make(spec, &alphabet, t.name, &Options::default()).unwrap();
            let sc = evaluate(&r.policy, &alphabet, env.as_mut(), 200, 1000).unwrap();
            line += &format!(" {} {:.3}/{:.3}", t.name, sc.mean, sc.best_known);
        }
        println!("{line}");
        print!("{}", r.policy.display(&alphabet));
    }
    println!("time {dt:.2}s");
}
