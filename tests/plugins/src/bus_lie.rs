//! False statements of plugins about their buses.

/// A false statement of a VST3 plugin about its audio buses. The plugin uses a stereo bus in each
/// direction all the same, unless the comment says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusLie {
    /// There are -1 buses.
    NegativeCount,
    /// There are no buses.
    NoBuses,
    /// There is a bus, but it cannot be described.
    UnknownBus,
    /// The bus has -2 channels.
    NegativeChannels,
    /// There are 1,000 buses.
    ManyBuses,
    /// The bus has 1,000 channels.
    ManyChannels,
    /// The plugin accepts every arrangement, and its buses are mono from then on.
    OtherArrangement,
    /// The bus is stereo, but the plugin writes to six channels.
    MoreChannels,
}

impl BusLie {
    /// All lies, each with the sub-category of the plugin that tells it.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::NegativeCount, "Negative Count"),
        (Self::NoBuses, "No Buses"),
        (Self::UnknownBus, "Unknown Bus"),
        (Self::NegativeChannels, "Negative Channels"),
        (Self::ManyBuses, "Many Buses"),
        (Self::ManyChannels, "Many Channels"),
        (Self::OtherArrangement, "Other Arrangement"),
        (Self::MoreChannels, "More Channels"),
    ];

    /// Returns the lie that these sub-categories name.
    pub(crate) fn of(sub_categories: &str) -> Option<Self> {
        let mut named =
            Self::ALL.into_iter().filter(|(_, name)| sub_categories.split('|').any(|part| part == *name));
        named.next().map(|(lie, _)| lie)
    }
}
