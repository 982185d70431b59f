//! Compares the engine's memory estimates with the memory that it allocates.

#[path = "../banks/counting.rs"]
mod counting;
#[path = "../engine/small_bank.rs"]
mod small_bank;

mod sessions;

use counting::{Counting, cost};
use dsp_core::effects::{EFFECTS, EffectConfig, EffectKind};
use dsp_core::mixer::EffectSlot;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const RATES_HZ: [u32; 5] = [8_000, 44_100, 48_000, 96_000, 192_000];

/// Compares an effect's estimate with the memory that it allocates while its parameters are set to
/// both ends of their ranges.
fn check(kind: &'static EffectKind, sample_rate_hz: u32, impulse_frames: usize) {
    let impulse = vec![0.1_f32; impulse_frames];
    let impulse_channels = (impulse_frames > 0).then_some([&impulse[..], &impulse[..]]);
    let config = EffectConfig { sample_rate_hz, seed: 1, impulse: impulse_channels };
    let ((), cost) = cost(|| {
        let mut slot = EffectSlot::new("e", kind, &config);
        for normalized in [0.0, 1.0] {
            for (index, parameter) in kind.parameters.iter().enumerate() {
                slot.set_parameter(index, parameter.min + normalized * (parameter.max - parameter.min), 0);
            }
        }
    });
    let measured_bytes = cost.peak_bytes as u64;
    let estimate = (kind.memory_bytes)(sample_rate_hz, impulse_frames as u64);
    println!(
        "{} at {sample_rate_hz} Hz, impulse {impulse_frames}: {measured_bytes} measured, {estimate} estimated",
        kind.id
    );
    assert!(measured_bytes <= estimate, "{}: {measured_bytes} bytes used, {estimate} estimated", kind.id);
    assert!(
        estimate <= 2 * measured_bytes + 64 * 1024,
        "{}: only {measured_bytes} bytes used, {estimate} estimated",
        kind.id
    );
}

#[test]
fn each_effect_uses_at_most_its_estimated_memory() {
    for kind in EFFECTS {
        for sample_rate_hz in RATES_HZ {
            check(kind, sample_rate_hz, 0);
            if kind.impulse_max_secs.is_some() {
                check(kind, sample_rate_hz, 1_000);
                check(kind, sample_rate_hz, kind.impulse_max_frames(sample_rate_hz) as usize);
            }
        }
    }
}
