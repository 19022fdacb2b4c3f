//! What a shell and `man` want to know about the commands.

use clap::CommandFactory;

use crate::args::{Args, Completions};
use crate::failure::Outcome;
use crate::output::print_file;

/// Prints a completion script.
pub fn completions(args: &Completions) {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "derrl", &mut script);
    print_file(&String::from_utf8_lossy(&script));
}

/// Prints the manual page: the command, then each of its commands.
pub fn manual() -> Outcome {
    let mut command = Args::command();
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for sub in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        let man = clap_mangen::Man::new(sub.clone());
        page.extend_from_slice(format!(".SH \"DERRL {}\"\n", sub.get_name().to_uppercase()).as_bytes());
        man.render_description_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    print_file(&String::from_utf8_lossy(&page));
    Ok(())
}
