//! The cost of a session on the screens is its cost in `ls --totals`.

use crate::fixtures::each_case;
use crate::support::ctxgauge;
use ctxgauge::formats::Format;
use ctxgauge::ingest::discover::Scanner;
use ctxgauge::ingest::discover::roots::SearchRoot;
use ctxgauge::ingest::log::reader::read_once;
use ctxgauge::model::cost::spending::Spending;
use ctxgauge::model::event::ByLength;
use ctxgauge::{agents, config};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The responses, the list price and the responses without one, of the sessions of each log.
type Costs = BTreeMap<String, (u64, f64, u64, Vec<String>)>;

fn add(costs: &mut Costs, path: &str, of: (u64, f64, u64, Vec<String>)) {
    let sum = costs.entry(path.to_owned()).or_default();
    sum.0 += of.0;
    sum.1 += of.1;
    sum.2 += of.2;
    sum.3.extend(of.3);
    sum.3.sort();
    sum.3.dedup();
}

/// The costs by `ls --totals`.
fn listed(log: &Path) -> Costs {
    let home = tempfile::tempdir().unwrap();
    let mut command = ctxgauge(home.path());
    let output = command.args(["ls", "--totals", "--json"]).arg(log).output();
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut costs = Costs::new();
    for session in list["sessions"].as_array().unwrap() {
        let usage = &session["usage"];
        let lacks = usage["cost_lacks"].as_array().unwrap().iter();
        let of = (
            usage["responses"].as_u64().unwrap(),
            usage["cost_usd"].as_f64().unwrap(),
            usage["unpriced"].as_u64().unwrap(),
            lacks
                .map(|name| name.as_str().unwrap().to_owned())
                .collect(),
        );
        add(&mut costs, session["path"].as_str().unwrap(), of);
    }
    costs
}

/// The costs that the screens show once the logs were read.
fn shown(log: &Path) -> Costs {
    let mut rules = config::rules().unwrap();
    let billing = |format: &&'static Format| (format.id, format.billing());
    rules.billing = agents::ALL.iter().map(billing).collect();
    let rules = Arc::new(rules);
    let roots = vec![SearchRoot::Given(log.to_owned())];
    let mut costs = Costs::new();
    for log in Scanner::new(roots, agents::ALL.to_vec(), |_| None)
        .look()
        .files
    {
        for (_, session) in read_once(&log, &ByLength, &rules).unwrap() {
            let Spending {
                responses,
                unpriced,
                lacking,
                ..
            } = session.spending().unwrap().all;
            let usd = session.summary().spending.unwrap().all.usd();
            let lacks = lacking.names().into_iter().map(str::to_owned).collect();
            let of = (responses, usd, unpriced, lacks);
            add(&mut costs, &log.facts.path.to_string_lossy(), of);
        }
    }
    costs
}

#[test]
fn a_session_costs_on_the_screens_what_it_costs_in_totals() {
    let (mut logs, mut wrong) = (0, Vec::new());
    each_case(|log, file| {
        let (listed, shown) = (listed(log), shown(log));
        let is_same = listed.iter().all(|(path, of)| {
            shown.get(path).is_some_and(|shown| {
                (of.1 - shown.1).abs() < 1e-5 && (of.0, of.2, &of.3) == (shown.0, shown.2, &shown.3)
            })
        });
        logs += listed.len();
        if !is_same {
            wrong.push(format!("{}\n  {listed:?}\n  {shown:?}", file.display()));
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(logs > 100, "{logs}");
}
