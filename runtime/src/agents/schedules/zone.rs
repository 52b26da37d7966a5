//! Time zones by their names in the IANA database, which is part of the program: a container needs none of its own.

use jiff::tz::TimeZone;

/// The zone of a name such as `Europe/Berlin`; the case of letters does not matter.
#[must_use]
pub fn zone(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok()
}

/// The name of a zone that [`zone`] found, as the database writes it.
#[must_use]
pub fn name(zone: &TimeZone) -> &str {
    zone.iana_name().unwrap_or("UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_found_by_its_name_and_has_it_again() {
        for written in ["UTC", "Europe/Berlin", "America/Argentina/Ushuaia", "Etc/GMT+12"] {
            assert_eq!(zone(written).as_ref().map(name), Some(written));
        }
        assert_eq!(zone("europe/BERLIN").as_ref().map(name), Some("Europe/Berlin"));
        for none in ["", "Berlin", "Europe/Atlantis", "../etc/passwd", "UTC+2"] {
            assert_eq!(zone(none), None, "{none}");
        }
    }
}
