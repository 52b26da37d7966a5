//! Every endpoint that a policy can speak of: the declared ones first, then the routes that a template registers.
//!
//! The declared endpoints are borrowed from [`ENDPOINTS`], so a catalogue without custom routes costs nothing to make.
//! An [`EndpointIx`] below [`EndpointId::COUNT`] is the endpoint of that id; the rest are custom, in written order.

use crate::endpoint::{ENDPOINTS, EndpointDecl, EndpointId, Group, Key, KeySet};
use crate::layer::Selector;
use crate::resolved::EndpointIx;

use super::id_glob::IdGlob;

/// What the name of every custom endpoint begins with.
pub const CUSTOM_PREFIX: &str = "custom:";

/// The keys that a custom route accepts: those that all accept, and those that the pipeline itself enforces.
pub const CUSTOM_KEYS: KeySet = KeySet::of(&[
    Key::Enabled,
    Key::Scopes,
    Key::Audit,
    Key::LimitsMaxRequestBytes,
    Key::LimitsTimeoutSeconds,
    Key::LimitsRatePerMinute,
    Key::LimitsMaxConcurrency,
]);

/// A route that a template registers beside the declared endpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomRoute {
    /// Its id in a policy, `custom:<name>`.
    pub id: String,
    /// The group whose rules cover it.
    pub group: Group,
    /// Scopes that a caller needs when no rule says otherwise.
    pub scopes: Vec<String>,
}

/// The endpoints that a policy is written against.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    custom: Vec<CustomRoute>,
}

impl Catalogue {
    /// The declared endpoints alone.
    #[must_use]
    pub const fn builtin() -> Self {
        Self { custom: Vec::new() }
    }

    /// The declared endpoints and `custom` after them.
    ///
    /// # Errors
    /// The id that does not begin with `custom:`, has no name, or stands there twice; or the first one past 65,535.
    pub fn with_custom(custom: Vec<CustomRoute>) -> Result<Self, String> {
        for (position, route) in custom.iter().enumerate() {
            let named = route.id.strip_prefix(CUSTOM_PREFIX).is_some_and(|name| !name.is_empty());
            let again = custom.iter().take(position).any(|earlier| earlier.id == route.id);
            let fits = u16::try_from(EndpointId::COUNT + position).is_ok();
            if !named || again || !fits {
                return Err(route.id.clone());
            }
        }
        Ok(Self { custom })
    }

    /// How many endpoints there are.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "the declared endpoints are always there")]
    pub fn len(&self) -> usize {
        EndpointId::COUNT + self.custom.len()
    }

    /// The custom routes, in written order.
    #[must_use]
    pub fn custom(&self) -> &[CustomRoute] {
        &self.custom
    }

    /// Every endpoint, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = EndpointIx> + ExactSizeIterator + use<> {
        let len = u16::try_from(self.len()).unwrap_or(u16::MAX);
        (0..len).map(EndpointIx)
    }

    /// Every id, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let custom = self.custom.iter().map(|route| route.id.as_str());
        ENDPOINTS.iter().map(|decl| decl.name).chain(custom)
    }

    /// The endpoint of exactly this id.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<EndpointIx> {
        if let Some(id) = EndpointId::from_name(name) {
            return Some(id.into());
        }
        let position = self.custom.iter().position(|route| route.id == name)?;
        u16::try_from(EndpointId::COUNT + position).ok().map(EndpointIx)
    }

    /// Its declaration; none for a custom route or an index beyond the catalogue.
    #[must_use]
    pub fn decl(&self, endpoint: EndpointIx) -> Option<&'static EndpointDecl> {
        ENDPOINTS.get(usize::from(endpoint.0))
    }

    fn route(&self, endpoint: EndpointIx) -> Option<&CustomRoute> {
        self.custom.get(usize::from(endpoint.0).checked_sub(EndpointId::COUNT)?)
    }

    /// Its id; empty for an index beyond the catalogue.
    #[must_use]
    pub fn name(&self, endpoint: EndpointIx) -> &str {
        match self.decl(endpoint) {
            Some(decl) => decl.name,
            None => self.route(endpoint).map_or("", |route| &route.id),
        }
    }

    /// The group whose rules cover it; none for an index beyond the catalogue.
    #[must_use]
    pub fn group(&self, endpoint: EndpointIx) -> Option<Group> {
        let custom = || self.route(endpoint).map(|route| route.group);
        self.decl(endpoint).map(|decl| decl.group).or_else(custom)
    }

    /// The rule keys that it accepts.
    #[must_use]
    pub fn accepts(&self, endpoint: EndpointIx) -> KeySet {
        self.decl(endpoint).map_or(CUSTOM_KEYS, |decl| decl.accepts)
    }

    /// Whether it is one of those that can never be closed.
    #[must_use]
    pub fn is_core(&self, endpoint: EndpointIx) -> bool {
        self.decl(endpoint).is_some_and(|decl| decl.group == Group::Core)
    }

    /// The endpoints that a selector speaks of, in order. A glob that is not valid speaks of none.
    #[must_use]
    pub fn matching(&self, selector: &Selector) -> Vec<EndpointIx> {
        match selector {
            Selector::Defaults => self.iter().collect(),
            Selector::Exact(id) => vec![(*id).into()],
            Selector::Custom(id) => self.resolve(id).into_iter().collect(),
            Selector::Group(group) => self.iter().filter(|&ix| self.group(ix) == Some(*group)).collect(),
            Selector::Glob(glob) => {
                let Ok(glob) = IdGlob::new(glob) else { return Vec::new() };
                self.iter().filter(|&ix| glob.is_match(self.name(ix))).collect()
            }
        }
    }
}

impl From<EndpointId> for EndpointIx {
    fn from(id: EndpointId) -> Self {
        Self(id as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn custom() -> Catalogue {
        let route = |id: &str| CustomRoute { id: id.into(), group: Group::Commands, scopes: Vec::new() };
        Catalogue::with_custom(vec![route("custom:GET /hello/{name}"), route("custom:status")]).unwrap()
    }

    #[test]
    fn every_name_resolves_to_its_own_index() {
        let catalogue = custom();
        let by_name: Vec<_> = catalogue.names().map(|name| catalogue.resolve(name).unwrap()).collect();
        assert_eq!(by_name, catalogue.iter().collect::<Vec<_>>());
        assert!(catalogue.iter().zip(catalogue.names()).all(|(ix, name)| catalogue.name(ix) == name));
        assert_eq!(catalogue.len(), EndpointId::COUNT + 2);
        assert_eq!(catalogue.resolve("custom:nothing"), None);
    }

    #[test]
    fn declared_indices_are_ids() {
        let catalogue = Catalogue::builtin();
        for id in EndpointId::ALL {
            assert_eq!(catalogue.resolve(id.as_str()), Some(EndpointIx(id as u16)));
            assert_eq!(catalogue.decl(id.into()).map(|decl| decl.id), Some(id));
        }
    }

    #[test]
    fn custom_ids_need_the_prefix_a_name_and_no_twin() {
        let route = |id: &str| CustomRoute { id: id.into(), group: Group::Commands, scopes: Vec::new() };
        for (bad, ids) in [
            ("hello", vec!["hello"]),
            ("custom:", vec!["custom:"]),
            ("custom:a", vec!["custom:a", "custom:a"]),
        ] {
            let routes = ids.into_iter().map(route).collect();
            assert_eq!(Catalogue::with_custom(routes).err().as_deref(), Some(bad));
        }
    }

    #[test]
    fn a_selector_covers_custom_routes_too() {
        let catalogue = custom();
        let names = |selector| -> Vec<String> {
            catalogue.matching(&selector).into_iter().map(|ix| catalogue.name(ix).to_owned()).collect()
        };
        assert_eq!(
            names(Selector::Group(Group::Commands)),
            ["commands_list", "commands_run", "custom:GET /hello/{name}", "custom:status"]
        );
        assert_eq!(names(Selector::Glob("custom:*".into())), ["custom:GET /hello/{name}", "custom:status"]);
        assert_eq!(names(Selector::Glob("*".into())).len(), catalogue.len());
        assert_eq!(names(Selector::Glob("{upload,download}".into())), ["upload", "download"]);
    }
}
