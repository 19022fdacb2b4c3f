//! Names as a report writes them.

/// An agent's name as the paper writes it.
pub fn shown(agent: &str) -> String {
    if agent == "random" { capital(agent) } else { agent.to_uppercase() }
}

/// With a capital first letter.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
