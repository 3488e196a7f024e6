/// Max-min fair shares of an amount. A request below an equal share is met in full, and the rest is
/// shared by the others. So small requests don't suffer from large ones.
pub(super) fn fair_shares(amount: u64, requests: &[u64]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by_key(|index| requests.get(*index));
    let (mut shares, mut left) = (vec![0; requests.len()], amount);
    for (index, sharers) in order.into_iter().zip((1..=requests.len() as u64).rev()) {
        let (Some(request), Some(share)) = (requests.get(index), shares.get_mut(index)) else { continue };
        *share = (left / sharers).min(*request);
        left -= *share;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::fair_shares;

    #[test]
    fn small_requests_are_met_and_large_ones_share_the_rest() {
        assert_eq!(fair_shares(100, &[80, 10, 0, 90]), [45, 10, 0, 45]);
        assert_eq!(fair_shares(1000, &[80, 10]), [80, 10]);
        assert_eq!(fair_shares(u64::MAX, &[u64::MAX, u64::MAX]), [u64::MAX / 2, u64::MAX / 2 + 1]);
        assert!(fair_shares(7, &[]).is_empty());
    }
}
