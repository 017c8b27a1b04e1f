use super::*;
use std::collections::HashMap;

fn read(option: Option<&str>, set: &[(&str, &str)]) -> (Option<Settings>, Vec<String>) {
    let set: HashMap<&str, &str> = set.iter().copied().collect();
    let lookup = |name: &str| set.get(name).map(|value| OsString::from(*value));
    let option = option.map(|text| Endpoint::read(text).unwrap());
    settings(option.as_ref(), &lookup, || Ok::<_, ()>("0123".to_owned())).unwrap()
}

fn all(option: Option<&str>, set: &[(&str, &str)]) -> Settings {
    let (settings, notes) = read(option, set);
    assert_eq!(notes, [""; 0]);
    settings.unwrap()
}

fn places(settings: &Settings) -> [Option<String>; 2] {
    [&settings.metrics, &settings.logs].map(|of| Some(of.as_ref()?.endpoint.to_string()))
}

const BASE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

#[test]
fn nothing_is_pushed_unless_that_is_asked_for() {
    assert_eq!(read(None, &[]), (None, Vec::new()));
    for set in [
        [
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=b"),
            ("OTEL_SERVICE_NAME", "x"),
        ],
        [
            ("OTEL_METRICS_EXPORTER", "otlp"),
            ("OTEL_LOGS_EXPORTER", "otlp"),
        ],
        [(BASE, "http://host:4318"), ("OTEL_SDK_DISABLED", "TRUE")],
    ] {
        assert_eq!(read(None, &set), (None, Vec::new()), "{set:?}");
    }
    let (nothing, notes) = read(Some("http://host:1"), &[("OTEL_SDK_DISABLED", "true")]);
    assert_eq!(nothing, None);
    assert!(notes[0].contains("OTEL_SDK_DISABLED"), "{notes:?}");
    // Any other value is not true.
    assert!(
        read(None, &[(BASE, "http://h:1"), ("OTEL_SDK_DISABLED", "1")])
            .0
            .is_some()
    );
}

#[test]
fn addresses_are_those_of_the_specification() {
    let pushed = all(Some("http://host:4318"), &[(BASE, "http://other:1")]);
    assert_eq!(
        places(&pushed).map(Option::unwrap),
        ["http://host:4318/v1/metrics", "http://host:4318/v1/logs"]
    );
    assert_eq!(
        (pushed.every, pushed.metrics.as_ref().unwrap().timeout),
        (EVERY, TIMEOUT)
    );
    let pushed = all(None, &[(BASE, "http://host:4318/otlp/")]);
    assert_eq!(
        places(&pushed).map(Option::unwrap),
        [
            "http://host:4318/otlp/v1/metrics",
            "http://host:4318/otlp/v1/logs"
        ]
    );
    // One of a kind of data is used as it is, and only for that.
    let set = [("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://host:1/x")];
    assert_eq!(
        places(&all(None, &set)),
        [Some("http://host:1/x".into()), None]
    );
    let set = [
        (BASE, "http://host:1"),
        ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://logs:2"),
    ];
    assert_eq!(
        places(&all(None, &set)).map(Option::unwrap),
        ["http://host:1/v1/metrics", "http://logs:2/"]
    );
}

#[test]
fn a_kind_of_data_can_be_left_out() {
    let of = |option, set: &[(&str, &str)]| {
        let settings = read(option, set).0;
        settings.map_or([false; 2], |settings| {
            places(&settings).map(|place| place.is_some())
        })
    };
    let base = (BASE, "http://host:1");
    for (exporter, by_variable, by_option) in [
        ("otlp", [true, true], [true, true]),
        ("console, otlp", [true, true], [true, true]),
        ("prometheus", [false, true], [true, true]),
        ("none", [false, true], [false, true]),
    ] {
        let exporter = ("OTEL_METRICS_EXPORTER", exporter);
        assert_eq!(of(None, &[base, exporter]), by_variable, "{exporter:?}");
        assert_eq!(
            of(Some("http://host:1"), &[exporter]),
            by_option,
            "{exporter:?}"
        );
    }
    let none = [
        ("OTEL_METRICS_EXPORTER", "none"),
        ("OTEL_LOGS_EXPORTER", "none"),
    ];
    let (nothing, notes) = read(Some("http://host:1"), &none);
    assert!(nothing.is_none() && notes.len() == 1, "{notes:?}");
}

#[test]
fn a_protocol_that_is_not_spoken_is_refused_with_a_sentence() {
    let grpc = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    // The address is then one of that protocol.
    let (nothing, notes) = read(None, &[(BASE, "http://host:4317"), grpc]);
    assert_eq!((nothing, notes.len()), (None, 1));
    assert!(
        notes[0].contains("grpc") && notes[0].contains("http/protobuf"),
        "{notes:?}"
    );
    // One that is given here is not.
    let (pushed, notes) = read(Some("http://host:4318"), &[grpc]);
    assert_eq!(
        (pushed.unwrap().logs.unwrap().encoding, notes.len()),
        (Encoding::Protobuf, 1)
    );
    let json = [
        (BASE, "http://host:1"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
    ];
    assert_eq!(all(None, &json).metrics.unwrap().encoding, Encoding::Json);
    let of_logs = [
        json[0],
        json[1],
        ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/protobuf"),
    ];
    assert_eq!(
        all(None, &of_logs).logs.unwrap().encoding,
        Encoding::Protobuf
    );
}

#[test]
fn what_is_not_understood_is_named_and_ends_nothing() {
    let (nothing, notes) = read(None, &[(BASE, "https://host:4318")]);
    assert_eq!((nothing, notes.len()), (None, 1));
    assert!(
        notes[0].contains(BASE) && notes[0].contains("no TLS"),
        "{notes:?}"
    );
    let (pushed, notes) = read(
        None,
        &[
            (BASE, "http://host:1"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "-5"),
            (
                "OTEL_EXPORTER_OTLP_HEADERS",
                "x-a=1,bad name=secret,nothing, x-b = a%20b%3D",
            ),
            ("OTEL_RESOURCE_ATTRIBUTES", "team=a%zz"),
        ],
    );
    let pushed = pushed.unwrap();
    let metrics = pushed.metrics.unwrap();
    assert_eq!((pushed.every, metrics.timeout), (EVERY, TIMEOUT));
    let headers = metrics.headers.iter();
    let headers: Vec<_> = headers
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .collect();
    assert_eq!(headers, [("x-a", "1"), ("x-b", "a b=")]);
    assert_eq!(notes.len(), 5, "{notes:#?}");
    assert!(!notes.concat().contains("secret"), "{notes:#?}");
    let none = all(
        None,
        &[(BASE, "http://h:1"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "0")],
    );
    assert_eq!(none.logs.unwrap().timeout, NO_TIMEOUT);
    let soon = [(BASE, "http://h:1"), ("OTEL_METRIC_EXPORT_INTERVAL", "99")];
    let (pushed, notes) = read(None, &soon);
    assert_eq!((pushed.unwrap().every, notes.len()), (EVERY, 1));
}

#[test]
fn the_machine_is_named_only_where_the_user_names_it() {
    let base = (BASE, "http://host:1");
    let resource = |set: &[(&str, &str)]| {
        let mut resource = all(None, &[&[base], set].concat()).resource;
        resource.retain(|(key, _)| key != "service.version");
        resource.sort();
        let all = resource.iter().map(|(key, value)| format!("{key}={value}"));
        all.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        resource(&[]),
        "service.instance.id=0123 service.name=ctxgauge"
    );
    let given = "host.name=build-1,service.name=a,service.instance.id=9";
    assert_eq!(
        resource(&[
            ("OTEL_RESOURCE_ATTRIBUTES", given),
            ("OTEL_SERVICE_NAME", "agents")
        ]),
        "host.name=build-1 service.instance.id=9 service.name=agents"
    );
}
