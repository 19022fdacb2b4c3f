//! The `derrl` command.

fn main() -> std::process::ExitCode {
    derrl_cli::main_with([])
}
