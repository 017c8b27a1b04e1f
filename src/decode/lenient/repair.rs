//! Usage reports of which a number is impossible: negative, not whole, no number. It costs itself, and not the report.
//!
//! Providers and relays take numbers from each other that do not belong together: a prompt of 27,146 tokens of which 27,968
//! were read from a cache is reported with an input of -822. The total shows what the prompt was.

use super::Count;

/// A usage report that says what its numbers are, so that it can be used where one is lost.
pub trait Repair {
    /// Returns its numbers.
    fn parts(&mut self) -> UsageParts<'_>;
}

/// A number of a usage report, and its name in the log.
pub type NamedCount<'p> = (&'static str, &'p mut Count);

/// The numbers of a usage report. Those that are not among them are details: without them the others are as they were.
#[must_use]
pub struct UsageParts<'p> {
    /// The numbers that add up to the prompt.
    prompt: Vec<NamedCount<'p>>,
    output: NamedCount<'p>,
    /// The names of numbers without which the output is not known.
    output_needs: &'static [&'static str],
    /// The names of other numbers without which none is known.
    needs: &'static [&'static str],
    /// The prompt, where the report has that as well.
    whole: Option<u64>,
    /// The prompt and the output together, where the report has that.
    total: Option<u64>,
    counts_without_prompt: bool,
}

impl<'p> UsageParts<'p> {
    /// Returns the parts of a report: these numbers add up to the prompt, and this is the output.
    pub fn new(prompt: Vec<NamedCount<'p>>, output: NamedCount<'p>) -> UsageParts<'p> {
        UsageParts {
            prompt,
            output,
            output_needs: &[],
            needs: &[],
            whole: None,
            total: None,
            counts_without_prompt: false,
        }
    }

    /// Returns the parts of a report whose output is not known without the numbers of these names.
    pub fn output_needs(self, output_needs: &'static [&'static str]) -> Self {
        UsageParts {
            output_needs,
            ..self
        }
    }

    /// Returns the parts of a report of which no number is known without those of these names.
    pub fn needs(self, needs: &'static [&'static str]) -> Self {
        UsageParts { needs, ..self }
    }

    /// Returns the parts of a report that has the prompt as one number, too.
    pub fn whole(self, prompt: Count) -> Self {
        UsageParts {
            whole: prompt.0,
            ..self
        }
    }

    /// Returns the parts of a report that has the prompt and the output together.
    pub fn total(self, total: Count) -> Self {
        UsageParts {
            total: total.0,
            ..self
        }
    }

    /// Returns the parts of a report that counts where its prompt is not known. Its decoder must emit the report in the
    /// record that contains it.
    pub fn counts_without_prompt(self) -> Self {
        UsageParts {
            counts_without_prompt: true,
            ..self
        }
    }
}

/// The usable part of a usage report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsableReport {
    /// Nothing.
    Unusable,
    /// All that matters.
    Whole,
    /// Numbers of which it is not known what prompt they add up to.
    WithoutPrompt,
}

/// Repairs a report of which the numbers of these names are lost.
pub fn mend(mut parts: UsageParts<'_>, lost: &[&'static str]) -> UsableReport {
    let is_lost = |name: &&'static str| lost.contains(name);
    let (name, output) = &mut parts.output;
    let known: u64 = parts.prompt.iter().map(|(_, part)| part.or_zero()).sum();
    let missing = parts
        .prompt
        .iter()
        .filter(|(name, _)| is_lost(name))
        .count();
    let lacks_output = is_lost(name) || parts.output_needs.iter().any(is_lost);
    if parts.needs.iter().any(is_lost) {
        return UsableReport::Unusable;
    }
    if missing == 0 {
        if lacks_output {
            let total = parts.total;
            **output = Count(total.and_then(|total| total.checked_sub(known)));
        }
        return UsableReport::Whole;
    }
    let rest = || {
        parts
            .total?
            .checked_sub(output.0.filter(|_| !lacks_output)?)
    };
    let whole = parts.whole.or_else(rest).filter(|whole| *whole > 0);
    let Some(whole) = whole.filter(|_| missing == 1) else {
        return if parts.counts_without_prompt {
            UsableReport::WithoutPrompt
        } else {
            UsableReport::Unusable
        };
    };
    // The cached part cannot be more than the whole.
    let mut excess = known.saturating_sub(whole);
    for (name, part) in &mut parts.prompt {
        if is_lost(name) {
            **part = Count(Some(whole.saturating_sub(known)));
        } else {
            let cut = excess.min(part.or_zero());
            excess -= cut;
            **part = Count(part.0.map(|tokens| tokens - cut));
        }
    }
    if lacks_output {
        **output = Count(None);
    }
    UsableReport::Whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lenient::{LostFields, parse, record};

    record! {
        mended whole struct Usage {
            input: Count,
            cached: Count,
            output: Count,
            reasoning: Count,
            total: Count,
        }

        struct Line {
            usage: Option<Usage>,
        }
    }

    impl Repair for Usage {
        fn parts(&mut self) -> UsageParts<'_> {
            let total = self.total;
            let counts = self.reasoning.0.is_some();
            let prompt = vec![("input", &mut self.input), ("cached", &mut self.cached)];
            let parts = UsageParts::new(prompt, ("output", &mut self.output)).total(total);
            if counts {
                parts.counts_without_prompt()
            } else {
                parts
            }
        }
    }

    /// Input, cached, output; whether the prompt is known. `None`: nothing is used.
    fn read(usage: &str) -> Option<([Option<u64>; 3], bool)> {
        let lost = LostFields::default();
        let line = format!("{{\"usage\":{{{usage}}}}}");
        let line: Line = parse(&line, &lost).unwrap();
        assert!(lost.has_usage(), "it is counted");
        let usage = line.usage?;
        let numbers = [usage.input.0, usage.cached.0, usage.output.0];
        Some((numbers, !lost.lacks_prompt()))
    }

    #[test]
    fn an_impossible_number_costs_itself() {
        let all = |input, cached, output| Some(([Some(input), Some(cached), Some(output)], true));
        let negative = r#""input":-822,"cached":27968,"output":86,"total":27232"#;
        assert_eq!(read(negative), all(0, 27_146, 86));
        let odd = r#""input":"x","cached":900,"output":86,"total":1986"#;
        assert_eq!(read(odd), all(1_000, 900, 86));
        let output = r#""input":1000,"cached":900,"output":-1,"total":1986"#;
        assert_eq!(read(output), all(1_000, 900, 86));
        let alone = r#""input":1000,"cached":900,"output":-1"#;
        assert_eq!(read(alone), Some(([Some(1_000), Some(900), None], true)));
        let detail = r#""input":1000,"cached":900,"output":86,"reasoning":1.5"#;
        assert_eq!(read(detail), all(1_000, 900, 86));
        let total = r#""input":1000,"cached":900,"output":86,"total":-1"#;
        assert_eq!(read(total), all(1_000, 900, 86));
    }

    #[test]
    fn without_a_total_the_prompt_is_not_known() {
        assert_eq!(read(r#""input":-822,"cached":27968,"output":86"#), None);
        assert_eq!(
            read(r#""input":-1,"cached":-1,"output":86,"total":900"#),
            None
        );
        assert_eq!(read(r#""input":-1,"cached":0,"output":86,"total":7"#), None);
        let counted = r#""input":-822,"cached":27968,"output":86,"reasoning":3"#;
        assert_eq!(read(counted), Some(([None, Some(27_968), Some(86)], false)));
    }
}
