//! A listed session: its summary, with the settings of its agent and the window that the user has set. The window and most
//! settings are no part of the summary, so that a change of them needs no log. What a session takes from settings while it is
//! folded is: see [`Summary::settings`].

use crate::event::PlanLimits;
use crate::lists::other_host::OtherHost;
use crate::lists::summary::Summary;
use crate::outlook::forecast::{Forecast, NoForecast, is_idle};
use crate::session::limits::{LimitTerms, Sizes, facts_after_switch};
use crate::session::{Coverage, Session};
use crate::state::past::ModelFacts;
use crate::values::project::last_part;
use crate::values::version;
use crate::window::{ClientStatus, Limits, Overrides, Rules};
use derive_more::Deref;
use jiff::Timestamp;
use std::cell::OnceCell;
use std::sync::Arc;

/// A summary with the settings that hold for it.
#[derive(Debug, Clone, Deref)]
pub struct SessionGauge {
    #[deref]
    summary: Summary,
    rules: Arc<Rules>,
    overrides: Arc<Overrides>,
    /// The machine of its log; `None`: this one.
    host: Option<Arc<OtherHost>>,
    /// The window that the user has set, in tokens.
    window: Option<u64>,
    limits: OnceCell<Limits>,
    /// As of the newest record.
    forecast: OnceCell<Result<Forecast, NoForecast>>,
}

impl Session {
    /// Returns the session as lists show it.
    pub fn gauge(&self) -> SessionGauge {
        let rules = Arc::clone(&self.rules);
        let mut gauge = SessionGauge::new(self.summary(), rules, Arc::clone(&self.overrides));
        gauge.set_window(self.set_window);
        gauge
    }
}

impl SessionGauge {
    /// Returns a summary by these settings.
    pub fn new(summary: Summary, rules: Arc<Rules>, overrides: Arc<Overrides>) -> SessionGauge {
        SessionGauge {
            summary,
            rules,
            overrides,
            host: None,
            window: None,
            limits: OnceCell::new(),
            forecast: OnceCell::new(),
        }
    }

    /// Returns the summary.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Sets what the agent's settings say.
    pub fn set_overrides(&mut self, overrides: Arc<Overrides>) {
        self.overrides = overrides;
        (self.limits, self.forecast) = Default::default();
    }

    /// Sets the machine of its log; `None`: this one.
    pub fn set_host(&mut self, host: Option<Arc<OtherHost>>) {
        self.host = host;
        (self.limits, self.forecast) = Default::default();
    }

    /// Returns the machine of its log; `None`: this one.
    pub fn host(&self) -> Option<&OtherHost> {
        self.host.as_deref()
    }

    /// Sets the window that the user has set; `None`: none.
    pub fn set_window(&mut self, window: Option<u64>) {
        self.window = window;
        (self.limits, self.forecast) = Default::default();
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// Returns the newest version of the agent whose logs were compared with known counts, if this session's is newer.
    pub fn newer_than_proven(&self) -> Option<&str> {
        let proven = self.rules.proven(self.agent)?;
        let version = self.meta.version.as_deref()?;
        version::is_newer(version, proven).then_some(proven)
    }

    /// Returns what the agent's client said of the session.
    pub fn said(&self) -> Option<&ClientStatus> {
        self.overrides.said.as_ref()
    }

    /// Returns the limits of the user's plan: by its log, or else by the agent's client.
    pub fn plan_limits(&self) -> Option<&PlanLimits> {
        let by_client = self.said().map(|said| &said.plan);
        let mut all = [Some(&self.plan), by_client].into_iter().flatten();
        all.find(|limits| !limits.is_empty())
    }

    /// Returns true if it is known which part of the limits the session used.
    pub fn is_plan_use_known(&self) -> bool {
        self.plan.is_empty() || self.coverage == Coverage::Whole
    }

    /// Returns the folder of its project: the working directory, or the one that this [belongs to](Overrides::project).
    /// Empty: not known, or on another machine.
    pub fn folder(&self) -> &str {
        self.overrides.folder(self.meta.cwd.as_deref())
    }

    /// Returns the name of its project by its folder alone; empty: it is not known.
    pub fn project(&self) -> &str {
        match &self.host {
            Some(host) => &host.project,
            None => last_part(self.folder()),
        }
    }

    /// Returns the window and the trigger, and how both are known.
    pub fn limits(&self) -> &Limits {
        if let Some(host) = &self.host {
            return &host.limits;
        }
        self.limits.get_or_init(|| {
            let left_out = self.left_out;
            let changed = facts_after_switch(self.said(), self.model(), self.answered_at, left_out);
            let Some(facts) = changed else {
                return self.limits_by(&self.facts(), &self.sizes);
            };
            let mut earlier = self.earlier_models.iter();
            match earlier.find(|(model, _)| Some(&**model) == facts.model.as_deref()) {
                Some((_, sizes)) => self.limits_by(&facts, sizes),
                None => self.limits_by(&facts, &self.sizes.of_new_model()),
            }
        })
    }

    fn limits_by(&self, facts: &ModelFacts, sizes: &Sizes) -> Limits {
        let terms = LimitTerms {
            rules: &self.rules,
            agent: self.agent,
            meta: &self.meta,
            at: self.updated_at,
            set_window: self.window,
            overrides: &self.overrides,
        };
        sizes.limits(facts, &terms, || self.context.used)
    }

    /// Forecasts when it will compact.
    ///
    /// # Errors
    ///
    /// Returns the reason for which there is no forecast.
    pub fn forecast(&self, now: Timestamp) -> Result<Forecast, NoForecast> {
        let mut forecast = self.forecast_then()?;
        // Nothing else of it depends on the time.
        if is_idle(self.updated_at, Some(now)) {
            forecast.minutes = None;
        }
        Ok(forecast)
    }

    /// Returns the forecast as of its newest record.
    ///
    /// # Errors
    ///
    /// Returns the reason why nothing can be forecast.
    pub fn forecast_then(&self) -> Result<Forecast, NoForecast> {
        *self.forecast.get_or_init(|| {
            let near = self.limits().compacts_near();
            let trigger = near.ok_or(NoForecast::NoTrigger)?;
            let mut forecast = self.pace?.forecast(self.context.headroom(trigger));
            if is_idle(self.updated_at, None) {
                forecast.minutes = None;
            }
            Ok(forecast)
        })
    }

    /// Returns the tokens left before the trigger; `None`: none is known.
    pub fn headroom(&self) -> Option<u64> {
        Some(self.context.headroom(self.limits().trigger?))
    }

    /// Returns the tokens left before a prompt is refused, of an agent that compacts then.
    pub fn headroom_about(&self) -> Option<u64> {
        Some(self.context.headroom(self.limits().refused_near()?))
    }
}

#[cfg(test)]
mod tests {
    use crate::outlook::forecast::forecast;
    use crate::testing::Log;
    use crate::testing::properties::{entry, events, session};
    use crate::window::ClientStatus;
    use crate::{Kind, Role};
    use jiff::Timestamp;
    use proptest::prelude::*;
    use std::sync::Arc;

    #[test]
    fn a_model_that_the_client_changes_back_to_has_the_limits_that_it_had() {
        let log = Log::new()
            .timed()
            .model("first")
            .item("1", Role::User, Kind::Text, 40_000);
        let log = log.report(40_000).compact(40_000).report(5_000);
        let log = log.model("second").item("2", Role::User, Kind::Text, 100);
        let mut session = log.report(5_100).session;
        let mut gauge = session.gauge();
        assert_eq!(gauge.limits().trigger, Some(50_000));
        session.set_said(ClientStatus {
            since: Some(Timestamp::MAX),
            ..ClientStatus::window(100_000, Some("first".to_owned()))
        });
        gauge.set_overrides(Arc::clone(&session.overrides));
        assert_eq!(gauge.limits().trigger, Some(40_000));
        assert_eq!(gauge.limits(), &session.limits());
    }

    proptest! {
        /// A summary that was stored and read again answers as its session does, whatever window is set.
        #[test]
        fn a_gauge_shows_what_its_session_does(
            events in events(),
            window in prop::option::of(1u64..400_000),
            model in prop_oneof![Just("alpha"), Just("beta"), Just("unheard-of")],
        ) {
            let mut session = session();
            for event in events {
                session.apply(entry(event));
                let summary = session.summary();
                let stored = postcard::to_stdvec(&summary).unwrap();
                let mut read: crate::lists::summary::Summary = postcard::from_bytes(&stored).unwrap();
                read.agent = summary.agent;
                prop_assert_eq!(&read, &summary);
            }
            let mut gauge = session.gauge();
            session.set_window(window);
            gauge.set_window(window);
            let context = session.context();
            prop_assert_eq!(gauge.context, context);
            prop_assert_eq!(gauge.limits(), &session.limits());
            prop_assert_eq!(gauge.forecast_then(), forecast(&session, None));
            prop_assert_eq!(gauge.model(), session.model());
            prop_assert_eq!(gauge.is_final, session.is_final(&context));
            prop_assert_eq!(gauge.has_begun(), session.has_begun());
            // The client changes to another model, or back to an earlier one.
            session.set_said(ClientStatus {
                since: Some(Timestamp::MAX),
                ..ClientStatus::window(100_000, Some(model.to_owned()))
            });
            gauge.set_overrides(Arc::clone(&session.overrides));
            prop_assert_eq!(gauge.limits(), &session.limits());
        }
    }
}
