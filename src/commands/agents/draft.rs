//! `ctxgauge agents draft`.

use super::super::Call;
use super::super::options::{AgentOption, Print, Redact, file_of};
use super::super::setup::read_mapping;
use crate::config::UserFile;
use agents::custom;
use anyhow::{Context, Result, bail};
use clap::Args;
use files::output::{Existing, is_same};
use ingest::log::reader::beginning;
use report::session::records;
use report::to_file;
use std::path::{Path, PathBuf};

/// The most bytes of a log that are looked at.
const MOST_BYTES: u64 = 4 << 20;
/// The number of records that the check shows.
const MOST_RECORDS: usize = 20;

/// `ctxgauge agents draft`.
#[derive(Debug, Args)]
pub struct Draft {
    /// The log: each line is a JSON object.
    pub file: PathBuf,
    /// Write the mapping to this file. Default, and `-`: standard output.
    #[arg(short, long, value_name = "NAME.toml")]
    pub output: Option<PathBuf>,
    /// Replace what is there.
    #[arg(long, requires = "output")]
    pub force: bool,
    /// The format of the check.
    #[command(flatten)]
    pub print: Print,
}

impl Draft {
    pub(super) fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let log = self.file.display();
        let bytes = beginning(&self.file, MOST_BYTES);
        let bytes = bytes.with_context(|| format!("cannot read '{log}'"))?;
        let Some(draft) = custom::Draft::of(&String::from_utf8_lossy(&bytes)) else {
            bail!("'{log}': no line at its beginning is a JSON object with a value");
        };
        let output = file_of(self.output.as_deref());
        let path = output.unwrap_or(Path::new("draft.toml")).to_owned();
        let text = draft.mapping.clone();
        let format = read_mapping(&UserFile { path, text })?;
        let setup = call.setup()?;
        let mut context = setup.context(&AgentOption::default(), Redact::OFF)?;
        (context.forced, context.formats) = (Some(format), vec![format]);
        match output {
            None => call.out.write_all(draft.mapping.as_bytes())?,
            Some(path) if is_same(&self.file, path) => {
                bail!("-o names the log itself, which is never written to")
            }
            Some(path) => to_file(path, Existing::replaced_if(self.force), |out| {
                Ok(out.write_all(draft.mapping.as_bytes())?)
            })?,
        }
        // On a terminal, the check comes after the mapping.
        call.out.flush()?;
        let style = self.print.style(call);
        records::run(&context, &self.file, MOST_RECORDS, style, call.err)?;
        for what in draft.missing {
            writeln!(call.err, "missing: {what}")?;
        }
        Ok(())
    }
}
