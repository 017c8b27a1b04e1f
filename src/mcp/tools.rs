//! The tools: what a client is told of them, and their arguments. Each word of a definition costs context with each
//! request, so they are short, and their schemas are written by hand.

use model::Role;
use model::session::ItemIx;
pub use report::session::parts::Texts;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The number of items that are listed if none is given, and the most.
const USUAL_ITEMS: u64 = 10;
const MOST_ITEMS: u64 = 50;
/// The most ids of a call.
const MOST_IDS: usize = 10_000;
/// The size of a text in an answer if none is given, and the largest, in bytes.
const USUAL_TEXT: u64 = 4_000;
const MOST_TEXT: u64 = 20_000;

/// The definition of a tool.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    name: &'static str,
    description: &'static str,
    input_schema: Value,
    output_schema: Value,
    annotations: Value,
}

/// A tool and its arguments.
#[derive(Debug, PartialEq)]
pub(crate) enum Question {
    /// The size of the context now.
    Now,
    /// Its largest items.
    Largest(Largest),
    /// The size without some of the items.
    Without(Vec<ItemIx>),
    /// The forecast of the next compaction.
    Forecast,
    /// The findings of the session.
    Why,
    /// The findings of all sessions.
    WhyOfAll(AllSessions),
    /// A part of an item's text.
    Text(Part),
}

/// The sessions that are looked at together.
#[derive(Debug, PartialEq)]
pub(crate) struct AllSessions {
    /// Only those that were active in so many days.
    pub(crate) days: Option<u32>,
    /// Only those of this project.
    pub(crate) project: Option<String>,
    /// The use of names in the logs.
    pub(crate) texts: Texts,
}

/// The choice of the items that are asked for.
#[derive(Debug, PartialEq)]
pub(crate) struct Largest {
    /// The most items.
    pub(crate) most: usize,
    /// Only those of this role.
    pub(crate) role: Option<Role>,
    /// Only those of this tool.
    pub(crate) tool: Option<String>,
    /// The use of the names of calls.
    pub(crate) texts: Texts,
}

/// A part of an item's text, in bytes.
#[derive(Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) id: ItemIx,
    pub(crate) from: u64,
    pub(crate) bytes: u64,
}

/// The reason why a call has no answer.
#[derive(Debug, PartialEq)]
pub(crate) enum Refusal {
    /// There is no such tool.
    Unknown,
    /// For the model to read.
    Failed(String),
}

/// Returns the definitions, in the order in which they are listed.
pub fn definitions(texts: Texts) -> Vec<Tool> {
    let integer = || json!({"type": "integer"});
    let maybe = || json!({"type": ["integer", "null"]});
    let object = || json!({"type": "object"});
    let band = || json!({"type": ["object", "null"]});
    let numbers = || json!({"type": "object", "additionalProperties": integer()});
    let some = |properties: Value| json!({"type": "object", "properties": properties});
    let list = |of: Value| json!({"type": "array", "items": of});
    let side = || some(json!({"used": integer(), "headroom": maybe(), "requests_left": band()}));
    let mut tools = vec![
        tool(
            "context_now",
            "How full your context window is: tokens known from the provider and estimated since, by role; tokens and \
             requests left until the next compaction.",
            json!({}),
            &[],
            json!({
                "session": object(),
                "context": some(json!({
                    "window": integer(), "used": integer(), "known": integer(), "estimated": integer(),
                })),
                "roles": {"type": "object", "additionalProperties": numbers()},
                "compaction": some(json!({
                    "trigger": maybe(), "headroom": maybe(), "requests_left": band(),
                })),
            }),
        ),
        tool(
            "largest_items",
            "The largest items of your context: id, line in the log, tokens, carried (tokens × requests).",
            json!({
                "n": integer(),
                "role": {"type": "string", "enum": Role::ALL.map(Role::name)},
                "tool": {"type": "string"},
            }),
            &[],
            json!({
                "session": object(),
                "items": list(some(json!({
                    "id": integer(), "tokens": integer(), "carried": integer(),
                }))),
                "total": numbers(),
            }),
        ),
        tool(
            "what_if_without",
            "Your context, and what is left until its compaction, without the items of these ids.",
            json!({"ids": list(integer())}),
            &["ids"],
            json!({"session": object(), "now": side(), "without": side()}),
        ),
        tool(
            "compaction_forecast",
            "Requests, turns and minutes until your context is compacted (median, 80 % band), and past compactions.",
            json!({}),
            &[],
            json!({
                "session": object(),
                "next": some(json!({"trigger": maybe(), "headroom": maybe(), "requests_left": band()})),
                "past": list(some(json!({"before": integer(), "after": maybe()}))),
            }),
        ),
        tool(
            "why",
            "What took the most tokens and money, and what to change: in this session or, with any argument, in all.",
            json!({
                "all": {"type": "boolean"}, "days": integer(), "project": {"type": "string"},
            }),
            &[],
            json!({"findings": list(object())}),
        ),
    ];
    if texts == Texts::On {
        tools.push(tool(
            "item_text",
            "A part of an item's text, from a byte on.",
            json!({"id": integer(), "from": integer(), "bytes": integer()}),
            &["id"],
            json!({
                "session": object(),
                "text": {"type": "string"},
                "from": integer(),
                "next": maybe(),
                "of": integer(),
            }),
        ));
    }
    tools
}

/// Makes a definition. All fields of its answer are required.
fn tool(
    name: &'static str,
    description: &'static str,
    arguments: Value,
    required: &[&str],
    answer: Value,
) -> Tool {
    let mut takes = json!({"type": "object", "properties": arguments});
    if !required.is_empty() {
        takes["required"] = json!(required);
    }
    let has: Vec<&String> = answer
        .as_object()
        .into_iter()
        .flat_map(|all| all.keys())
        .collect();
    Tool {
        name,
        description,
        input_schema: takes,
        output_schema: json!({"type": "object", "required": has, "properties": answer}),
        annotations: json!({"readOnlyHint": true}),
    }
}

/// No arguments.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LargestArguments {
    n: Option<u64>,
    role: Option<String>,
    tool: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WithoutArguments {
    ids: Vec<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WhyArguments {
    #[serde(default)]
    all: bool,
    days: Option<u32>,
    project: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextArguments {
    id: u64,
    from: Option<u64>,
    bytes: Option<u64>,
}

/// Parses a call.
pub(crate) fn parse(
    name: &str,
    arguments: Option<Map<String, Value>>,
    texts: Texts,
) -> Result<Question, Refusal> {
    let arguments = arguments.unwrap_or_default();
    Ok(match name {
        "context_now" => {
            let NoArguments {} = read(arguments)?;
            Question::Now
        }
        "largest_items" => {
            let LargestArguments { n, role, tool } = read(arguments)?;
            Question::Largest(Largest {
                most: index(n.unwrap_or(USUAL_ITEMS).clamp(1, MOST_ITEMS)),
                role: role.as_deref().map(role_of).transpose()?,
                tool,
                texts,
            })
        }
        "what_if_without" => {
            let WithoutArguments { ids } = read(arguments)?;
            if ids.len() > MOST_IDS {
                return Err(Refusal::Failed(format!("more than {MOST_IDS} ids")));
            }
            Question::Without(ids.into_iter().map(index).collect())
        }
        "compaction_forecast" => {
            let NoArguments {} = read(arguments)?;
            Question::Forecast
        }
        "why" => match read(arguments)? {
            WhyArguments {
                all: false,
                days: None,
                project: None,
            } => Question::Why,
            WhyArguments { days, project, .. } => Question::WhyOfAll(AllSessions {
                days,
                project,
                texts,
            }),
        },
        "item_text" if texts == Texts::On => {
            let TextArguments { id, from, bytes } = read(arguments)?;
            Question::Text(Part {
                id: index(id),
                from: from.unwrap_or_default(),
                bytes: bytes.unwrap_or(USUAL_TEXT).clamp(1, MOST_TEXT),
            })
        }
        _ => return Err(Refusal::Unknown),
    })
}

fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Refusal> {
    let read = serde_json::from_value(Value::Object(arguments));
    read.map_err(|e| Refusal::Failed(format!("the arguments are wrong: {e}")))
}

fn role_of(name: &str) -> Result<Role, Refusal> {
    let named = Role::ALL.into_iter().find(|role| role.name() == name);
    named.ok_or_else(|| {
        let names = Role::ALL.map(Role::name).join(", ");
        Refusal::Failed(format!("the role is none of {names}"))
    })
}

/// Converts an index. If it is too large, the result is one that no list has.
fn index(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokens::Counter;

    /// The most that the definitions may cost, in o200k tokens.
    const PRICE: u64 = 800;

    #[test]
    fn the_definitions_cost_little_context() {
        let tools = serde_json::to_string(&definitions(Texts::Off)).unwrap();
        let counter = Counter::new();
        let cost = counter.count(&tools);
        assert!(cost <= PRICE, "{cost}: {tools}");
    }

    fn parsed(name: &str, arguments: Value) -> Result<Question, Refusal> {
        parse(name, arguments.as_object().cloned(), Texts::On)
    }

    #[test]
    fn arguments_are_checked_and_bounded() {
        assert_eq!(parsed("context_now", json!({})), Ok(Question::Now));
        assert_eq!(parsed("context_now", Value::Null), Ok(Question::Now));
        let most = |n: Value| match parsed("largest_items", json!({"n": n})) {
            Ok(Question::Largest(largest)) => Some(largest.most),
            _ => None,
        };
        let given = [json!(null), json!(0), json!(7), json!(u64::MAX)].map(most);
        assert_eq!(given, [Some(10), Some(1), Some(7), Some(50)]);
        assert_eq!(
            most(json!(-1)).or(most(json!(1e30))).or(most(json!("7"))),
            None
        );
        let text = Part {
            id: 3,
            from: 0,
            bytes: MOST_TEXT,
        };
        let asked = parsed("item_text", json!({"id": 3, "bytes": 1u64 << 40}));
        assert_eq!(asked, Ok(Question::Text(text)));
        assert_eq!(parsed("why", json!({})), Ok(Question::Why));
        let of_all = |days, project: Option<&str>| {
            Ok(Question::WhyOfAll(AllSessions {
                days,
                project: project.map(str::to_owned),
                texts: Texts::On,
            }))
        };
        assert_eq!(parsed("why", json!({"all": true})), of_all(None, None));
        assert_eq!(parsed("why", json!({"days": 7})), of_all(Some(7), None));
        let project = json!({"project": "shop"});
        assert_eq!(parsed("why", project), of_all(None, Some("shop")));
        let wrong = [
            ("why", json!({"days": -1})),
            ("context_now", json!({"verbose": true})),
            ("largest_items", json!({"role": "nobody"})),
            ("what_if_without", json!({})),
            ("what_if_without", json!({"ids": [1, "2"]})),
            ("what_if_without", json!({"ids": vec![1; MOST_IDS + 1]})),
            ("item_text", json!({"from": 3})),
        ];
        for (name, arguments) in wrong {
            let refused = parsed(name, arguments);
            assert!(
                matches!(refused, Err(Refusal::Failed(_))),
                "{name}: {refused:?}"
            );
        }
    }

    #[test]
    fn texts_are_given_out_only_where_that_was_asked_for() {
        let arguments = json!({"id": 3}).as_object().cloned();
        assert_eq!(
            parse("item_text", arguments, Texts::Off),
            Err(Refusal::Unknown)
        );
        let names = |texts| {
            let tools = definitions(texts);
            tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>()
        };
        assert!(!names(Texts::Off).contains(&"item_text"));
        assert!(names(Texts::On).contains(&"item_text"));
    }
}
