//! Ports on 127.0.0.1 for the components of a control plane.
//!
//! They are taken below the range from which the system gives ports to outgoing connections (32768 and up on Linux, 49152
//! elsewhere): a component that is stopped and started again, as tests do, would else find its port taken by a client.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};

use crate::error::{Error, Result};

const FIRST: u16 = 17_000;
const LAST: u16 = 31_999;

/// `count` free ports that are not in `taken`, starting the search at a random place.
pub(crate) fn free<const N: usize>(taken: &BTreeSet<u16>) -> Result<[u16; N]> {
    let mut found = [0; N];
    let mut candidates = sequence(RandomState::new().hash_one(std::process::id()))
        .filter(|port| !taken.contains(port) && is_free(*port));
    for slot in &mut found {
        *slot = candidates.next().ok_or_else(|| {
            Error::new(format!("no free port from {FIRST} to {LAST} on 127.0.0.1"))
        })?;
    }
    Ok(found)
}

/// True if this port could be listened on just now.
pub(crate) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Every port of the range once, from a place given by `seed`.
fn sequence(seed: u64) -> impl Iterator<Item = u16> {
    let span = LAST - FIRST + 1;
    let offset = u16::try_from(seed % u64::from(span)).unwrap_or(0);
    (0..span).map(move |i| FIRST + ((u32::from(i) + u32::from(offset)) % u32::from(span)) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_has_every_port_of_the_range_once() {
        for seed in [0, 1, 14_999, 15_000, u64::MAX] {
            let ports: BTreeSet<u16> = sequence(seed).collect();
            assert_eq!(ports.len(), 15_000);
            assert_eq!((ports.first(), ports.last()), (Some(&FIRST), Some(&LAST)));
            assert_eq!(sequence(seed).count(), 15_000);
        }
    }

    #[test]
    fn taken_and_used_ports_are_not_given() {
        let [a, b] = free(&BTreeSet::new()).unwrap();
        assert_ne!(a, b);
        let all_but_one: BTreeSet<u16> = (FIRST..=LAST).filter(|p| *p != a).collect();
        assert_eq!(free::<1>(&all_but_one).unwrap(), [a]);
        let held = TcpListener::bind((Ipv4Addr::LOCALHOST, a)).unwrap();
        assert!(!is_free(a));
        assert!(free::<1>(&all_but_one).is_err());
        drop(held);
    }
}
