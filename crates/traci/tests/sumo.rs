//! The real program. Without it these tests fail, and say how to install it.

use derrl_traci::{
    Batch, Client, Controller, DemandSpec, Domain, Error, Fault, Layout, Lights, Network, Node, Options,
    Patience, Process, Simulation, Sumo, Value, Variable, alone,
};

fn sumo() -> Sumo {
    Sumo::find().unwrap_or_else(|error| panic!("{error}"))
}

fn five() -> (Sumo, Network) {
    let sumo = sumo();
    let network = Network::build(&sumo, &Layout::five()).unwrap();
    (sumo, network)
}

fn short() -> DemandSpec {
    DemandSpec { horizon: 200, ..DemandSpec::default() }
}

fn int(client: &mut Client, domain: Domain, variable: Variable, object: &str) -> u32 {
    client.get(domain, variable, object).unwrap().as_int().unwrap().try_into().unwrap()
}

/// All queues of an episode under a fixed sequence of decisions.
fn trace(simulation: &mut Simulation) -> Vec<Vec<Vec<u32>>> {
    let mut trace = Vec::new();
    for round in 0.. {
        if simulation.is_over() {
            break;
        }
        let lanes: Vec<_> = simulation.network().intersections().iter().map(|i| i.lanes.len()).collect();
        for (i, n) in lanes.into_iter().enumerate() {
            simulation.decide(i, (round + i) % n).unwrap();
        }
        simulation.advance().unwrap();
        trace.push(simulation.queues().to_vec());
    }
    trace
}

#[test]
fn simulations_and_networks_can_go_to_other_threads() {
    fn goes<T: Send + Sync + 'static>() {}
    goes::<Simulation>();
    goes::<Network>();
}

#[test]
fn the_version_found_is_the_version_that_answers() {
    let (sumo, network) = five();
    let mut simulation = Simulation::start(&sumo, &network, &short(), 0).unwrap();
    let (_, name) = simulation.process().client().version().unwrap();
    assert_eq!(name, format!("SUMO {}", sumo.version));
}

#[test]
fn the_lights_control_what_the_network_says() {
    for layout in [Layout::five(), Layout::eight()] {
        let sumo = sumo();
        let network = Network::build(&sumo, &layout).unwrap();
        assert_eq!(network.intersections().len(), layout.len());
        let mut simulation = Simulation::start(&sumo, &network, &short(), 0).unwrap();
        for (i, intersection) in network.intersections().iter().enumerate() {
            let client = simulation.process().client();
            let got = client.get(Domain::TrafficLight, Variable::CONTROLLED_LANES, &intersection.id).unwrap();
            // SUMO lists the lane of each signal.
            let mut expected = vec![String::new(); intersection.signals];
            for lane in &intersection.lanes {
                assert_eq!(lane.road.to, Node::Intersection(i));
                for &signal in &lane.signals {
                    expected[signal].clone_from(&lane.id);
                }
            }
            assert_eq!(got, Value::Strings(expected));
        }
    }
}

#[test]
fn subscriptions_tell_what_polling_tells() {
    let (sumo, network) = five();
    let mut simulation = Simulation::start(&sumo, &network, &short(), 1).unwrap();
    let mut seen = 0;
    for round in 0..20 {
        for (i, intersection) in network.intersections().iter().enumerate() {
            simulation.decide(i, round % intersection.lanes.len()).unwrap();
        }
        simulation.advance().unwrap();
        let (queues, traffic) = (simulation.queues().to_vec(), simulation.traffic());
        let client = simulation.process().client();
        for (intersection, queues) in network.intersections().iter().zip(&queues) {
            for (lane, &queue) in intersection.lanes.iter().zip(queues) {
                assert_eq!(int(client, Domain::Lane, Variable::HALTING, &lane.id), queue);
                assert!(queue <= lane.capacity());
                seen += queue;
            }
            let green = &intersection.lanes[round % intersection.lanes.len()].green;
            let signals = client.get(Domain::TrafficLight, Variable::SIGNALS, &intersection.id).unwrap();
            assert_eq!(signals.as_str(), Some(green.as_str()));
        }
        let time = client.get(Domain::Simulation, Variable::TIME, "").unwrap();
        assert_eq!(time, Value::Double(f64::from(10 * (round as u32 + 1))));
        let pending = client.get(Domain::Simulation, Variable::PENDING, "").unwrap();
        let Value::Strings(pending) = pending else { panic!("{pending:?}") };
        assert_eq!(pending.len(), traffic.waiting);
        let Value::Strings(running) = client.get(Domain::Vehicle, Variable::IDS, "").unwrap() else {
            panic!()
        };
        assert_eq!(running.len(), traffic.running);
    }
    assert!(seen > 0, "no queue in 200 s: nothing was compared");
}

#[test]
fn an_interval_averages_over_its_seconds() {
    let (sumo, network) = five();
    let options = Options { interval: 1, yellow: 0, lights: Lights::FixedTime, ..Options::default() };
    let mut by_second = Simulation::start_with(&sumo, &network, &short(), 2, options).unwrap();
    let options = Options { interval: 50, ..options };
    let mut by_fifty = Simulation::start_with(&sumo, &network, &short(), 2, options).unwrap();
    for _ in 0..4 {
        let mut sums: Vec<Vec<f64>> =
            network.intersections().iter().map(|i| vec![0.0; i.lanes.len()]).collect();
        for _ in 0..50 {
            by_second.advance().unwrap();
            for (sum, queue) in sums.iter_mut().flatten().zip(by_second.queues().iter().flatten()) {
                *sum += f64::from(*queue);
            }
        }
        let interval = by_fifty.advance().unwrap();
        assert_eq!(by_fifty.queues(), by_second.queues());
        for (i, sums) in sums.iter().enumerate() {
            let means: Vec<_> = sums.iter().map(|sum| sum / 50.0).collect();
            assert_eq!(interval.mean_queues[i], means);
            assert_eq!(interval.reward(i), -means.iter().sum::<f64>() / means.len() as f64);
        }
    }
}

#[test]
fn a_seed_decides_everything_in_a_new_process_and_in_a_used_one() {
    let (sumo, network) = five();
    let mut simulation = Simulation::start(&sumo, &network, &short(), 5).unwrap();
    let first = trace(&mut simulation);
    let process = simulation.process().id();
    simulation.restart(6).unwrap();
    assert_eq!((simulation.time(), simulation.seed()), (0, 6));
    assert_ne!(trace(&mut simulation), first);
    simulation.restart(5).unwrap();
    assert_eq!(trace(&mut simulation), first);
    assert_eq!(simulation.process().id(), process, "a restart needs no new process");
    assert_eq!(trace(&mut Simulation::start(&sumo, &network, &short(), 5).unwrap()), first);
}

#[test]
fn simulations_side_by_side_do_not_disturb_each_other() {
    let (sumo, network) = five();
    let run = |seed| trace(&mut Simulation::start(&sumo, &network, &short(), seed).unwrap());
    let one_by_one: Vec<_> = (0..4).map(run).collect();
    let together: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|seed| scope.spawn(move || run(seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(together, one_by_one);
}

#[test]
fn our_traffic_is_that_of_sumo_alone() {
    let (sumo, network) = five();
    for controller in [Controller::FixedTime, Controller::Actuated] {
        let ours = controller.run(&sumo, &network, &short(), 3, Options::default()).unwrap();
        let theirs = alone(&sumo, &network, controller.lights(), &short(), 3).unwrap();
        assert_eq!(ours.traffic.running, theirs.running);
        assert_eq!(ours.traffic.arrived, theirs.inserted - theirs.running);
        assert!(theirs.steps_per_second > 0.0);
    }
}

#[test]
fn good_controllers_have_short_queues() {
    let (sumo, network) = five();
    let queue = |controller: Controller| {
        let run = |seed| controller.run(&sumo, &network, &DemandSpec::default(), seed, Options::default());
        (0..2).map(|seed| run(seed).unwrap().mean_queue()).sum::<f64>()
    };
    let [random, fixed, actuated, longest] = Controller::ALL.map(queue);
    assert!(longest < random / 2.0, "longest-queue-first {longest}, random {random}");
    assert!(longest < fixed, "longest-queue-first {longest}, fixed-time {fixed}");
    assert!(actuated < fixed, "actuated {actuated}, fixed-time {fixed}");
}

#[test]
fn vehicles_never_vanish() {
    let (sumo, network) = five();
    // Twice what random lights can serve, so that some find no room to enter.
    let spec = DemandSpec { vehicles_per_hour: 480.0, ..DemandSpec::default() };
    let outcome = Controller::Random.run(&sumo, &network, &spec, 0, Options::default()).unwrap();
    let trips = derrl_traci::Demand::new(&spec, network.layout(), 0).unwrap().trips().len();
    let traffic = outcome.traffic;
    assert_eq!(traffic.arrived + traffic.running + traffic.waiting, trips);
    assert!(traffic.waiting > 0, "{traffic:?}");
}

#[test]
fn a_refusal_is_quoted_and_survived() {
    let (sumo, network) = five();
    let mut simulation = Simulation::start(&sumo, &network, &short(), 0).unwrap();
    simulation.advance().unwrap();
    let error = simulation
        .process()
        .ask(|client| client.get(Domain::Lane, Variable::HALTING, "nowhere_0"))
        .unwrap_err();
    assert!(matches!(&error, Error::Simulator { fault: Fault::Refused(_), step: 10, .. }), "{error}");
    assert!(error.to_string().contains("nowhere_0"), "{error}");
    simulation.advance().unwrap();
}

#[test]
fn commands_before_a_long_step_are_answered() {
    // SUMO forgets the answers to commands that share a message with a step of several seconds.
    let (sumo, network) = five();
    let mut simulation = Simulation::start(&sumo, &network, &short(), 0).unwrap();
    let light = &network.intersections()[0];
    let mut batch = Batch::new();
    let green = Value::String(light.lanes[0].green.clone());
    batch.set(Domain::TrafficLight, Variable::SIGNALS, &light.id, &green);
    let client = simulation.process().client();
    client.step_to(batch, 100).unwrap();
    assert_eq!(client.get(Domain::TrafficLight, Variable::SIGNALS, &light.id).unwrap(), green);
    assert_eq!(client.get(Domain::Simulation, Variable::TIME, "").unwrap(), Value::Double(100.0));
}

#[test]
fn sending_the_same_signals_again_changes_nothing() {
    let (sumo, network) = five();
    let options = Options { interval: 1, yellow: 0, ..Options::default() };
    let run = |again: bool| {
        let mut simulation = Simulation::start_with(&sumo, &network, &short(), 4, options).unwrap();
        let mut trace = Vec::new();
        while !simulation.is_over() {
            let change = (simulation.time() / 10) as usize;
            for (i, intersection) in network.intersections().iter().enumerate() {
                let lane = change % intersection.lanes.len();
                simulation.decide(i, lane).unwrap();
                if again && simulation.green(i) == Some(lane) {
                    let green = Value::String(intersection.lanes[lane].green.clone());
                    let client = simulation.process().client();
                    client.set(Domain::TrafficLight, Variable::SIGNALS, &intersection.id, &green).unwrap();
                }
            }
            simulation.advance().unwrap();
            trace.push(simulation.queues().to_vec());
        }
        trace
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn wrong_requests_are_refused_without_a_word_to_sumo() {
    let (sumo, network) = five();
    let mut simulation = Simulation::start(&sumo, &network, &short(), 0).unwrap();
    let messages = simulation.process().client().messages();
    assert!(matches!(simulation.decide(5, 0), Err(Error::Invalid(_))));
    assert!(matches!(simulation.decide(0, 3), Err(Error::Invalid(_))));
    assert_eq!(simulation.process().client().messages(), messages);
    let options = Options { lights: Lights::Actuated, ..Options::default() };
    let mut theirs = Simulation::start_with(&sumo, &network, &short(), 0, options).unwrap();
    assert!(matches!(theirs.decide(0, 0), Err(Error::Invalid(_))));
    let options = Options { yellow: 10, ..Options::default() };
    let error = Simulation::start_with(&sumo, &network, &short(), 0, options).unwrap_err().to_string();
    assert_eq!(error, "10 s of yellow leave no green in an interval of 10 s");
}

#[test]
fn an_interval_takes_one_write() {
    let (sumo, network) = five();
    let mut simulation = Simulation::start(&sumo, &network, &short(), 0).unwrap();
    let messages = simulation.process().client().messages();
    for lane in [0, 1, 1] {
        (0..5).for_each(|i| simulation.decide(i, lane).unwrap());
        simulation.advance().unwrap();
    }
    assert_eq!(simulation.process().client().messages(), messages + 3);
}

#[test]
fn wrong_input_is_explained_in_sumos_words() {
    let sumo = sumo();
    let arguments = ["--net-file", "no-such-file.net.xml"].map(str::to_owned);
    let error = Process::start(&sumo, &arguments, Patience::default()).unwrap_err();
    assert!(matches!(error, Error::Start { .. }), "{error}");
    assert!(error.to_string().contains("no-such-file.net.xml"), "{error}");
    // No layout makes netconvert fail, so the simulator takes its place: it knows no node files.
    let confused = Sumo { netconvert: sumo.sumo.clone(), ..sumo };
    let error = Network::build(&confused, &Layout::five()).unwrap_err().to_string();
    assert!(error.contains("could not build the network \"five\""), "{error}");
    assert!(error.contains("node-files"), "{error}");
}
