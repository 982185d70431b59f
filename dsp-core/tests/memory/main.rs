//! Estimates of memory against what an allocator counts.

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

/// Makes an effect, plays it with every parameter at its ends, and compares.
fn check(kind: &'static EffectKind, sample_rate_hz: u32, impulse_frames: usize) {
    let impulse = vec![0.1_f32; impulse_frames];
    let given = (impulse_frames > 0).then_some([&impulse[..], &impulse[..]]);
    let config = EffectConfig { sample_rate_hz, seed: 1, impulse: given };
    let ((), cost) = cost(|| {
        let mut slot = EffectSlot::new("e", kind, &config);
        for end in [0.0, 1.0] {
            for (place, parameter) in kind.parameters.iter().enumerate() {
                slot.set(place, parameter.min + end * (parameter.max - parameter.min), 0);
            }
        }
    });
    let taken = cost.most_bytes as u64;
    let estimate = (kind.memory_bytes)(sample_rate_hz, impulse_frames as u64);
    println!(
        "{} at {sample_rate_hz} Hz, impulse {impulse_frames}: {taken} taken, {estimate} estimated",
        kind.id
    );
    assert!(taken <= estimate, "{}: {taken} bytes of {estimate}", kind.id);
    assert!(estimate <= 2 * taken + 64 * 1024, "{}: {taken} bytes of {estimate}", kind.id);
}

#[test]
fn each_effect_takes_what_its_kind_says() {
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
