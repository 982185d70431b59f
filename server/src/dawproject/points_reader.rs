//! Reads automation and the MIDI controls of clips.

use schemas::Extra;
use schemas::project::{
    AutomationCurve, AutomationPoint, BendControl, CcControl, Control, KeyPressureControl, MidiItem,
    PressureControl, ProgramControl,
};

use super::element_tree::Node;
use super::expressions::{BEND_CENTRE, is_control};
use super::level::{Unit, db_of, pan_of};
use super::mixer_reader::{Parameter, Target};
use super::refusal::Refusal;
use super::scope::Scope;
use super::time_scale::tick_of_beats;
use super::timeline_reader::TimelineReader;
use super::values::{number, required_number, value_of};

impl<'r> TimelineReader<'r> {
    /// Reads points of a parameter or of an expression.
    pub(super) fn points(&mut self, node: Node<'r>, scope: &Scope<'r>) -> Result<(), Refusal> {
        let Some(target) = node.child("Target") else {
            self.warnings.add("Automation without a target was left out", &scope.name);
            return Ok(());
        };
        if let Some(id) = target.attribute("parameter") {
            let mixer = self.mixer;
            return match mixer.parameters.get(&*id) {
                Some(parameter) => self.automation(node, scope, parameter),
                None => {
                    self.warnings
                        .add("Automation of other parameters than volume, pan and sends was left out", "");
                    Ok(())
                }
            };
        }
        let expression = target.attribute("expression").unwrap_or_default();
        if expression == "gain" {
            // `TimelineReader::read_gain` has read this gain with the enclosing `Lanes` element.
            return Ok(());
        }
        let mut item = match self.item.take() {
            Some(item) if is_control(&expression) => item,
            other_name => {
                self.item = other_name;
                self.warnings.add("Expressions that a project cannot have were left out", &expression);
                return Ok(());
            }
        };
        let outcome = self.controls(node, target, &expression, scope, &mut item);
        self.item = Some(item);
        outcome
    }

    fn automation(
        &mut self,
        node: Node<'r>,
        scope: &Scope<'r>,
        parameter: &Parameter,
    ) -> Result<(), Refusal> {
        let unit = node.attribute("unit").and_then(|unit| Unit::from_name(&unit)).unwrap_or(parameter.unit);
        for point in node.children().filter(|child| child.name() == "RealPoint") {
            self.step()?;
            let beats = scope.beats_at(required_number(point, "time")?);
            let Some(value) = value_of(point).filter(|_| is_inside(scope, beats)) else { continue };
            let value = match parameter.target {
                Target::Pan => pan_of(value, unit),
                Target::Volume | Target::Send(_) => db_of(value, unit),
            };
            let is_held = point.attribute("interpolation").is_some_and(|name| name == "hold");
            let curve = if is_held { AutomationCurve::Step } else { AutomationCurve::Linear };
            let point = AutomationPoint { tick: tick_of_beats(beats), value, curve, extra: Extra::default() };
            self.contents.add_point(parameter.track, &parameter.target, point)?;
        }
        Ok(())
    }

    fn controls(
        &mut self,
        node: Node<'r>,
        target: Node<'r>,
        expression: &str,
        scope: &Scope<'r>,
        item: &mut MidiItem,
    ) -> Result<(), Refusal> {
        let (controller, midi_key) = (midi_number(target, "controller")?, midi_number(target, "key")?);
        let is_percent = node.attribute("unit").is_some_and(|unit| unit == "percent");
        for point in node.children() {
            self.step()?;
            let Some(value) = value_of(point).filter(|value| value.is_finite()) else { continue };
            let beats = scope.beats_at(required_number(point, "time")?);
            if !is_inside(scope, beats) {
                continue;
            }
            if point.attribute("interpolation").is_some_and(|name| name == "linear") {
                self.warnings.add("Ramps between the points of MIDI controls became steps", &scope.name);
            }
            let is_integer = point.name() == "IntegerPoint";
            let fraction = if is_percent { value / 100.0 } else { value }.clamp(0.0, 1.0);
            let seven_bits = if is_integer { value } else { fraction * 127.0 };
            let seven_bits = seven_bits.round().clamp(0.0, 127.0) as u8;
            let tick = tick_of_beats(beats).saturating_sub(item.start_tick);
            let extra = Extra::default();
            let control = match (expression, controller, midi_key) {
                ("channelController", Some(controller), _) => {
                    Control::Cc(CcControl { tick, controller, value: seven_bits, extra })
                }
                ("polyPressure", _, Some(midi_key)) => {
                    Control::KeyPressure(KeyPressureControl { tick, key: midi_key, value: seven_bits, extra })
                }
                ("channelPressure", ..) => {
                    Control::Pressure(PressureControl { tick, value: seven_bits, extra })
                }
                ("programChange", ..) => {
                    Control::Program(ProgramControl { tick, program: seven_bits, bank: None, extra })
                }
                ("pitchBend", ..) => {
                    let value = (fraction * 2.0 * BEND_CENTRE - BEND_CENTRE).round();
                    let value = value.clamp(-BEND_CENTRE, BEND_CENTRE - 1.0) as i16;
                    Control::Bend(BendControl { tick, value, extra })
                }
                _ => continue,
            };
            self.contents.add_control(item, control)?;
        }
        Ok(())
    }
}

/// Whether a point is inside its clip. A point at the end of the clip counts, because a ramp may
/// end there.
fn is_inside(scope: &Scope<'_>, beats: f64) -> bool {
    (scope.start_beats - 1e-6..=scope.end_beats + 1e-6).contains(&beats)
}

/// Returns the number of a MIDI key or controller.
fn midi_number(node: Node<'_>, attribute: &str) -> Result<Option<u8>, Refusal> {
    Ok(number(node, attribute)?.filter(|value| (0.0..=127.0).contains(value)).map(|value| value as u8))
}
