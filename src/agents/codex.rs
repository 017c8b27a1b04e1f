//! stub
use super::*;
/// The format.
pub struct Codex;
impl Format for Codex {
    fn id(&self) -> &'static str {
        "codex"
    }
    fn label(&self) -> &'static str {
        "codex"
    }
    fn roots(&self) -> &'static [Root] {
        &[]
    }
    fn claims(&self, _: &Path) -> Option<Claim> {
        None
    }
    fn recognise(&self, _: &[u8]) -> bool {
        false
    }
    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Nothing)
    }
    fn reset_marks(&self) -> &'static [&'static str] {
        &[]
    }
    fn terms(&self) -> &'static [Term] {
        &[]
    }
}
struct Nothing;
impl Decoder for Nothing {
    fn read(&mut self, _: Input<'_>, _: &mut Sink<'_>) {}
}
