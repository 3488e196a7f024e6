//! Columns as bytes that sort by `memcmp`.
//!
//! ```
//! use nandle_spill::keys::{KeyWriter, Nulls, Order};
//!
//! let key = |name: &str, age: Option<i64>| {
//!     let mut key = KeyWriter::default();
//!     key.text(name.as_bytes(), Order::Ascending);
//!     key.nullable(age, Nulls::Last, |key, age| key.i64(age, Order::Descending));
//!     key.into_bytes()
//! };
//! assert!(key("ann", Some(40)) < key("ann", Some(30)));
//! assert!(key("ann", Some(30)) < key("ann", None));
//! assert!(key("ann", None) < key("anna", Some(1)));
//! ```
//!
//! No encoded value is a prefix of another, so columns are simply concatenated.

/// Sort direction of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Smallest value first.
    Ascending,
    /// Greatest value first.
    Descending,
}

/// Position of nulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// Before all other values.
    First,
    /// After all other values.
    Last,
}

/// Encodes columns as one key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyWriter {
    bytes: Vec<u8>,
}

/// Follows a zero byte that is part of a text.
const ZERO_OF_TEXT: u8 = 0xFF;
/// Follows a zero byte that ends a text.
const END_OF_TEXT: u8 = 0x00;
const SIGN: u64 = 1 << 63;

impl KeyWriter {
    /// Creates a writer that appends to `bytes`, so that memory can be reused.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// Returns the key.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends an unsigned integer: eight bytes, big-endian.
    pub fn u64(&mut self, value: u64, order: Order) {
        self.fixed(value.to_be_bytes(), order);
    }

    /// Appends a signed integer: eight bytes, big-endian, with the sign bit inverted.
    pub fn i64(&mut self, value: i64, order: Order) {
        self.u64(value.cast_unsigned() ^ SIGN, order);
    }

    /// Appends a number in the total order of IEEE 754 (2008), §5.10, except that −0 equals 0, and
    /// all NaNs are equal and greater than every number, as databases expect.
    pub fn f64(&mut self, value: f64, order: Order) {
        let bits = if value.is_nan() { f64::NAN.to_bits() & !SIGN } else { (value + 0.0).to_bits() };
        let ordered = if bits & SIGN == 0 { bits | SIGN } else { !bits };
        self.u64(ordered, order);
    }

    /// Appends bytes of any length: each zero byte is escaped, and two zero bytes end the text.
    pub fn text(&mut self, text: &[u8], order: Order) {
        let from = self.bytes.len();
        let mut parts = text.split(|byte| *byte == 0);
        self.bytes.extend_from_slice(parts.next().unwrap_or_default());
        for part in parts {
            self.bytes.extend_from_slice(&[0, ZERO_OF_TEXT]);
            self.bytes.extend_from_slice(part);
        }
        self.bytes.extend_from_slice(&[0, END_OF_TEXT]);
        self.turn(from, order);
    }

    /// Appends bytes unchanged. All rows must have the same length here, unless this is the last
    /// column.
    pub fn raw(&mut self, bytes: &[u8], order: Order) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.turn(from, order);
    }

    /// Appends a value that may be null: a marker byte, then the value.
    pub fn nullable<T>(&mut self, value: Option<T>, nulls: Nulls, write: impl FnOnce(&mut Self, T)) {
        const THERE: u8 = 1;
        match (value, nulls) {
            (Some(value), _) => {
                self.bytes.push(THERE);
                write(self, value);
            }
            (None, Nulls::First) => self.bytes.push(THERE - 1),
            (None, Nulls::Last) => self.bytes.push(THERE + 1),
        }
    }

    fn fixed<const N: usize>(&mut self, bytes: [u8; N], order: Order) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(&bytes);
        self.turn(from, order);
    }

    fn turn(&mut self, from: usize, order: Order) {
        if order == Order::Descending {
            self.bytes.iter_mut().skip(from).for_each(|byte| *byte = !*byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::*;

    use super::*;

    fn key(write: impl FnOnce(&mut KeyWriter)) -> Vec<u8> {
        let mut key = KeyWriter::default();
        write(&mut key);
        key.into_bytes()
    }

    fn turned(order: Order, ordering: Ordering) -> Ordering {
        if order == Order::Ascending { ordering } else { ordering.reverse() }
    }

    fn order() -> impl Strategy<Value = Order> {
        prop_oneof![Just(Order::Ascending), Just(Order::Descending)]
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(254), Just(255), any::<u8>()], 0..6)
    }

    proptest! {
        #[test]
        fn integers_sort_by_value(one: i64, other: i64, order in order()) {
            let key = |value| key(|key| key.i64(value, order));
            prop_assert_eq!(key(one).cmp(&key(other)), turned(order, one.cmp(&other)));
        }

        #[test]
        fn floats_sort_by_value(one: f64, other: f64, order in order()) {
            let key = |value| key(|key| key.f64(value, order));
            prop_assert_eq!(key(one).cmp(&key(other)), turned(order, one.partial_cmp(&other).unwrap()));
        }

        #[test]
        fn texts_sort_before_the_columns_behind_them(one in (text(), text()), other in (text(), text()), orders in (order(), order())) {
            let key = |(first, second): &(Vec<u8>, Vec<u8>)| key(|key| {
                key.text(first, orders.0);
                key.text(second, orders.1);
            });
            let expected = turned(orders.0, one.0.cmp(&other.0)).then(turned(orders.1, one.1.cmp(&other.1)));
            prop_assert_eq!(key(&one).cmp(&key(&other)), expected);
        }

        #[test]
        fn nulls_sort_first_or_last(one: Option<u64>, other: Option<u64>, order in order()) {
            let key = |value, nulls| key(|key| key.nullable(value, nulls, |key, value| key.u64(value, order)));
            let by_value = |nulls_first: bool| match (one, other) {
                (Some(one), Some(other)) => turned(order, one.cmp(&other)),
                _ if nulls_first => one.is_some().cmp(&other.is_some()),
                _ => other.is_some().cmp(&one.is_some()),
            };
            for nulls in [Nulls::First, Nulls::Last] {
                prop_assert_eq!(key(one, nulls).cmp(&key(other, nulls)), by_value(nulls == Nulls::First));
            }
        }
    }

    #[test]
    fn nans_are_equal_and_zeros_are_equal() {
        let key = |value: f64| key(|key| key.f64(value, Order::Ascending));
        assert_eq!(key(-0.0), key(0.0));
        assert_eq!(key(f64::NAN), key(-f64::NAN));
        assert!(key(f64::NAN) > key(f64::INFINITY) && key(f64::NEG_INFINITY) < key(f64::MIN));
        assert!(key(-f64::MIN_POSITIVE) < key(0.0) && key(0.0) < key(5e-324));
    }
}
