//! The whole command line with this world in it: `cargo run --release -- train delivery`.

fn main() -> std::process::ExitCode {
    derrl_cli::main_with(delivery::world())
}
