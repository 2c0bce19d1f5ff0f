//! Switches that take a rule out of a protocol, to show that a model notices. `scripts/mutants.md` lists them.

/// A rule of a protocol that can be taken out, by name.
///
/// It is out only in a program that is built with `--cfg mutants` and runs with `MUTANT` set to the name. In every
/// other build [`is_on`](Self::is_on) is the constant `false`.
#[derive(Clone, Copy, Debug)]
pub struct Mutant(pub &'static str);

impl Mutant {
    /// Whether the rule is out.
    #[inline(always)]
    pub fn is_on(self) -> bool {
        cfg!(mutants) && chosen() == Some(self.0)
    }
}

/// The name in the variable `MUTANT`.
fn chosen() -> Option<&'static str> {
    static CHOSEN: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    CHOSEN.get_or_init(|| std::env::var("MUTANT").ok()).as_deref()
}
