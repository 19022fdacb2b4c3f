//! The `derrl` command.

fn main() -> std::process::ExitCode {
    derrl::cli::main_with([])
}
