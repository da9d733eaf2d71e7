//! An error as part of a list below its target.

use super::model::ErrorReport;
use super::plan::name;
use crate::ui::{Look, Role, snippet};

/// `! Deployment shop/web: what happened: why`, and below it what does not fit on a line (the
/// words of a tool) and what to do next.
pub(super) fn problem(error: &ErrorReport, look: Look) -> String {
    let subject = error.object.iter().map(name);
    let mut head: Vec<String> = subject.chain([error.message.clone()]).collect();
    let short = !error.causes.iter().any(|cause| cause.trim_end().contains('\n'));
    if short {
        head.extend(error.causes.iter().cloned());
    }
    let head = look.paint(Role::Fail, &format!("! {}", indented(&head.join(": "), 6)));
    let mut text = format!("  {head}\n");
    for line in error.place.iter().flat_map(|place| snippet(place, look)) {
        text += &format!("      {line}\n");
    }
    for cause in error.causes.iter().filter(|_| !short) {
        text += &format!("      {}\n", indented(cause, 8));
    }
    let sign = look.paint(Role::Hint, "hint:");
    for hint in &error.hints {
        text += &format!("      {sign} {}\n", indented(hint, 8));
    }
    text
}

/// The lines after the first set in.
fn indented(text: &str, by: usize) -> String {
    text.trim_end().lines().collect::<Vec<_>>().join(&format!("\n{:by$}", ""))
}
