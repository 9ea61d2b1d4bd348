//! The registry of reason codes.

/// One reason code of LookupRoute.
#[derive(Debug)]
pub struct ReasonInfo {
    /// The string on the wire.
    pub code: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Whether the answer names replicas.
    pub hints: bool,
    /// What a gateway does, in one line.
    pub gateway: &'static str,
    /// The long form: sections `Meaning`, `When`, `Response`, `Gateway`, `Check`.
    pub doc: &'static str,
}

macro_rules! reasons {
    ($($variant:ident $code:literal $file:literal hints $hints:literal $summary:literal gateway $gateway:literal;)*) => {
        /// How an answer came about.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Reason {
            $(#[doc = $summary] $variant,)*
        }

        impl Reason {
            /// Every code.
            pub const ALL: &'static [Reason] = &[$(Reason::$variant,)*];

            /// The registry entry.
            pub fn info(self) -> &'static ReasonInfo {
                match self {
                    $(Reason::$variant => &ReasonInfo {
                        code: $code,
                        summary: $summary,
                        hints: $hints,
                        gateway: $gateway,
                        doc: include_str!(concat!("reasons/", $file)),
                    },)*
                }
            }
        }
    };
}

reasons! {
    PrefixMatch "PREFIX_MATCH" "prefix_match.md" hints true
        "replicas that hold the prefix or a leading part of it, best first"
        gateway "route to the first replica";
    TenantHot "TENANT_HOT" "tenant_hot.md" hints true
        "the prefix is new, but these replicas of the tenant are warm"
        gateway "a soft hint: use or ignore it";
    AffinityHint "AFFINITY_HINT" "affinity_hint.md" hints true
        "no cache evidence; one replica is picked for the prompt"
        gateway "route to the replica, as for PREFIX_MATCH";
    LoadHint "LOAD_HINT" "load_hint.md" hints true
        "no cache evidence; the request waits least at this replica"
        gateway "route to the replica; a client that does not know the code treats it as NO_HINT";
    NoHint "NO_HINT" "no_hint.md" hints false
        "nothing to say"
        gateway "route as if there were no hints";
    Timeout "TIMEOUT" "timeout.md" hints false
        "the deadline or the lookup budget ran out"
        gateway "route as for NO_HINT";
    PolicyRequiresChain "POLICY_REQUIRES_CHAIN" "policy_requires_chain.md" hints false
        "the policy takes block-hash chains only and the request has none"
        gateway "route as for NO_HINT; make the client send the chain";
    UnknownTenant "UNKNOWN_TENANT" "unknown_tenant.md" hints false
        "the index holds nothing for this tenant"
        gateway "route as for NO_HINT, do not retry, report a configuration error";
    UnknownModel "UNKNOWN_MODEL" "unknown_model.md" hints false
        "the tenant is known, the model is not"
        gateway "route as for NO_HINT, do not retry, report a configuration error";
    UnknownHashScheme "UNKNOWN_HASH_SCHEME" "unknown_hash_scheme.md" hints false
        "tenant and model are known, the hash scheme is not"
        gateway "route as for NO_HINT, do not retry, report a configuration error";
}

impl Reason {
    /// The string on the wire.
    pub fn code(self) -> &'static str {
        self.info().code
    }

    /// The reason whose code is `code`.
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.code() == code)
    }
}
