//! Pages: how many items, where they end, and whether there is more.

use super::error::{Error, Result};

/// The default number of items of a page.
pub const DEFAULT_LIMIT: i32 = 50;

/// How many items were asked for, after the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limit(u32);

impl Limit {
    /// Reads an asked-for limit: above `max` it is `max`.
    ///
    /// # Errors
    /// [`Error::BadInput`] under 1.
    pub fn new(asked: i64, max: u32) -> Result<Self> {
        if asked < 1 {
            return Err(Error::BadInput(format!(
                "limit is a whole number of at least 1 (at most {max} are read)"
            )));
        }
        Ok(Self(u32::try_from(asked).map_or(max, |asked| asked.min(max))))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// What a caller asks of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// How many items, before the rules.
    pub limit: i64,
    /// Where to go on, further back in time; the newest page without one.
    pub cursor: Option<String>,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// Oldest first.
    pub items: Vec<T>,
    /// Where the page before this one begins; none exactly when `has_more` is false.
    pub next_cursor: Option<String>,
    /// Whether older items exist.
    pub has_more: bool,
}

/// How much of a list to read: a number of rows and a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent {
    /// The most items.
    pub limit: Limit,
    /// The most bytes of content; one item is read however large it is.
    pub max_bytes: usize,
}

/// Rows as they come from the store, until there are enough.
///
/// The store offers one row more than will be kept: that row is how a list knows that there is more, so a full
/// last page says `hasMore: false`.
#[derive(Debug)]
pub struct Cut<T> {
    rows: Vec<T>,
    bytes: usize,
    extent: Extent,
    has_more: bool,
}

impl<T> Cut<T> {
    /// Nothing read yet.
    #[must_use]
    pub const fn new(extent: Extent) -> Self {
        Self {
            rows: Vec::new(),
            bytes: 0,
            extent,
            has_more: false,
        }
    }

    /// How many rows to ask the database for.
    #[must_use]
    pub fn rows_to_read(extent: Extent) -> u64 {
        u64::from(extent.limit.get()) + 1
    }

    /// Offers the next row and the bytes of its content. False when it was one too many: nothing after it is
    /// wanted.
    pub fn offer(&mut self, row: T, bytes: usize) -> bool {
        let full = self.rows.len() >= self.extent.limit.get() as usize;
        let heavy = !self.rows.is_empty() && self.bytes + bytes > self.extent.max_bytes;
        if self.has_more || full || heavy {
            self.has_more = true;
            return false;
        }
        self.bytes += bytes;
        self.rows.push(row);
        true
    }

    /// The rows so far, in the order they were offered.
    #[must_use]
    pub fn rows(&self) -> &[T] {
        &self.rows
    }

    /// The same cut of other rows.
    ///
    /// # Errors
    /// The first one of `convert`.
    pub fn try_map<U, E>(self, convert: impl FnMut(T) -> Result<U, E>) -> Result<Cut<U>, E> {
        let Self {
            rows,
            bytes,
            extent,
            has_more,
        } = self;
        let rows = rows.into_iter().map(convert).collect::<Result<_, E>>()?;
        Ok(Cut {
            rows,
            bytes,
            extent,
            has_more,
        })
    }

    /// The rows in the order they were offered, and whether there are more.
    #[must_use]
    pub fn into_rows(self) -> (Vec<T>, bool) {
        (self.rows, self.has_more)
    }

    /// The page of rows that were offered newest first; `cursor` names the position of its oldest row.
    pub fn into_page(self, cursor: impl FnOnce(&T) -> String) -> Page<T> {
        let (mut items, has_more) = self.into_rows();
        let next_cursor = items.last().filter(|_| has_more).map(cursor);
        items.reverse();
        Page {
            items,
            next_cursor,
            has_more,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(rows: &[(u8, usize)], limit: i64, max_bytes: usize) -> Page<u8> {
        let extent = Extent {
            limit: Limit::new(limit, 200).unwrap(),
            max_bytes,
        };
        let mut cut = Cut::new(extent);
        for (row, bytes) in rows {
            if !cut.offer(*row, *bytes) {
                break;
            }
        }
        cut.into_page(|oldest| oldest.to_string())
    }

    #[test]
    fn a_limit_over_the_most_is_the_most_and_one_under_one_is_refused() {
        assert_eq!(Limit::new(1, 200).unwrap().get(), 1);
        assert_eq!(Limit::new(200, 200).unwrap().get(), 200);
        assert_eq!(Limit::new(201, 200).unwrap().get(), 200);
        assert_eq!(Limit::new(i64::MAX, 200).unwrap().get(), 200);
        assert!(Limit::new(0, 200).is_err() && Limit::new(-1, 200).is_err());
    }

    #[test]
    fn a_full_last_page_has_no_more_and_no_cursor() {
        let page = cut(&[(3, 1), (2, 1), (1, 1)], 3, 100);
        assert_eq!(
            (page.items, page.next_cursor, page.has_more),
            (vec![1, 2, 3], None, false)
        );
    }

    #[test]
    fn one_row_beyond_the_limit_is_how_a_page_knows_that_there_is_more() {
        let page = cut(&[(3, 1), (2, 1), (1, 1)], 2, 100);
        assert_eq!(
            (page.items, page.next_cursor, page.has_more),
            (vec![2, 3], Some("2".to_owned()), true)
        );
    }

    #[test]
    fn a_page_stops_early_at_its_bytes_with_at_least_one_item() {
        assert_eq!(cut(&[(3, 60), (2, 60), (1, 1)], 50, 100).items, [3]);
        assert_eq!(cut(&[(3, 600), (2, 1)], 50, 100).items, [3]);
        assert!(!cut(&[(3, 600)], 50, 100).has_more);
    }

    #[test]
    fn an_empty_list_is_empty() {
        assert_eq!(
            cut(&[], 50, 100),
            Page {
                items: vec![],
                next_cursor: None,
                has_more: false
            }
        );
    }
}
