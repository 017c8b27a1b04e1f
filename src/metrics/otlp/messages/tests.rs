use super::*;
use crate::otlp::wire;
use crate::testing::{IDS, followed, now, own, session};
use model::Source;
use serde_json::{Value as Json, json};

fn resource() -> Vec<(String, String)> {
    vec![("service.name".into(), "ctxgauge".into())]
}

fn some() -> Snapshot {
    Snapshot {
        own: own(),
        ..followed(
            vec![session("5e55", "some-model"), session("5e56", "")],
            IDS,
        )
        .snapshot()
    }
}

/// The request with the numbers of two sessions, and the number of its data points.
fn request(encoding: Encoding) -> (Vec<u8>, u64) {
    let snapshot = some();
    let begun = now() - jiff::SignedDuration::from_secs(60);
    let sessions: Vec<_> = snapshot.sessions.iter().map(|of| (of, begun)).collect();
    metrics(
        encoding,
        &resource(),
        &Part {
            snapshot: &snapshot,
            sessions: &sessions,
            begun: Some(begun),
        },
    )
}

/// The metric of a name as it is written.
fn metric(name: &str) -> Json {
    let body: Json = serde_json::from_slice(&request(Encoding::Json).0).unwrap();
    let all = body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
        .as_array()
        .unwrap()
        .clone();
    let found = all.into_iter().find(|metric| metric["name"] == name);
    found.unwrap_or_else(|| panic!("no {name}"))
}

fn text(name: &str, value: &str) -> Json {
    json!({"key": name, "value": {"stringValue": value}})
}

fn of_session(id: &str) -> Vec<Json> {
    let model = [text("gen_ai.response.model", "some-model")];
    let model = model.into_iter().filter(|_| id == "5e55");
    let id = [text("gen_ai.conversation.id", id)];
    let agent = [text("gen_ai.agent.name", "counter")];
    agent.into_iter().chain(model).chain(id).collect()
}

const AT: &str = "1700000091000000000";
const BEGUN: &str = "1700000031000000000";

#[test]
fn a_gauge_has_its_time_and_a_counter_its_beginning() {
    let point =
        |id: &str| json!({"attributes": of_session(id), "timeUnixNano": AT, "asInt": "7506"});
    assert_eq!(
        metric("ctxgauge_context_tokens"),
        json!({
            "name": "ctxgauge_context_tokens",
            "description": "Tokens in the context.",
            "unit": "{token}",
            "gauge": {"dataPoints": [point("5e55"), point("5e56")]},
        })
    );
    let compactions = metric("ctxgauge_compactions_total");
    let first = &compactions["sum"]["dataPoints"][0];
    let mut attributes = of_session("5e55");
    attributes.push(text("cause", "auto"));
    assert_eq!(
        *first,
        json!({"attributes": attributes, "startTimeUnixNano": BEGUN, "timeUnixNano": AT, "asInt": "1"})
    );
    assert_eq!(
        (
            &compactions["sum"]["aggregationTemporality"],
            &compactions["sum"]["isMonotonic"]
        ),
        (&json!(2), &json!(true))
    );
    assert_eq!(compactions["unit"], Json::Null);
    let age = metric("ctxgauge_record_age_seconds");
    assert_eq!(age["unit"], "s");
    assert!(age["gauge"]["dataPoints"][0]["asDouble"].is_f64(), "{age}");
}

#[test]
fn the_programs_own_numbers_are_there() {
    assert_eq!(
        metric("ctxgauge_read_latency_seconds")["histogram"],
        json!({
            "dataPoints": [{
                "startTimeUnixNano": BEGUN,
                "timeUnixNano": AT,
                "count": "4",
                "sum": 60.037,
                "bucketCounts": ["2", "0", "0", "1", "0", "0", "0", "0", "0", "0", "1"],
                "explicitBounds": [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0],
            }],
            "aggregationTemporality": 2,
        })
    );
    let build = metric("ctxgauge_build_info");
    let point = &build["gauge"]["dataPoints"][0];
    assert_eq!(
        (&point["attributes"], &point["asInt"]),
        (&json!([text("version", "0.0.0")]), &json!("1"))
    );
    let read = metric("ctxgauge_read_bytes_total");
    assert_eq!(
        (&read["unit"], &read["sum"]["isMonotonic"]),
        (&json!("By"), &json!(true))
    );
    assert_eq!(
        metric("ctxgauge_otlp_sent_total")["sum"]["dataPoints"][0]["asInt"],
        "2"
    );
}

#[test]
fn each_metric_is_there_under_its_name_and_points_are_counted() {
    let (body, points) = request(Encoding::Json);
    let body: Json = serde_json::from_slice(&body).unwrap();
    let all = &body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    let mut counted = 0;
    let mut names = Vec::new();
    for metric in all.as_array().unwrap() {
        names.push(metric["name"].as_str().unwrap().to_owned());
        for kind in ["gauge", "sum", "histogram"] {
            counted += metric[kind]["dataPoints"].as_array().map_or(0, Vec::len) as u64;
        }
    }
    assert_eq!(counted, points);
    // A forecast needs more requests.
    let families = FAMILIES.iter().map(Family::whole_name);
    let mut expected: Vec<String> = families
        .chain(OWN.iter().map(OwnMetric::whole_name))
        .collect();
    expected.retain(|name| names.contains(name) || name != "ctxgauge_requests_left");
    assert_eq!(names, expected);
}

/// The number of messages below these fields.
fn count(bytes: &[u8], path: &[u64]) -> usize {
    let Some((number, rest)) = path.split_first() else {
        return 1;
    };
    let all = wire::fields(bytes).unwrap().into_iter();
    let below = all.filter_map(|field| match field {
        (field, wire::Value::Bytes(bytes)) if field == *number => Some(count(bytes, rest)),
        _ => None,
    });
    below.sum()
}

#[test]
fn bytes_have_the_same_data_points() {
    let (body, points) = request(Encoding::Protobuf);
    let kinds = [5, 7, 9].map(|kind| count(&body, &[1, 2, 2, kind, 1]));
    assert_eq!(kinds.iter().sum::<usize>() as u64, points);
    let (json, _) = request(Encoding::Json);
    assert!(body.len() * 2 < json.len(), "{} {}", body.len(), json.len());
}

#[test]
fn a_compaction_is_a_log_record() {
    let labels = some().sessions[0].labels.clone();
    let compacted = Compacted {
        id: "0123".into(),
        labels,
        at: Some(now()),
        seen: now() + jiff::SignedDuration::from_secs(2),
        cause: "auto",
        before: (50_000, Source::Agent),
        after: Some((5_000, Source::Reported)),
        dropped: 30_000,
        window: 100_000,
    };
    let body = logs(
        Encoding::Json,
        &resource(),
        std::slice::from_ref(&compacted),
    );
    let whole = |name: &str, value: &str| json!({"key": name, "value": {"intValue": value}});
    let mut attributes = of_session("5e55");
    attributes.extend([
        text("log.record.uid", "0123"),
        text("ctxgauge.compaction.cause", "auto"),
        whole("ctxgauge.compaction.before", "50000"),
        text("ctxgauge.compaction.before_source", "agent"),
        whole("ctxgauge.compaction.after", "5000"),
        text("ctxgauge.compaction.after_source", "reported"),
        whole("ctxgauge.compaction.dropped", "30000"),
        whole("gen_ai.context.window_size", "100000"),
        json!({"key": "gen_ai.context.utilization", "value": {"doubleValue": 0.5}}),
    ]);
    let expected = json!({"resourceLogs": [{
        "resource": {"attributes": [text("service.name", "ctxgauge")]},
        "scopeLogs": [{
            "scope": {"name": "ctxgauge", "version": env!("CARGO_PKG_VERSION")},
            "logRecords": [{
                "timeUnixNano": AT,
                "severityNumber": 9,
                "severityText": "INFO",
                "body": {"stringValue": "compacted (auto): 50000 tokens before, 5000 after"},
                "attributes": attributes,
                "observedTimeUnixNano": "1700000093000000000",
                "eventName": "ctxgauge.compaction",
            }],
        }],
    }]});
    assert_eq!(serde_json::from_slice::<Json>(&body).unwrap(), expected);
    let bytes = logs(
        Encoding::Protobuf,
        &resource(),
        &[compacted.clone(), compacted],
    );
    assert_eq!(count(&bytes, &[1, 2, 2]), 2);
}
