//! The section for hooks.

use model::due::alerts::ShareList;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// The warnings and reports of hooks.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hooks {
    /// The shares of the trigger at which they warn, each above 0 and up to 1, the smallest first.
    #[serde(rename = "share", deserialize_with = "shares")]
    pub shares: Vec<f64>,
    /// True if they warn the model too.
    pub tell_model: bool,
    /// True if they report compactions.
    pub compactions: bool,
}

impl Default for Hooks {
    fn default() -> Hooks {
        Hooks {
            shares: vec![0.8, 0.95],
            tell_model: false,
            compactions: true,
        }
    }
}

fn shares<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let shares = ShareList::deserialize(from)?.in_order();
    let wrong =
        "each `share` of [hooks] is a share of the trigger, above 0 and up to 1: 0.8 is 80 %";
    shares.ok_or_else(|| D::Error::custom(wrong))
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;

    #[test]
    fn what_hooks_say_is_read() {
        let hooks = read("[hooks]\nshare = [0.9, 0.5]\ntell_model = true\n")
            .unwrap()
            .hooks;
        assert_eq!((hooks.shares, hooks.tell_model), (vec![0.5, 0.9], true));
        assert!(hooks.compactions);
        let hooks = read("[hooks]\nshare = 0.7\ncompactions = false\n")
            .unwrap()
            .hooks;
        assert_eq!((hooks.shares, hooks.compactions), (vec![0.7], false));
        assert_eq!(
            read("[hooks]\nshare = []\n").unwrap().hooks.shares,
            [0.0; 0]
        );
        for (text, why) in [
            ("[hooks]\nshare = 80\n", "0.8 is 80 %"),
            ("[hooks]\nshare = [0]\n", "0.8 is 80 %"),
            ("[hooks]\nmodel = true\n", "tell_model"),
        ] {
            let error = format!("{:#}", read(text).unwrap_err());
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
