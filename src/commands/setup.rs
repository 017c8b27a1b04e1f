//! Turns options and the configuration into formats, a models table and search roots.

use super::exit::Exit;
use super::locale;
use super::options::{AgentOption, Logs, ManySessions, Redact};
use crate::config::{self, Config, UserFile};
use crate::nearest::nearest;
use agents::custom::Mapping;
use anyhow::{Context, Result, bail};
use files::paths::User;
use formats::Format;
use ingest::discover::roots::{given, usual};
use ingest::index::earlier;
use jiff::tz::TimeZone;
use model::window::{Catalogue, Rules};
use report::output::redact::{PublicNames, Redaction, Redactor};
use report::reading::patience::Patience;
use report::reading::progress::Progress;
use report::{CacheUse, ReportContext};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The configuration and its user.
pub(super) struct Setup {
    pub(super) config: Config,
    /// The configuration file, whether it exists or not.
    pub(super) file: Option<PathBuf>,
    pub(super) user: User,
    /// All formats. The user's mappings come first: they are written for the user's own logs.
    pub(super) formats: Vec<&'static Format>,
    /// The user's models table.
    models: Option<Rules>,
    /// The table of models by provider that the user has imported.
    catalogue: Option<Catalogue>,
    /// The user's mappings that are not valid, each with the problem. The others are used without them.
    pub(super) left_out: Vec<(PathBuf, anyhow::Error)>,
}

impl Setup {
    /// Reads the configuration: the named file, or the default one if it exists.
    pub(super) fn load(named: Option<PathBuf>, user: &User) -> Result<Setup> {
        let default = user.folders.config_file();
        let loaded = config::load(named.as_deref(), default.as_deref())?;
        Setup::of(loaded.config, named.or(default), user)
    }

    /// Returns the setup without a configuration.
    ///
    /// # Errors
    ///
    /// If the program's own tables are wrong.
    pub(super) fn usual(user: &User) -> Result<Setup> {
        Setup::of(Config::default(), None, user)
    }

    /// Reads the files that the configuration names, after it was read from this file.
    pub(super) fn of(config: Config, file: Option<PathBuf>, user: &User) -> Result<Setup> {
        let (mut formats, mut left_out) = (Vec::new(), Vec::new());
        for (path, mapping) in config::mappings(file.as_deref())? {
            match mapping.and_then(|mapping| read_mapping(&mapping)) {
                Ok(format) => formats.push(format),
                Err(error) => left_out.push((path, error)),
            }
        }
        formats.extend(agents::ALL.iter());
        let models = config::custom_rules(&config, file.as_deref())?;
        let catalogue = config::catalogue(file.as_deref())?;
        Ok(Setup {
            models,
            catalogue,
            config,
            file,
            user: user.clone(),
            formats,
            left_out,
        })
    }

    /// Returns the rows of the user's models table that are not used: the table's path and the reason.
    pub(super) fn problems(&self) -> Vec<(PathBuf, String)> {
        let file = self.file.as_deref().unwrap_or(Path::new(""));
        let path = config::models_file(&self.config, file);
        let refused = self.models.iter().flat_map(|rules| &rules.refused);
        refused.map(|what| (path.clone(), what.clone())).collect()
    }

    /// Returns the models tables, with the user's own windows and policies.
    pub(super) fn rules(&self) -> Result<Rules> {
        let mut rules = config::rules()?;
        if let Some(imported) = &self.catalogue {
            rules.catalogue = imported.clone();
        }
        if let Some(own) = &self.models {
            rules = rules.with_custom(own.clone()).map_err(anyhow::Error::msg)?;
        }
        let formats = self.formats.iter();
        rules.billing = formats
            .map(|format| (format.id, format.billing()))
            .collect();
        rules.custom = self.config.custom();
        for agent in rules.custom.agents_mut() {
            let mut left_out = self.left_out.iter();
            let is_left_out = left_out.any(|(path, _)| path.file_stem() == Some(agent.as_ref()));
            if !is_left_out {
                let named = self.named_agent(agent).context("in the configuration")?;
                named.id.clone_into(agent);
            }
        }
        Ok(rules)
    }

    /// Returns the path of the table of models by provider that the user imports.
    pub(super) fn catalogue_file(&self) -> Result<PathBuf> {
        let file = self.file.as_deref();
        let file = file.context("there is no folder for the configuration: HOME is not set")?;
        Ok(config::catalogue_file(file))
    }

    /// Returns the agent with this id or, if there is none, the only one with this name on the screens.
    fn named_agent(&self, name: &str) -> Result<&'static Format> {
        let of = |is_its: &dyn Fn(&Format) -> bool| -> Vec<&'static Format> {
            let formats = self.formats.iter().copied();
            formats.filter(|format| is_its(format)).collect()
        };
        let mut named = of(&|format| format.id == name);
        if named.is_empty() {
            named = of(&|format| format.label.eq_ignore_ascii_case(name));
        }
        match &named[..] {
            [format] => Ok(*format),
            [] => {
                let known = self.formats.iter().flat_map(|it| [it.id, it.label]);
                let meant = nearest(name, known)
                    .map(|known| format!("did you mean '{known}'? "))
                    .unwrap_or_default();
                bail!("unknown agent '{name}'; {meant}`ctxgauge agents` lists them");
            }
            several => {
                let ids: Vec<&str> = several.iter().map(|format| format.id).collect();
                bail!("'{name}' can be {}; give one of these", ids.join(" or "));
            }
        }
    }

    /// Returns a context without logs. No file is read for it.
    pub(super) fn context_without_logs(&self, rules: Rules) -> ReportContext {
        ReportContext {
            forced: None,
            formats: self.formats.clone(),
            roots: Vec::new(),
            rules: Arc::new(rules),
            user: self.user.clone(),
            cache: None,
            cache_use: CacheUse::Kept,
            poll: self.config.poll,
            now: jiff::Timestamp::now,
            zone: TimeZone::UTC,
            patience: Patience::default(),
            progress: Progress::default(),
            redaction: Redaction::Off,
            only: None,
        }
    }

    /// Returns the context of a report on one file.
    pub(super) fn context(&self, only: &AgentOption, redact: Redact) -> Result<ReportContext> {
        let mut rules = self.rules()?;
        let named = only.agent.as_deref().map(|name| self.named_agent(name));
        let wrong = |error: anyhow::Error| Exit::WrongUsage(error.to_string());
        let forced = named.transpose().map_err(wrong)?;
        let folders = &self.user.folders;
        let cache = folders.cache_folder().filter(|_| self.config.cache);
        if let Some(folder) = &cache {
            rules.earlier = earlier::load(folder);
        }
        let redaction = if redact.redact {
            Redaction::On(redactor(&rules)?)
        } else {
            Redaction::Off
        };
        let mut context = self.context_without_logs(rules);
        context.redaction = redaction;
        context.formats = forced.map_or(context.formats, |format| vec![format]);
        context.forced = forced;
        context.cache = cache;
        context.zone = locale::zone(&self.user.env);
        Ok(context)
    }

    /// Returns the context of a report on all logs below the given paths or, without paths, in the agents' own folders
    /// and the folders that options and configuration add.
    pub(super) fn context_of(
        &self,
        paths: &[PathBuf],
        logs: &Logs,
        redact: Redact,
    ) -> Result<ReportContext> {
        let mut context = self.context(&logs.only, redact)?;
        if paths.is_empty() {
            context.roots = usual(&context.formats, &self.user);
            let more = self.config.roots.iter().chain(&logs.root);
            for path in more {
                let path = self.user.whole(path.clone());
                context.roots.extend(given(&context.formats, path));
            }
        } else {
            let given = paths.iter().map(|path| context.given(path.clone()));
            context.roots = given.collect();
        }
        Ok(context)
    }

    /// Returns the context of a command on many sessions.
    pub(super) fn context_of_all(
        &self,
        all: &ManySessions,
        redact: Redact,
    ) -> Result<ReportContext> {
        let mut context = self.context_of(&all.paths, &all.logs, redact)?;
        if let Some(wanted) = &all.session {
            context.select_only(wanted)?;
        }
        Ok(context)
    }

    /// Returns the mapping at this path, or the one of this name in the configuration's folder.
    pub(super) fn named_mapping(&self, path: &Path) -> Result<&'static Format> {
        read_mapping(&config::named_mapping(self.file.as_deref(), path)?)
    }
}

/// Returns the redactor for reports with these rules.
pub(super) fn redactor(rules: &Rules) -> Result<Arc<Redactor>> {
    let known = PublicNames {
        rules: &config::rules()?,
        tools: assets::tools().collect(),
    };
    Ok(Arc::new(Redactor::new(known, rules)))
}

/// Returns the format that a file describes.
pub(super) fn read_mapping(file: &UserFile) -> Result<&'static Format> {
    let mapping = valid_mapping(file).with_context(|| {
        format!(
            "'{}' is not a valid mapping; correct it and try `ctxgauge agents check LOG --mapping FILE`",
            file.path.display()
        )
    })?;
    Ok(mapping.into_format())
}

fn valid_mapping(file: &UserFile) -> Result<Mapping> {
    let name = file.name();
    let mapping = Mapping::read(&name, &file.text).map_err(anyhow::Error::msg)?;
    if agents::by_id(&name).is_some() {
        bail!("'{name}' is the name of a built-in agent: rename the file");
    }
    Ok(mapping)
}
