use super::super::rooms::Room;
use super::*;

fn page_at(block: u64) -> Kept {
    Kept { block, stored_bytes: 4096, sequence: 1 }
}

/// Room for a page of a group, taken immediately.
fn take_room(zones: &mut Zones, group: usize, spared: usize) -> Option<Room> {
    let mut rooms = zones.rooms(spared);
    let room = rooms.room(group, 1);
    let taken = rooms.taken();
    zones.take(&taken);
    room
}

#[test]
fn discards_that_are_alive_take_a_header() {
    let mut zones = Zones::new(10, 2, 1, 1);
    take_room(&mut zones, 0, 0);
    zones.fill(0, 10, 1);
    for page in 0..100 {
        zones.live(Kept { stored_bytes: 0, ..page_at(page % 10) }, PageNumber(page));
    }
    take_room(&mut zones, 0, 0);
    assert_eq!(zones.victim(1, 16, 1), Some(0));
}

#[test]
fn compressed_pages_count_by_their_bytes() {
    let mut zones = Zones::new(40, 2, 1, 1);
    take_room(&mut zones, 0, 0);
    zones.fill(0, 40, 1);
    for page in 0..70 {
        zones.live(Kept { stored_bytes: 1024, ..page_at(1 + page / 4) }, PageNumber(page));
    }
    take_room(&mut zones, 0, 0);
    assert_eq!(zones.victim(1, 252, 1), Some(0), "18 blocks are alive");
    for page in 0..20 {
        zones.live(page_at(20 + page), PageNumber(page));
    }
    assert_eq!(zones.victim(1, 252, 1), None, "all are");
}

#[test]
fn groups_fill_zones_of_their_own_and_share_when_space_is_short() {
    let mut zones = Zones::new(10, 3, 2, 1);
    assert_eq!(take_room(&mut zones, 0, 1), Some(Room { position: 0, blocks: 9 }));
    zones.fill(0, 5, 1);
    assert_eq!(take_room(&mut zones, 1, 1), Some(Room { position: 10, blocks: 9 }));
    zones.fill(10, 20, 2);
    assert_eq!(take_room(&mut zones, 1, 1), Some(Room { position: 5, blocks: 4 }), "one zone is spared");
    assert_eq!(take_room(&mut zones, 1, 0), Some(Room { position: 20, blocks: 9 }));
}

#[test]
fn a_zone_is_free_when_its_death_is_durable() {
    let mut zones = Zones::new(10, 3, 1, 1);
    take_room(&mut zones, 0, 0);
    zones.fill(0, 10, 1);
    zones.live(page_at(3), PageNumber(5));
    take_room(&mut zones, 0, 0);
    assert_eq!(zones.victim(1, 252, 1), Some(0));
    assert_eq!(zones.victim(1, 252, 0), None, "it isn't written yet");
    zones.replaced(page_at(3), 7);
    assert!(zones.dead_zones(6).is_empty());
    assert_eq!(zones.dead_zones(7), [0]);
    zones.release(0);
    assert_eq!(zones.free(), 2);
}
