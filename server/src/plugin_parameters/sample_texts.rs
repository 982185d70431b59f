//! Texts of evenly spaced values of parameters, with which a client can show the meaning of values
//! without a request for each.

use songfoundry_bridge_protocol::host::{Parameter, ParameterValue};

use crate::plugin_hosts::{HostError, PluginHost};

/// Numbers of values of continuous parameters. The first is used for plugins with few parameters.
const POINTS: [u32; 4] = [101, 51, 21, 11];

/// Number of values of each parameter of a plugin with very many parameters: only the lowest and
/// the highest value.
const FEWEST_POINTS: u32 = 2;

/// Maximum number of texts of a plugin. Reading more texts would take too long.
const TEXTS_MAX: u32 = 20_000;

/// Maximum number of values of a parameter with steps that all get a text.
const STEPS_MAX: u32 = 128;

/// Number of texts that are requested at once, so that each request stays short.
const REQUEST_MAX: usize = 1_000;

/// Returns the texts of evenly spaced values from 0 to 1 of each parameter. Blocks.
pub(super) fn sample_texts(
    host: &mut PluginHost<'_>,
    parameters: &[Parameter],
) -> Result<Vec<Vec<String>>, HostError> {
    let counts = counts(parameters);
    let samples = |(parameter, &count): (&Parameter, &u32)| {
        let id = parameter.id;
        (0..count).map(move |index| sample(id, index, count))
    };
    let values: Vec<ParameterValue> = parameters.iter().zip(&counts).flat_map(samples).collect();
    let mut texts = texts_of(host, &values)?.into_iter();
    Ok(counts.iter().map(|&count| texts.by_ref().take(count as usize).collect()).collect())
}

/// Returns the texts of values. Blocks.
pub(super) fn texts_of(
    host: &mut PluginHost<'_>,
    values: &[ParameterValue],
) -> Result<Vec<String>, HostError> {
    let mut texts = Vec::with_capacity(values.len());
    for values in values.chunks(REQUEST_MAX) {
        texts.extend(host.parameter_texts(values.to_vec())?);
    }
    Ok(texts)
}

fn sample(id: u32, index: u32, count: u32) -> ParameterValue {
    ParameterValue { id, value: f64::from(index) / f64::from(count - 1) }
}

/// Returns the number of values of each parameter.
fn counts(parameters: &[Parameter]) -> Vec<u32> {
    let steps = |parameter: &Parameter| (1..STEPS_MAX).contains(&parameter.step_count);
    let stepped = parameters.iter().filter(|parameter| steps(parameter));
    let stepped: u32 = stepped.map(|parameter| parameter.step_count + 1).sum();
    let continuous = parameters.iter().filter(|parameter| !steps(parameter)).count() as u32;
    let fits = |points: &u32| stepped.saturating_add(continuous.saturating_mul(*points)) <= TEXTS_MAX;
    let points = POINTS.into_iter().find(fits).unwrap_or(FEWEST_POINTS);
    let count = |parameter: &Parameter| match parameter {
        parameter if steps(parameter) => parameter.step_count + 1,
        _ => points,
    };
    parameters.iter().map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(count: usize, step_count: u32) -> Vec<Parameter> {
        let parameter = Parameter {
            id: 0,
            name: String::new(),
            short_name: String::new(),
            unit_label: String::new(),
            default_value: 0.0,
            value: 0.0,
            text: String::new(),
            step_count,
            is_automatable: true,
            is_bypass: false,
        };
        vec![parameter; count]
    }

    #[test]
    fn plugins_with_many_parameters_get_fewer_texts_for_each() {
        let check = |count, step_count, expected| {
            assert_eq!(counts(&parameters(count, step_count))[count - 1], expected, "{count} {step_count}");
        };
        check(1, 0, 101);
        check(198, 0, 101);
        check(199, 0, 51);
        check(1_000, 0, 11);
        check(2_000, 0, 2);
        check(2_000, 1, 2);
        check(8, 3, 4);
        check(8, 5_000, 101);
    }
}
