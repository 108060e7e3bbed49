use super::args::Inspect;
use super::{Failure, Outcome, World};
pub(super) fn run(_args: Inspect, _world: &mut World<'_>) -> Result<Outcome, Failure> {
    Ok(Outcome::Done)
}
