//! The text format of Prometheus, read strictly.

use std::collections::{BTreeMap, BTreeSet};

/// A family of series.
#[derive(Debug, Default)]
pub struct Family {
    pub kind: String,
    pub help: String,
    /// The values by name and labels, as they were written.
    pub series: BTreeMap<String, f64>,
}

/// What was scraped.
#[derive(Debug)]
pub struct Scrape {
    pub families: BTreeMap<String, Family>,
}

impl Scrape {
    /// Reads a scrape; what is not of the form fails the test.
    pub fn read(text: &str) -> Self {
        let mut families: BTreeMap<String, Family> = BTreeMap::new();
        let mut current = String::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(rest) = line.strip_prefix("# ") {
                let mut words = rest.splitn(3, ' ');
                let (what, name, rest) = (words.next(), words.next().unwrap(), words.next().unwrap());
                assert!(is_name(name), "{line}");
                let family = families.entry(name.to_owned()).or_default();
                match what {
                    Some("HELP") => family.help = rest.to_owned(),
                    Some("TYPE") => {
                        assert!(family.kind.is_empty(), "typed once: {line}");
                        family.kind = rest.to_owned();
                    }
                    _ => panic!("{line}"),
                }
                current = name.to_owned();
                continue;
            }
            let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
            let name = series.split('{').next().unwrap();
            let family = families.get_mut(&current).expect("a type comes first");
            assert!(name_fits(name, &current, &family.kind), "{line} below {current}");
            check_labels(series, name);
            let value = value.parse().unwrap_or_else(|_| panic!("{line}"));
            assert!(
                family.series.insert(series.to_owned(), value).is_none(),
                "twice: {line}"
            );
        }
        for (name, family) in &families {
            family.check(name);
        }
        Self { families }
    }

    /// The value of a series, 0 when it is not there.
    pub fn value(&self, series: &str) -> f64 {
        let mut all = self.families.values().flat_map(|family| &family.series);
        all.find(|(name, _)| *name == series)
            .map_or(0.0, |(_, value)| *value)
    }

    /// The sum of a family's series.
    pub fn sum(&self, family: &str) -> f64 {
        self.families
            .get(family)
            .map_or(0.0, |family| family.series.values().sum())
    }
}

impl Family {
    fn check(&self, name: &str) {
        assert!(!self.help.is_empty(), "{name} is explained");
        match self.kind.as_str() {
            "counter" => assert!(name.ends_with("_total"), "{name}"),
            "gauge" => {}
            "histogram" => self.check_buckets(name),
            other => panic!("{name} is a {other}"),
        }
    }

    /// Each bucket holds what the smaller ones hold, and the last one holds all.
    fn check_buckets(&self, name: &str) {
        let buckets = self.series.keys().filter(|series| series.contains("le=\""));
        let labels: BTreeSet<String> = buckets.map(|series| without_bound(series)).collect();
        assert!(!labels.is_empty(), "{name}");
        for labels in labels {
            let mut bounds: Vec<(f64, f64)> = self
                .series
                .iter()
                .filter(|(series, _)| series.contains("le=\"") && without_bound(series) == labels)
                .map(|(series, value)| (bound(series), *value))
                .collect();
            bounds.sort_by(|one, other| one.0.total_cmp(&other.0));
            assert!(
                bounds.windows(2).all(|pair| pair[0].1 <= pair[1].1),
                "{name}: {bounds:?}"
            );
            let (last, count) = *bounds.last().unwrap();
            assert_eq!(last, f64::INFINITY, "{name}");
            let total = labels.replace("_bucket", "_count").replace("{}", "");
            assert_eq!(self.series[&total], count, "{total}");
        }
    }
}

fn without_bound(series: &str) -> String {
    let (before, rest) = series.split_once("le=\"").unwrap();
    let (_, after) = rest.split_once('"').unwrap();
    format!("{}{}", before.trim_end_matches(','), after)
}

fn bound(series: &str) -> f64 {
    let (_, rest) = series.split_once("le=\"").unwrap();
    let bound = rest.split('"').next().unwrap();
    bound.parse().unwrap_or_else(|_| panic!("{series}"))
}

fn name_fits(name: &str, family: &str, kind: &str) -> bool {
    let rest = name.strip_prefix(family);
    match kind {
        "histogram" => matches!(rest, Some("_bucket" | "_sum" | "_count")),
        _ => rest == Some(""),
    }
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_lowercase())
        && chars.all(|c| c.is_ascii_lowercase() || matches!(c, '_' | '0'..='9'))
}

/// `name="value",…`, no name twice.
fn check_labels(series: &str, name: &str) {
    let Some(labels) = series[name.len()..].strip_prefix('{') else {
        assert_eq!(series, name);
        return;
    };
    let mut names = BTreeSet::new();
    let mut rest = labels.strip_suffix('}').unwrap_or_else(|| panic!("{series}"));
    while !rest.is_empty() {
        let (label, value) = rest.split_once("=\"").unwrap_or_else(|| panic!("{series}"));
        assert!(is_name(label) && names.insert(label), "{series}");
        let (value, after) = value.split_once('"').unwrap_or_else(|| panic!("{series}"));
        assert!(!value.contains(['\\', '\n']), "{series}");
        rest = after.strip_prefix(',').unwrap_or(after);
    }
}
