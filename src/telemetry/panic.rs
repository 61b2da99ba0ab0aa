//! What a panic tells.

use std::{any::Any, panic};

/// Logs each panic with its place. What it says is told only when it stands in the source as it is: anything put
/// together may hold what somebody said.
pub(super) fn tell_places() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, said = fixed_text(panic.payload()), "a panic");
    }));
}

fn fixed_text(payload: &(dyn Any + Send)) -> Option<&'static str> {
    payload.downcast_ref::<&'static str>().copied()
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::fixed_text;

    #[test]
    fn what_a_panic_says_is_told_only_when_it_stands_in_the_source() {
        let said = |panics: fn()| fixed_text(&*catch_unwind(panics).unwrap_err());
        assert_eq!(said(|| panic!("as it is")), Some("as it is"));
        assert_eq!(said(|| panic!("put together {}", std::process::id())), None);
        assert_eq!(said(|| assert_eq!("x".parse::<u8>().expect("a number"), 1)), None);
    }
}
