//! The rule by which an agent compacts, in words.

use model::window::Rules;
use render::number::grouped;

/// Describes when an agent compacts, by the models table: its usual rule, then those for some versions, models or
/// windows.
pub fn trigger_rule(rules: &Rules, agent: &str) -> String {
    let mut parts: Vec<(bool, String)> = Vec::new();
    for policy in rules.policy.iter().filter(|policy| policy.agent == agent) {
        let mut only: Vec<String> = Vec::new();
        only.extend(policy.up_to.as_ref().map(|v| format!("up to {v}")));
        only.extend(
            policy
                .until
                .map(|last| format!("until {}", last.strftime("%Y-%m-%d"))),
        );
        only.extend(policy.models.iter().cloned());
        only.extend(policy.sessions.iter().map(|id| format!("sessions {id}")));
        if policy.window_from > 0 {
            only.push(format!("windows from {}", grouped(policy.window_from)));
        }
        // It follows "compacts at".
        let name = policy.name.strip_prefix("at ").unwrap_or(&policy.name);
        let text = if only.is_empty() {
            name.to_owned()
        } else {
            format!("{name} ({})", only.join(", "))
        };
        parts.push((!only.is_empty(), text));
    }
    parts.sort_by_key(|(special, _)| *special);
    let parts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    if parts.is_empty() {
        "not known".to_owned()
    } else {
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trigger_rule_names_the_usual_one_first() {
        let rules: Rules = toml::from_str(
            "[[policy]]\nagent = \"a\"\nname = \"old\"\nup_to = \"1.2\"\n\
             [[policy]]\nagent = \"a\"\nname = \"large\"\nwindow_from = 1_000_000\nmodels = [\"m*\"]\n\
             [[policy]]\nagent = \"a\"\nname = \"at 100 tokens\"\n",
        )
        .unwrap();
        let rule = trigger_rule(&rules, "a");
        assert_eq!(
            rule,
            "100 tokens; old (up to 1.2); large (m*, windows from 1,000,000)"
        );
        assert_eq!(trigger_rule(&rules, "b"), "not known");
    }
}
