//! The logs of the screens: those that are found and followed, or the demo.

use super::hand_out::Writer;
use super::search;
use hosts::host::SCHEME;
use hosts::{Host, Links};
use ingest::search::Matcher;
use ingest::store::pipe::PipeInput;
use ingest::{self, Handle, IngestEvent, TextJob, demo};
use model::lists::sessions::{FileId, Update};
use model::window::Rules;
use report::{ReportContext, why};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use tokens::Counter;
use tokio::sync::mpsc::Sender;
use tui::app::{
    FindingsRequest, FindingsResult, HandOutRequest, HandOutResult, SearchRequest, SearchUpdate,
};
use tui::{Finder, Logs};

/// The demo. Its sessions are complete from the start.
#[derive(Clone)]
pub(super) struct Demo {
    logs: Arc<[demo::Log]>,
    rules: Arc<Rules>,
    counter: Arc<Counter>,
    sender: Sender<IngestEvent>,
    /// True once a log was found, which ends the demo.
    found: Arc<AtomicBool>,
}

impl Demo {
    /// Creates a demo that is not played yet.
    pub(super) fn new(rules: Arc<Rules>, sender: Sender<IngestEvent>) -> Demo {
        Demo {
            logs: demo::logs(agents::by_id),
            counter: Arc::new(Counter::new()),
            rules,
            sender,
            found: Arc::default(),
        }
    }

    /// Plays it until a log is found; then removes its sessions and ends.
    pub(super) fn play(&self) -> io::Result<()> {
        let found = Arc::clone(&self.found);
        let sink = to_screens(self.sender.clone());
        let mut files = BTreeSet::new();
        let until_found = move |event| {
            if found.load(Ordering::Relaxed) {
                for file in std::mem::take(&mut files) {
                    sink(Update::Vanished(file).into())?;
                }
                sink(IngestEvent::Banner(String::new()))?;
                return ControlFlow::Break(());
            }
            if let IngestEvent::Update(Update::Found(facts)) = &event {
                files.insert(facts.file);
            }
            sink(event)
        };
        let (rules, counter) = (Arc::clone(&self.rules), Arc::clone(&self.counter));
        demo::start(Arc::clone(&self.logs), rules, counter, until_found)
    }

    /// Returns the text of the banner of the demo, after `why`.
    pub(super) fn banner(why: &str) -> String {
        format!("{why}this is a demo")
    }
}

impl Logs for Demo {
    fn look_at(&self, _: FileId) {}

    fn read_text(&self, job: TextJob) {
        // If no thread can be started, the text stays unread.
        drop(demo::read_text(
            &self.logs,
            job,
            to_screens(self.sender.clone()),
        ));
    }

    /// Writes nothing, because the sessions are invented.
    fn hand_out(&self, _: HandOutRequest, _: Box<dyn FnOnce(HandOutResult) + Send>) {}

    fn find(&self, _: FindingsRequest, done: Box<dyn FnOnce(FindingsResult) + Send>) {
        done(Err(search::INVENTED.to_owned()));
    }

    /// Reports all sessions as not searched, because they are invented.
    fn search(&self, request: &SearchRequest, _: Matcher, finder: Finder) {
        let unread = (request.sessions.len(), search::INVENTED.to_owned());
        let say = move || finder.say(SearchUpdate::Unread(unread.0, unread.1));
        drop(thread::Builder::new().name("search".into()).spawn(say));
    }

    fn there(&self, _: &str, _: &Path, _: Option<&str>) -> Option<Vec<OsString>> {
        None
    }

    fn is_invented(&self, file: FileId) -> bool {
        demo::holds(file)
    }
}

/// Logs that are read and followed.
pub(super) struct FollowedLogs {
    handle: Handle,
    context: Arc<ReportContext>,
    /// The demo, which is shown if there are no logs.
    demo: Demo,
    /// The other machines, which are followed until the screens end.
    _links: Links,
}

impl FollowedLogs {
    /// Starts to read the logs. If `or_demo` and the first scan finds none, the demo is played.
    pub(super) fn start(
        context: ReportContext,
        piped: Option<PipeInput>,
        demo: Demo,
        or_demo: bool,
        others: Vec<Host>,
    ) -> io::Result<FollowedLogs> {
        let to_list = to_screens(demo.sender.clone());
        let links = hosts::start(others, &hosts::Options::new(agents::by_id), move |event| {
            to_list(match event {
                hosts::Event::Update(update) => update.into(),
                hosts::Event::Said(host, what) => IngestEvent::Problem {
                    path: format!("{SCHEME}{host}").into(),
                    what,
                },
            })
        })?;
        let beside = Arc::new(context.beside());
        let options = context.options(Arc::clone(&demo.counter));
        let (sink, found) = (to_screens(demo.sender.clone()), Arc::clone(&demo.found));
        let mut instead = or_demo.then(|| demo.clone());
        let handle = ingest::start(options, piped, move |event| {
            if matches!(event, IngestEvent::Update(Update::Found(_))) {
                found.store(true, Ordering::Relaxed);
            }
            let all_found = matches!(event, IngestEvent::Update(Update::InitialScanDone));
            sink(event)?;
            let instead = instead.take_if(|_| all_found);
            if let Some(demo) = instead.filter(|_| !found.load(Ordering::Relaxed)) {
                sink(IngestEvent::Banner(Demo::banner("no agent logs found: ")))?;
                // If no thread can be started, there is no demo.
                drop(demo.play());
            }
            ControlFlow::Continue(())
        })?;
        Ok(FollowedLogs {
            handle,
            context: beside,
            demo,
            _links: links,
        })
    }
}

impl Logs for FollowedLogs {
    fn look_at(&self, file: FileId) {
        self.handle.look_at(file);
    }

    fn read_text(&self, job: TextJob) {
        if demo::holds(job.request().file) {
            self.demo.read_text(job)
        } else {
            self.handle.read_text(job)
        }
    }

    fn hand_out(&self, request: HandOutRequest, done: Box<dyn FnOnce(HandOutResult) + Send>) {
        Writer(Arc::clone(&self.context)).make(request, done);
    }

    fn find(&self, (key, log): FindingsRequest, done: Box<dyn FnOnce(FindingsResult) + Send>) {
        if demo::holds(key.file) {
            return self.demo.find((key, log), done);
        }
        let context = self.context.beside();
        let find = move || {
            let found = why::in_session(context, &log, key);
            done(found.map_err(|error| format!("{error:#}")));
        };
        // If no thread can be started, `done` is dropped, which its owner notices.
        drop(thread::Builder::new().name("why".into()).spawn(find));
    }

    fn search(&self, request: &SearchRequest, matcher: Matcher, finder: Finder) {
        search::start(self.context.beside(), request, matcher, finder);
    }

    fn there(&self, host: &str, log: &Path, id: Option<&str>) -> Option<Vec<OsString>> {
        Host::read(host).ok()?.open(log, id)
    }

    fn is_invented(&self, file: FileId) -> bool {
        self.demo.is_invented(file)
    }
}

/// Passes what is read on to the screens, as long as they are open.
fn to_screens(
    sender: Sender<IngestEvent>,
) -> impl Fn(IngestEvent) -> ControlFlow<()> + Clone + Send + Sync + 'static {
    move |event| match sender.blocking_send(event) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}
