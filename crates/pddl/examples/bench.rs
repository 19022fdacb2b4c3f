//! The speed of PDDL problems: `cargo run --release -p derrl-pddl --example bench`.

use derrl_pddl::bench;

fn main() -> Result<(), derrl_logic::Error> {
    println!("small problems, steps per second on one core");
    println!(
        "{:12} {:>7} {:>12} {:>12} {:>12}",
        "domain", "objects", "simulator", "with legal", "environment"
    );
    for s in bench::small(0.5)? {
        println!(
            "{:12} {:7} {:12.0} {:12.0} {:12.0}",
            s.domain, s.objects, s.steps, s.legal_steps, s.env_steps
        );
    }
    println!("\nlarge problems");
    println!(
        "{:12} {:>7} {:>7} {:>9} {:>9} {:>9} {:>7}",
        "domain", "objects", "facts", "load s", "step us", "legal us", "legal"
    );
    for l in bench::large(600, 0.5)? {
        println!(
            "{:12} {:7} {:7} {:9.3} {:9.2} {:9.1} {:7.0}",
            l.domain, l.objects, l.facts, l.load_seconds, l.step_micros, l.legal_micros, l.legal
        );
    }
    let (facts, seconds) = bench::load(20_000)?;
    println!("\n{facts} facts load in {seconds:.3} s");
    Ok(())
}
