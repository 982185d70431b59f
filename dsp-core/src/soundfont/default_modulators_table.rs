//! The default modulators (section 8.4). Every instrument zone has them unless it replaces them.

use super::generator::Generator;
use super::modulator::{Controller, Curve, Destination, Modulator, Source, Transform};

const fn source(controller: Controller, is_negative: bool, is_bipolar: bool, curve: Curve) -> Source {
    Source { controller, is_negative, is_bipolar, curve }
}

const fn modulator(source: Source, amount: i16, destination: Generator, amount_source: Source) -> Modulator {
    let destination = Destination::Generator(destination);
    Modulator { source, amount_source, destination, amount, transform: Transform::Linear }
}

/// The default modulator of section 8.4.2: velocity to filter cutoff, with an amount of -2400
/// cents. The cutoff is lowest at the lowest velocity.
///
/// It is not part of [`DEFAULT_MODULATORS`], because version 2.01 defines it differently, and
/// FluidSynth and BASSMIDI do not apply it. Most banks are designed for these players. A session
/// can enable it with [`crate::session::VelocityToCutoff`].
pub(crate) const VELOCITY_TO_CUTOFF: Modulator = modulator(
    source(Controller::NoteOnVelocity, true, false, Curve::Linear),
    -2_400,
    Generator::InitialFilterFc,
    Source::NONE,
);

/// The default modulators of section 8.4 except [`VELOCITY_TO_CUTOFF`].
#[rustfmt::skip]
pub(super) const DEFAULT_MODULATORS: [Modulator; 9] = {
    use Controller::*;
    use Curve::*;
    use Generator::*;
    const ONE: Source = Source::NONE;
    const WHEEL_SENSITIVITY: Source = source(PitchWheelSensitivity, false, false, Linear);
    [
        // 8.4.1: velocity to attenuation; 960 centibels for a velocity of 0.
        modulator(source(NoteOnVelocity, true, false, Concave), 960, InitialAttenuation, ONE),
        // 8.4.3: channel pressure to vibrato; 50 cents.
        modulator(source(ChannelPressure, false, false, Linear), 50, VibLfoToPitch, ONE),
        // 8.4.4: modulation wheel to vibrato; 50 cents.
        modulator(source(Midi(1), false, false, Linear), 50, VibLfoToPitch, ONE),
        // 8.4.5: volume to attenuation; 960 centibels for a volume of 0.
        modulator(source(Midi(7), true, false, Concave), 960, InitialAttenuation, ONE),
        // 8.4.6: controller 10 to pan. The text says 1000 tenths of a per cent. With this amount, a
        // quarter of the controller's range would pan fully to one side. Players treat 1000 as the
        // width of the whole range: 500 to either side.
        modulator(source(Midi(10), false, true, Linear), 500, Pan, ONE),
        // 8.4.7: expression to attenuation; 960 centibels for an expression of 0.
        modulator(source(Midi(11), true, false, Concave), 960, InitialAttenuation, ONE),
        // 8.4.8: controller 91 to the reverb send; 200 tenths of a per cent.
        modulator(source(Midi(91), false, false, Linear), 200, ReverbEffectsSend, ONE),
        // 8.4.9: controller 93 to the chorus send; 200 tenths of a per cent.
        modulator(source(Midi(93), false, false, Linear), 200, ChorusEffectsSend, ONE),
        // 8.4.10: pitch wheel, times its sensitivity, to the initial pitch; 12700 cents.
        modulator(source(PitchWheel, false, true, Linear), 12_700, FineTune, WHEEL_SENSITIVITY),
    ]
};
