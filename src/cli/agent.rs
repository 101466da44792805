//! Options about the agent.

use std::path::Path;

use crate::agent::Constraints;
use crate::plan::Diagnostic;
use crate::store::Destination;

use super::args::Args;

/// Returns how the agent holds the keys, or `None` if they do not go to the agent.
///
/// # Errors
///
/// Returns a diagnostic if options contradict each other.
pub(super) fn agent(args: &Args, destination: &Destination) -> Result<Option<Constraints>, Diagnostic> {
    let constraints = Constraints { lifetime: args.lifetime, confirm: args.confirm };
    if args.agent {
        check(args, destination)?;
        return Ok(Some(constraints));
    }
    for (option, is_given) in [("--lifetime", args.lifetime.is_some()), ("--confirm", args.confirm)] {
        if is_given {
            return Err(Diagnostic::new(format!("{option} needs --agent"))
                .hint("add --agent, which adds the key to the running ssh-agent; or leave the option out"));
        }
    }
    Ok(None)
}

/// Refuses options about files if no file is written.
fn check(args: &Args, destination: &Destination) -> Result<(), Diagnostic> {
    if args.output.as_deref() == Some(Path::new("-")) {
        return Err(Diagnostic::new("--agent cannot be used with --output -")
            .hint("--agent --output PATH writes the key to a file and adds it to the agent"));
    }
    if *destination != Destination::Stream {
        return Ok(());
    }
    let options = [
        ("--passphrase", args.passphrase),
        ("--passphrase-file", args.passphrase_file.is_some()),
        ("--format", args.format.is_some()),
    ];
    match options.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Diagnostic::new(format!(
            "{option} needs a file, but --agent alone writes none"
        ))
        .hint("add --output PATH or --output-dir DIR; an agent has no use for a passphrase or a format")),
    }
}
