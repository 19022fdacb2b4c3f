//! A controller for SUMO: the policy as a Python module, and what operates the lights of a scenario by it.

use std::fmt::Write as _;

use crate::explicit::Explicit;
use crate::{c, python};

/// What reads the traffic, keeps what is safe and does what the policy says.
const DRIVE: &str = include_str!("drive.py");

/// The world whose policies operate lights.
const WORLD: &str = "signals";

/// Why a policy cannot operate lights, where it cannot.
pub(crate) fn lacks(policy: &Explicit<'_>) -> Option<String> {
    let world = policy.alphabet.environment.as_deref();
    (world != Some(WORLD)).then(|| {
        format!("it is for the world `{}`, and lights are those of `{WORLD}`", world.unwrap_or("(none)"))
    })
}

pub(crate) fn write(policy: &Explicit<'_>) -> String {
    let mut text = python::write(policy);
    text.push_str("\n\n# The same policy in C: the fields of its state, its types and actions.\n");
    let layout = c::layout(policy);
    let _ = writeln!(text, "C_FIELDS = [{}]", layout.fields.join(", "));
    let _ = writeln!(text, "C_TYPES = {{{}}}", layout.types.join(", "));
    let _ = writeln!(text, "C_ACTIONS = {{{}}}", layout.actions.join(", "));
    let _ = writeln!(text, "C_ARGUMENTS = {}", layout.arguments);
    text.push_str(DRIVE);
    text
}
