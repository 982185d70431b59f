//! Tests with SoundFont banks from Debian packages.

use super::Bank;

const TIM_GM6MB: &str = "/usr/share/sounds/sf2/TimGM6mb.sf2";
const FLUID_R3: &str = "/usr/share/sounds/sf2/FluidR3_GM.sf2";

fn bank(path: &str) -> Bank {
    Bank::from_vec(std::fs::read(path).expect("the bank is installed")).expect("the bank is valid")
}

#[test]
fn real_banks_load_without_skipped_parts() {
    for (path, presets, instruments, samples) in [(TIM_GM6MB, 136, 210, 520), (FLUID_R3, 189, 193, 1418)] {
        let bank = bank(path);
        assert_eq!(bank.issues().iter().map(ToString::to_string).collect::<Vec<_>>(), [""; 0], "{path}");
        let counts = (bank.presets().len(), bank.instruments().len(), bank.samples().len());
        assert_eq!(counts, (presets, instruments, samples), "{path}");
    }
}

#[cfg(feature = "vorbis")]
mod vorbis {
    use super::*;

    const MUSESCORE_LITE: &str = "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3";

    /// Index, number of frames and root mean square of three samples, as decoded by libsndfile
    /// 1.2.2 with libvorbis.
    const REFERENCE: [(usize, usize, f64); 3] =
        [(0, 24_351, 2_690.186), (100, 53_144, 7_371.633), (500, 39_176, 9_588.741)];

    #[test]
    fn preparing_presets_decodes_only_their_compressed_samples() {
        let bank = bank(MUSESCORE_LITE);
        assert_eq!(bank.issues(), []);
        assert!((0..bank.samples().len()).all(|sample| bank.wave(sample).is_none()));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| bank.prepare(&[(0, 0), (128, 0)]).unwrap());
            }
        });
        assert_eq!(bank.issues(), []);
        let selected_samples = bank.select(&[(0, 0), (128, 0)]).samples(&bank);
        assert!(
            selected_samples.len() > 50 && selected_samples.len() < bank.samples().len(),
            "{} samples",
            selected_samples.len()
        );
        for sample in 0..bank.samples().len() {
            let frames = bank.wave(sample).map(|wave| wave.high.len());
            let expected = selected_samples.contains(&sample).then(|| bank.samples()[sample].end as usize);
            assert_eq!(frames, expected, "sample {sample}");
        }
    }

    #[test]
    fn a_decoded_sample_matches_libvorbis() {
        let bank = bank(MUSESCORE_LITE);
        let all_presets: Vec<(u16, u8)> =
            bank.presets().iter().map(|preset| (preset.bank, preset.program as u8)).collect();
        bank.prepare(&all_presets).unwrap();
        for (sample, frames, expected_rms) in REFERENCE {
            let decoded_samples = bank.wave(sample).expect("the sample is decoded").high;
            let value = |frame: &[u8; 2]| f64::from(i16::from_le_bytes(*frame));
            let rms = (decoded_samples.iter().map(|frame| value(frame) * value(frame)).sum::<f64>()
                / decoded_samples.len() as f64)
                .sqrt();
            assert_eq!(decoded_samples.len(), frames, "sample {sample}");
            assert!((rms - expected_rms).abs() < 0.01, "sample {sample}: RMS {rms}, expected {expected_rms}");
        }
    }

    #[test]
    fn a_damaged_stream_silences_only_its_sample() {
        let mut file = std::fs::read(MUSESCORE_LITE).expect("the bank is installed");
        let offset = file.windows(4).position(|bytes| bytes == b"OggS").expect("the file has an Ogg stream");
        file[offset + 5_000] ^= 0xff;
        let bank = Bank::from_vec(file).unwrap();
        let preset = (0..bank.presets().len())
            .find(|&preset| {
                let preset = &bank.presets()[preset];
                bank.select(&[(preset.bank, preset.program as u8)]).samples(&bank).contains(&0)
            })
            .expect("some preset plays the first sample");
        let preset = &bank.presets()[preset];
        bank.prepare(&[(preset.bank, preset.program as u8)]).unwrap();
        let skipped: Vec<String> = bank.issues().iter().map(ToString::to_string).collect();
        assert_eq!(skipped.len(), 1, "{skipped:?}");
        assert!(skipped[0].contains("cannot be decoded: a page is incomplete"), "{skipped:?}");
        assert_eq!(bank.undecodable(&[(preset.bank, preset.program as u8)]), bank.issues());
        assert_eq!(bank.undecodable(&[]), []);
        assert!(bank.wave(0).is_none() && bank.wave(1).is_some());
    }
}
