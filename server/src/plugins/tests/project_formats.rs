//! Tests plugins of projects at all sample rates, in both formats, and on buses with sends.

use std::os::unix::fs::symlink;
use std::path::Path;

use axum::http::Method;
use serde_json::{Value, json};

use super::midi_render::{NEKOBI, service_with};
use super::project_effects::{effect, quiet_track, sound_ids, sounds};
use super::project_instruments::{difference, mix, post, project, samples};
use crate::test_studio::{float_samples, peak};

/// Effects of Debian's package zam-plugins. ZaMaximX2 has a latency.
const ZA_MAXIM: &str = "/usr/lib/vst/ZaMaximX2-vst.so";
const ZAM_DELAY: &str = "/usr/lib/vst/ZamDelay-vst.so";
const ZAM_VST3: &str = "/usr/lib/vst3";

#[tokio::test(flavor = "multi_thread")]
async fn songs_at_other_sample_rates_play_plugins_at_the_right_time() {
    let (service, ids) = service_with(&[NEKOBI, ZA_MAXIM]).await;
    for rate_hz in [44_100_u32, 96_000] {
        let song = |tracks: &[Value]| {
            let mut song = project(tracks);
            song["sample_rate_hz"] = rate_hz.into();
            song
        };
        // The second track is the first without the plugin and with the opposite polarity.
        let invert = json!({"id": "u", "type": "builtin", "name": "utility",
            "params": {"invert_left": true, "invert_right": true}});
        let wet = quiet_track("wet", &ids[0], &[effect("p", &ids[1])]);
        let dry = quiet_track("dry", &ids[0], &[invert]);
        let request =
            json!({"project": song(std::slice::from_ref(&wet)), "bit_depth": "float32", "tail_secs": 1});
        let answer = post(&service, "/plugins/render", &request, 200).await;
        assert_eq!(answer["receipt"]["left_out"], json!([]));
        let address = answer["audio_url"].as_str().expect("an address");
        let file = service.app.local(Method::GET, address).send().await.bytes;
        let format = file.windows(4).position(|id| id == b"fmt ").expect("a format chunk");
        assert_eq!(file[format + 12..format + 16], rate_hz.to_le_bytes(), "the sample rate of the file");
        let single_samples = float_samples(&file);

        // The note plays from 0.5 to 0.75 seconds, and its item ends after one second.
        let secs = |samples: usize| samples as f64 / 2.0 / f64::from(rate_hz);
        let start = single_samples.iter().position(|sample| sample.abs() > 1e-3).expect("a sound");
        assert!((0.499..0.52).contains(&secs(start)), "{rate_hz}: starts at {}", secs(start));
        let end = single_samples.iter().rposition(|sample| sample.abs() > 1e-3).expect("a sound");
        assert!((0.7..1.0).contains(&secs(end)), "{rate_hz}: ends at {}", secs(end));
        assert!(
            (1.0..=2.0).contains(&secs(single_samples.len())),
            "{rate_hz}: {}",
            secs(single_samples.len())
        );

        let (nulled, _) = mix(&service, &song(&[wet, dry])).await;
        let (level, residual) = (peak(&single_samples), peak(&nulled));
        assert!(level > 0.01 && residual < level / 1_000.0, "{rate_hz}: {residual} of {level}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn installed_vst3_effects_process_songs() {
    let (service, ids) = service_with(&[NEKOBI]).await;
    // VST2 modules in the folder of a VST3 module would be ignored.
    std::fs::create_dir(service.path("vst3")).expect("makes");
    for name in ["ZamVerb.vst3", "ZamComp.vst3"] {
        let module = Path::new(ZAM_VST3).join(name);
        assert!(module.exists(), "{} is missing; install zam-plugins", module.display());
        symlink(module, service.path("vst3").join(name)).expect("makes a symbolic link");
    }
    service.scan().await;
    let listed_effects = service.get("/effects").await.expect(200);
    let vst3 = |name: &str, params: Value| {
        let listed_effects = listed_effects["vst_effects"].as_array().expect("a list");
        let listed_plugin =
            listed_effects.iter().find(|plugin| plugin["name"] == name && plugin["format"] == "vst3");
        let id = &listed_plugin.unwrap_or_else(|| panic!("{name} is not in {listed_effects:?}"))["plugin_id"];
        json!({"id": name, "type": "vst3", "plugin_id": id, "params": params})
    };
    let song = |effects: &[Value]| project(&[quiet_track("bass", &ids[0], effects)]);
    let (dry, _) = mix(&service, &song(&[])).await;
    let sounding_secs = |samples: &[f32]| {
        let end = samples.iter().rposition(|sample| sample.abs() > 1e-4).expect("a sound");
        end as f64 / 2.0 / 48_000.0
    };
    let (reverberant, left_out) = mix(&service, &song(&[vst3("ZamVerb", json!({}))])).await;
    assert_eq!(left_out, json!([]));
    let [dry_secs, wet_secs] = [&dry, &reverberant].map(|samples| sounding_secs(samples));
    assert!(wet_secs > dry_secs + 0.2, "the reverb sounds until {wet_secs}, the note until {dry_secs}");
    let compressed = async |params: Value| {
        let (samples, left_out) = mix(&service, &song(&[vst3("ZamComp", params)])).await;
        assert_eq!(left_out, json!([]));
        samples
    };
    let gentle = compressed(json!({"Threshold": 1.0})).await;
    let strong = compressed(json!({"Threshold": 0.0, "Ratio": 1.0})).await;
    assert!(peak(&gentle) > 0.01 && difference(&gentle, &strong) > 0.01, "{}", difference(&gentle, &strong));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_of_a_bus_processes_the_sends_of_two_tracks() {
    let (service, ids) = service_with(&[NEKOBI, ZAM_DELAY]).await;
    let bus = json!({"id": "bus", "name": "bus", "kind": "bus", "effects": [effect("d", &ids[1])]});
    // Only the bus is audible: the sends are pre-fader, and the faders of the tracks are down.
    let song = |levels: [f64; 2], pitches: [u32; 2]| {
        let track = |name: &str, index: usize| {
            let mut track = quiet_track(name, &ids[0], &[]);
            track["volume_db"] = (-144).into();
            track["sends"] = json!([{"to": "bus", "level_db": levels[index], "pre_fader": true}]);
            track["items"][0]["notes"][0]["pitch"] = pitches[index].into();
            track
        };
        project(&[track("one", 0), track("two", 1), bus.clone()])
    };
    let rendered_song = async |song: &Value| {
        let outcomes = sounds(&service, song).await;
        let owners: Vec<_> = outcomes.iter().map(|sound| [&sound["track_id"], &sound["effect_id"]]).collect();
        assert_eq!(json!(owners), json!([["one", null], ["two", null], ["bus", "d"]]));
        let id = sound_ids(&outcomes)[2].to_owned();
        let sound = samples(&service, &format!("/api/v1/plugins/sounds/{id}").into()).await;
        (id, sound)
    };
    let first = song([-12.0, -12.0], [48, 60]);
    let (id, sound) = rendered_song(&first).await;
    let (song_mix, left_out) = mix(&service, &first).await;
    assert_eq!(left_out, json!([]));
    assert!(peak(&song_mix) > 0.01);
    let largest_difference = difference(&song_mix, &sound);
    assert_eq!(largest_difference, 0.0, "the page and the export have different samples");
    for other in [
        song([-12.0, -18.0], [48, 60]),
        song([-18.0, -12.0], [48, 60]),
        song([-12.0, -12.0], [48, 64]),
        song([-12.0, -12.0], [52, 60]),
    ] {
        let (other_id, other_sound) = rendered_song(&other).await;
        assert_ne!(other_id, id);
        assert!(difference(&sound, &other_sound) > 0.001);
    }
}
