/// Performance per unit of money.
pub fn per_money(figure: f64, price: f64) -> f64 {
    figure / price
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `FlashyDB`: an X25-E does 35 000 random reads or 3 300 random writes a second, 56 or 5.3 per
    /// euro. Both imply a price of about 624 euros.
    #[test]
    fn flashydb_example_has_its_requests_per_euro() {
        const EUROS: f64 = 624.0;
        assert_eq!(format!("{:.0}", per_money(35_000.0, EUROS)), "56");
        assert_eq!(format!("{:.1}", per_money(3_300.0, EUROS)), "5.3");
    }
}
