//! Compares controllers on the same traffic, and the speed of SUMO with and without us:
//!
//! ```text
//! cargo run --release -p derrl-traci --example compare [SEEDS]
//! ```

use std::time::{Duration, Instant};

use derrl_traci::{Controller, DemandSpec, Layout, Network, Options, Simulation, Sumo, alone};

fn main() {
    let seeds = std::env::args().nth(1).map_or(Ok(5), |text| text.parse());
    let Ok(seeds) = seeds else {
        eprintln!("usage: compare [SEEDS]");
        std::process::exit(2);
    };
    if let Err(error) = compare(seeds) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn compare(seeds: u64) -> derrl_traci::Result<()> {
    let sumo = Sumo::find()?;
    let demand = DemandSpec::default();
    println!("SUMO {}, {} vehicles an hour and intersection,", sumo.version, demand.vehicles_per_hour);
    println!("{} s an episode, seeds 0 to {}\n", demand.horizon, seeds.max(1) - 1);
    for layout in [Layout::five(), Layout::eight()] {
        let network = Network::build(&sumo, &layout)?;
        queues(&sumo, &network, &demand, seeds.max(1))?;
        speed(&sumo, &network, &demand)?;
    }
    Ok(())
}

/// The mean queue of each controller over the seeds.
fn queues(sumo: &Sumo, network: &Network, demand: &DemandSpec, seeds: u64) -> derrl_traci::Result<()> {
    let name = network.layout().name();
    println!("{name:<22} queue  lowest highest    of random  arrived  waiting");
    let mut random = None;
    for controller in Controller::ALL {
        let mut runs = Vec::new();
        for seed in 0..seeds {
            runs.push(controller.run(sumo, network, demand, seed, Options::default())?);
        }
        let queues: Vec<f64> = runs.iter().map(derrl_traci::Outcome::mean_queue).collect();
        let mean = queues.iter().sum::<f64>() / seeds as f64;
        let lowest = queues.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = queues.iter().copied().fold(0.0, f64::max);
        let share = mean / *random.get_or_insert(mean);
        let arrived: usize = runs.iter().map(|run| run.traffic.arrived).sum();
        let waiting: usize = runs.iter().map(|run| run.traffic.waiting).sum();
        print!("  {controller:<20}{mean:>6.3}{lowest:>8.3}{highest:>8.3}");
        println!("{share:>13.2}{arrived:>9}{waiting:>9}");
    }
    Ok(())
}

/// The best of five runs each: the machine may have been busy with other things in the others.
fn speed(sumo: &Sumo, network: &Network, demand: &DemandSpec) -> derrl_traci::Result<()> {
    println!("  simulated seconds per second:");
    for controller in Controller::ALL {
        let (mut ours, mut theirs) = (0f64, 0f64);
        let (mut start, mut restart) = (Duration::MAX, Duration::MAX);
        for _ in 0..5 {
            let options = Options { lights: controller.lights(), ..Options::default() };
            let started = Instant::now();
            let mut simulation = Simulation::start_with(sumo, network, demand, 0, options)?;
            start = start.min(started.elapsed());
            ours = ours.max(controller.drive(&mut simulation)?.steps_per_second());
            let started = Instant::now();
            simulation.restart(1)?;
            restart = restart.min(started.elapsed());
            theirs = theirs.max(alone(sumo, network, controller.lights(), demand, 0)?.steps_per_second);
        }
        print!("  {controller:<20}{ours:>6.0}");
        match controller {
            Controller::FixedTime | Controller::Actuated => println!("   SUMO alone {theirs:>6.0}"),
            // Lights that we operate cannot run without us.
            Controller::Random | Controller::LongestQueue => println!(),
        }
        if controller == Controller::LongestQueue {
            println!("  a new process {start:.1?}, a new episode in the same process {restart:.1?}\n");
        }
    }
    Ok(())
}
