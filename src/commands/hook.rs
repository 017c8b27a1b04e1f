//! `ctxgauge hook`.
//!
//! An agent waits for it. It therefore never takes longer than it may: what is not done by then is not said, and at the next
//! prompt it is said that something was missed. It ends with 0 whatever happens, since 2 would stop the agent.

mod deadline;

use super::in_time::done_within;
use super::setup::Setup;
use super::statusline::{configuration, read_input};
use super::{Call, Run};
use anyhow::Result;
use clap::Args;
use deadline::Deadline;
use files::paths::User;
use integrations::NoInput;
use integrations::hook::{Event, answer, read};
use model::values::threshold::Threshold;
use report::client::hook::{Duties, note_missed, respond};
use report::client::line::LineProblem;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// `ctxgauge hook`.
#[derive(Debug, Args)]
pub struct Hook {
    /// Block prompts from this size on: tokens (150k) or a share of the trigger (95%). Without this option, the hook never
    /// blocks anything.
    #[arg(long, value_name = "SIZE")]
    pub block_at: Option<Threshold>,
    /// Stop without output after this many milliseconds of processor time, but not before five times as long; after twenty
    /// times as long in any case.
    #[arg(long, value_name = "MS", default_value_t = 50)]
    pub within: u64,
    /// Says whose hook this is where the program has another name: `setup` writes it, and finds the hook again by it.
    #[arg(long, hide = true)]
    pub ctxgauge: bool,
}

/// The output of a hook, and its troubles.
type HookOutput = (Option<String>, Vec<LineProblem>);

/// The progress of a hook.
enum Progress {
    /// It has read what the agent passes.
    Read(Box<Event>),
    /// It is done.
    Done(Result<HookOutput>),
}

impl Run for Hook {
    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let deadline = Deadline::after(Duration::from_millis(self.within));
        let (send, receive) = mpsc::sync_channel(2);
        let (config, user, block_at) = (call.config.clone(), call.user.clone(), self.block_at);
        let (passed, terminals) = (call.take_input(), call.terminals);
        let respond = move || {
            let input = read_input(passed, terminals).and_then(|bytes| read(&bytes));
            if let Ok(Some(event)) = &input {
                // If nobody waits any more, the process ends.
                let _ = send.send(Progress::Read(Box::new(event.clone())));
            }
            let done = respond_to(input, config, &user, block_at);
            send.send(Progress::Done(done))
        };
        thread::Builder::new().spawn(respond)?;
        let mut event = None;
        let done = loop {
            match receive.recv_timeout(deadline.pause()) {
                Ok(Progress::Read(read)) => event = Some(read),
                Ok(Progress::Done(done)) => break done,
                Err(RecvTimeoutError::Timeout) if !deadline.is_over() => {}
                // The thread ends with the process.
                Err(_) => {
                    files::own::leave_unfinished();
                    if let Some(event) = event {
                        let user = call.user.clone();
                        let _ = done_within(deadline.left(), move || note_missed(&user, &event));
                    }
                    return Ok(());
                }
            }
        };
        let (answer, troubles) = done?;
        for trouble in troubles {
            writeln!(call.err, "ctxgauge: {}", trouble.sentence)?;
        }
        if let Some(answer) = answer {
            writeln!(call.out, "{answer}")?;
        }
        Ok(())
    }
}

/// Does what the input is about.
fn respond_to(
    input: Result<Option<Event>, NoInput>,
    config: Option<PathBuf>,
    user: &User,
    block_at: Option<Threshold>,
) -> Result<HookOutput> {
    let event = match input {
        Ok(Some(event)) => event,
        Ok(None) => {
            let sentence = "the input is not that of a hook of an agent that is known here";
            return Ok((None, vec![LineProblem::new("unknown client", sentence)]));
        }
        Err(no) => return Ok((None, vec![LineProblem::new(no.word(), no.to_string())])),
    };
    let (setup, mut troubles) = configuration(Setup::load(config, user), user)?;
    let hooks = &setup.config.hooks;
    let duties = Duties {
        shares: hooks.shares.clone(),
        tells_model: hooks.tell_model,
        block_at,
        reports_compactions: hooks.compactions,
    };
    let context = super::statusline::context(&setup)?;
    let (say, wrong) = respond(&context, &event, &duties);
    troubles.extend(wrong);
    let answer = say.and_then(|say| answer(&event, &say));
    Ok((answer, troubles))
}
