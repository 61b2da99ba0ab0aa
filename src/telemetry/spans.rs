//! How the spans that a line was written in are shown with it.
//!
//! A span of a trace says much that would bury the line; it is shown by its name, and the ids that a line is found by.

use std::{error::Error, fmt};

use tracing::field::{Field, Visit};
use tracing_subscriber::{
    field::{RecordFields, VisitOutput},
    fmt::{
        FormatFields, FormattedFields,
        format::{DefaultVisitor, JsonVisitor, Writer},
    },
};

/// What OpenTelemetry calls the things that a span is given when it begins.
const NOT_SHOWN: [&str; 4] = ["otel.", "http.", "db.system", "db.operation"];

/// Spans in lines for people.
pub(super) struct Text;

/// Spans in lines for machines.
pub(super) struct Json;

impl<'w> FormatFields<'w> for Text {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut shown = Shown(DefaultVisitor::new(writer, true));
        fields.record(&mut shown);
        shown.0.finish()
    }

    /// What a span learns later is for the trace.
    fn add_fields(&self, _: &'w mut FormattedFields<Self>, _: &tracing::span::Record<'_>) -> fmt::Result {
        Ok(())
    }
}

impl<'w> FormatFields<'w> for Json {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut shown = Shown(JsonVisitor::new(&mut writer));
        fields.record(&mut shown);
        shown.0.finish()
    }

    fn add_fields(&self, _: &'w mut FormattedFields<Self>, _: &tracing::span::Record<'_>) -> fmt::Result {
        Ok(())
    }
}

struct Shown<V>(V);

impl<V: Visit> Shown<V> {
    fn of(&mut self, field: &Field, show: impl FnOnce(&mut V)) {
        if !NOT_SHOWN.iter().any(|prefix| field.name().starts_with(prefix)) {
            show(&mut self.0);
        }
    }
}

impl<V: Visit> Visit for Shown<V> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.of(field, |shown| shown.record_debug(field, value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.of(field, |shown| shown.record_str(field, value));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.of(field, |shown| shown.record_error(field, value));
    }
}
