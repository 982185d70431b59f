//! Maps the channel positions of a file to the speakers of the stereo downmix.

use dsp_core::downmix::Speaker;
use symphonia::core::audio::{ChannelLabel, Channels, Position};

/// Returns the speaker of each channel, in the order of the samples.
pub(super) fn speakers(channels: &Channels) -> Vec<Speaker> {
    match channels {
        Channels::Positioned(positions) => positions.iter().map(speaker).collect(),
        Channels::Custom(labels)
            if labels.iter().all(|label| matches!(label, ChannelLabel::Positioned(_))) =>
        {
            labels
                .iter()
                .map(|label| match label {
                    ChannelLabel::Positioned(position) => speaker(*position),
                    _ => Speaker::LowFrequency,
                })
                .collect()
        }
        other_channels => Speaker::default_layout(other_channels.count()),
    }
}

fn speaker(position: Position) -> Speaker {
    const FRONT_LEFT: Position = Position::FRONT_LEFT
        .union(Position::FRONT_LEFT_CENTER)
        .union(Position::FRONT_LEFT_WIDE)
        .union(Position::TOP_FRONT_LEFT)
        .union(Position::BOTTOM_FRONT_LEFT);
    const FRONT_RIGHT: Position = Position::FRONT_RIGHT
        .union(Position::FRONT_RIGHT_CENTER)
        .union(Position::FRONT_RIGHT_WIDE)
        .union(Position::TOP_FRONT_RIGHT)
        .union(Position::BOTTOM_FRONT_RIGHT);
    const FRONT_CENTER: Position =
        Position::FRONT_CENTER.union(Position::TOP_FRONT_CENTER).union(Position::BOTTOM_FRONT_CENTER);
    const LEFT: Position = Position::REAR_LEFT
        .union(Position::SIDE_LEFT)
        .union(Position::TOP_REAR_LEFT)
        .union(Position::TOP_SIDE_LEFT);
    const RIGHT: Position = Position::REAR_RIGHT
        .union(Position::SIDE_RIGHT)
        .union(Position::TOP_REAR_RIGHT)
        .union(Position::TOP_SIDE_RIGHT);
    const LOW: Position = Position::LFE1.union(Position::LFE2);
    for (group, speaker) in [
        (FRONT_LEFT, Speaker::Left),
        (FRONT_RIGHT, Speaker::Right),
        (FRONT_CENTER, Speaker::Center),
        (LEFT, Speaker::SurroundLeft),
        (RIGHT, Speaker::SurroundRight),
        (LOW, Speaker::LowFrequency),
    ] {
        if group.contains(position) {
            return speaker;
        }
    }
    Speaker::SurroundCenter
}
