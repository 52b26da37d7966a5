//! Slots by table where clocks change, and by property everywhere.

use super::*;
use crate::agents::schedules::zone::zone;
use jiff::ToSpan as _;
use proptest::prelude::*;

fn cron(line: &str) -> Trigger {
    Trigger::read(Some(&json!(line)), None, None).unwrap()
}

fn at(text: &str) -> i64 {
    text.parse::<Timestamp>().unwrap().as_second()
}

fn clock(slot: i64, zone: &TimeZone) -> Zoned {
    Timestamp::from_second(slot).unwrap().to_zoned(zone.clone())
}

fn local(slots: &[i64], zone: &TimeZone) -> Vec<String> {
    let shown = |slot| clock(slot, zone).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
    slots.iter().map(|slot| shown(*slot)).collect()
}

#[test]
fn where_clocks_go_forward_a_time_that_is_not_there_is_the_first_that_is() {
    let berlin = &zone("Europe/Berlin").unwrap();
    // 2026-03-29: 02:00 becomes 03:00.
    let daily = cron("30 2 * * *").upcoming(at("2026-03-28T00:00:00Z"), 0, berlin, 3);
    assert_eq!(
        local(&daily, berlin),
        ["2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"]
    );
    let often = cron("*/30 * * * *").upcoming(at("2026-03-29T00:29:00Z"), 0, berlin, 3);
    assert_eq!(
        local(&often, berlin),
        ["2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"]
    );
}

#[test]
fn where_clocks_go_back_a_fixed_time_is_one_slot_and_a_pace_is_kept() {
    let berlin = &zone("Europe/Berlin").unwrap();
    // 2026-10-25: 03:00 becomes 02:00.
    let daily = cron("30 2 * * *").upcoming(at("2026-10-24T12:00:00Z"), 0, berlin, 2);
    assert_eq!(local(&daily, berlin), ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]);
    let often = cron("*/30 * * * *").upcoming(at("2026-10-24T23:59:00Z"), 0, berlin, 5);
    assert_eq!(
        local(&often, berlin),
        [
            "2026-10-25T02:00:00+02:00",
            "2026-10-25T02:30:00+02:00",
            "2026-10-25T02:00:00+01:00",
            "2026-10-25T02:30:00+01:00",
            "2026-10-25T03:00:00+01:00",
        ]
    );
}

#[test]
fn intervals_count_from_their_anchor_and_a_single_time_comes_once() {
    let every = Trigger::read(None, Some(&json!(90)), None).unwrap();
    assert_eq!(every.upcoming(1000, 1000, &TimeZone::UTC, 3), [1090, 1180, 1270]);
    assert_eq!(every.upcoming(1100, 1000, &TimeZone::UTC, 1), [1180]);
    assert_eq!(every.upcoming(5, 1000, &TimeZone::UTC, 1), [1090]);
    let once = Trigger::read(None, None, Some(&json!(500.7))).unwrap();
    assert_eq!((once.next(499, 0, &TimeZone::UTC), once.next(500, 0, &TimeZone::UTC)), (Some(500), None));
}

#[test]
fn what_is_no_trigger_is_refused() {
    let none = Value::Null;
    let given = |value: &Value| (!value.is_null()).then(|| value.clone());
    for (cron, every, at, wanted) in [
        (&none, &none, &none, TriggerError::One),
        (&json!("* * * * *"), &json!(5), &none, TriggerError::One),
        (&json!("61 * * * *"), &none, &none, TriggerError::Cron),
        (&json!(""), &none, &none, TriggerError::Cron),
        (&json!(5), &none, &none, TriggerError::Cron),
        (&none, &json!(0), &none, TriggerError::Every),
        (&none, &json!(1.5), &none, TriggerError::Every),
        (&none, &json!(1e300), &none, TriggerError::Every),
        (&none, &none, &json!("soon"), TriggerError::At),
        (&none, &none, &json!(-5), TriggerError::At),
    ] {
        let (cron, every, at) = (given(cron), given(every), given(at));
        assert_eq!(Trigger::read(cron.as_ref(), every.as_ref(), at.as_ref()).unwrap_err(), wanted);
    }
    // The thirtieth of February never comes.
    assert_eq!(cron("0 0 30 2 *").next(0, 0, &TimeZone::UTC), None);
}

fn zones() -> impl Strategy<Value = TimeZone> {
    proptest::sample::select(
        [
            "UTC",
            "Europe/Berlin",
            "America/New_York",
            "Australia/Lord_Howe", // half an hour of summer time
            "America/St_Johns",
            "Pacific/Apia",
            "Asia/Kathmandu",
        ]
        .map(|name| zone(name).unwrap())
        .to_vec(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// A daily line fires on every day once, at its time or, where that is not there, at the end of the gap.
    #[test]
    fn a_daily_slot_comes_once_a_day(
        zone in zones(), hour in 0_i8..24, minute in 0_i8..60, start in 1_600_000_000_i64..1_900_000_000,
    ) {
        let slots = cron(&format!("{minute} {hour} * * *")).upcoming(start, 0, &zone, 400);
        prop_assert_eq!(slots.len(), 400);
        let mut last: Option<jiff::civil::Date> = None;
        for slot in slots {
            let time = clock(slot, &zone);
            if let Some(last) = last {
                prop_assert_eq!(time.date(), last + 1.day());
            }
            last = Some(time.date());
            if (time.hour(), time.minute()) != (hour, minute) {
                let jumped = time.offset() > clock(slot - 1, &zone).offset();
                prop_assert!(jumped, "{time} is no end of a gap");
            }
        }
    }

    /// Every line: slots rise, each is found again from the second before it, and none lies between.
    #[test]
    fn slots_rise_and_are_found_again(
        zone in zones(),
        line in "(\\*|\\*/[2-9]|[0-5]?[0-9]) (\\*|\\*/[2-9]|1?[0-9]) (\\*|1?[1-9]) \\* (\\*|[0-6])",
        start in 1_600_000_000_i64..1_900_000_000,
    ) {
        let trigger = cron(&line);
        let slots = trigger.upcoming(start, 0, &zone, 50);
        let mut before = start;
        for slot in slots {
            prop_assert!(slot > before);
            prop_assert_eq!(trigger.next(slot - 1, 0, &zone), Some(slot));
            prop_assert_eq!(trigger.next(before + (slot - before) / 2, 0, &zone), Some(slot));
            prop_assert!(clock(slot, &zone).year() < 2040);
            before = slot;
        }
    }
}
