//! Tests plugin effects of tracks, groups and the master with real plugins.

use std::fs;
use std::path::Path;

use axum::http::Method;
use serde_json::{Value, json};

use super::midi_render::{NEKOBI, service_with};
use super::project_instruments::{NULL_PEAK, difference, freeze, mix, plugin_track, post, project, samples};
use super::vst::PluginService;
use crate::test_studio::peak;

/// Effects of Debian's packages zam-plugins and lsp-plugins-vst.
const ZAM_DELAY: &str = "/usr/lib/vst/ZamDelay-vst.so";
const ZAM_VERB: &str = "/usr/lib/vst/ZamVerb-vst.so";
const ZAM_EQ: &str = "/usr/lib/vst/ZamEQ2-vst.so";
const ZA_MAXIM: &str = "/usr/lib/vst/ZaMaximX2-vst.so";
const LSP_LIMITER: &str = "/usr/lib/vst/lsp-plugins/limiter-stereo.so";
/// Effect with a latency of 4,096 frames.
const LSP_LOUDNESS: &str = "/usr/lib/vst/lsp-plugins/loud-comp-stereo.so";
const LSP_SIDE_CHAIN: &str = "/usr/lib/vst/lsp-plugins/sc-compressor-stereo.so";
const ZAM_COMP: &str = "/usr/lib/vst/ZamCompX2-vst.so";

pub(super) fn effect(id: &str, plugin_id: &str) -> Value {
    json!({"id": id, "type": "vst2", "plugin_id": plugin_id})
}

/// Returns a quiet track of Nekobi with these effects.
pub(super) fn quiet_track(id: &str, nekobi: &str, effects: &[Value]) -> Value {
    let mut track = plugin_track(id, nekobi);
    track["volume_db"] = (-12).into();
    track["effects"] = effects.into();
    track
}

pub(super) async fn sounds(service: &PluginService, song: &Value) -> Vec<Value> {
    let answer = post(service, "/plugins/sounds", &json!({"project": song}), 200).await;
    answer["sounds"].as_array().expect("a list").clone()
}

/// Returns the ids of the sounds, which must all be ready.
pub(super) fn sound_ids(sounds: &[Value]) -> Vec<&str> {
    sounds.iter().map(|sound| sound["sound_id"].as_str().unwrap_or_else(|| panic!("{sound}"))).collect()
}

/// Returns the number of stored files: a sound and its warnings are two.
fn stored_sounds(service: &PluginService) -> usize {
    service.app.state.blobs.entries("plugin-sounds").expect("lists").len()
}

#[tokio::test(flavor = "multi_thread")]
async fn effects_of_tracks_groups_and_the_master_process_their_input() {
    let (service, ids) = service_with(&[NEKOBI, ZAM_DELAY, ZAM_VERB, ZAM_EQ]).await;
    let [nekobi, delay, verb, eq] = &ids[..] else { panic!("{ids:?}") };
    let limiter = json!({"id": "l", "type": "builtin", "name": "limiter"});
    let mut bass = quiet_track("bass", nekobi, &[limiter.clone(), effect("d", delay)]);
    bass["output"] = "band".into();
    let band =
        json!({"id": "band", "name": "band", "kind": "group", "effects": [effect("v", verb), limiter]});
    let mut song = project(&[band, bass, quiet_track("lead", nekobi, &[])]);
    song["master"] = json!({"effects": [effect("e", eq)]});

    let first = sounds(&service, &song).await;
    let owners: Vec<_> = first.iter().map(|sound| [&sound["track_id"], &sound["effect_id"]]).collect();
    let expected = json!([["bass", null], ["lead", null], ["bass", "d"], ["band", "v"], [null, "e"]]);
    assert_eq!(json!(owners), expected);
    let first_ids = sound_ids(&first);

    // The song sounds different with each effect that is bypassed.
    let (song_mix, left_out) = mix(&service, &song).await;
    assert_eq!(left_out, json!([]));
    for pointer in ["/tracks/1/effects/1", "/tracks/0/effects/0"] {
        let mut bypassed_song = song.clone();
        bypassed_song.pointer_mut(pointer).expect("an effect")["bypass"] = true.into();
        let (other_mix, left_out) = mix(&service, &bypassed_song).await;
        assert_eq!(left_out, json!([]));
        assert!(difference(&song_mix, &other_mix) > 0.001, "{pointer}");
    }

    // Sounds are rendered again only if the signal before the effect changes.
    let mut edited_song = song.clone();
    edited_song["tracks"][2]["items"][0]["notes"][0]["pitch"] = 50.into();
    edited_song["tracks"][1]["name"] = "another name".into();
    let mut silent_track = quiet_track("silent", nekobi, &[effect("d", delay)]);
    silent_track["mute"] = true.into();
    edited_song["tracks"].as_array_mut().expect("tracks").insert(0, silent_track);
    let second = sounds(&service, &edited_song).await;
    let id_of = |sounds: &[Value], track: Value, effect: Value| {
        let plugin_sound =
            sounds.iter().find(|sound| sound["track_id"] == track && sound["effect_id"] == effect);
        plugin_sound.map(|sound| sound["sound_id"].clone())
    };
    for (track, effect) in
        [(json!("bass"), json!(null)), (json!("bass"), json!("d")), (json!("band"), json!("v"))]
    {
        let ids = [&first, &second].map(|sounds| id_of(sounds, track.clone(), effect.clone()));
        assert_eq!(ids[0], ids[1], "{track} {effect}");
    }
    for (track, effect) in [(json!("lead"), json!(null)), (json!(null), json!("e"))] {
        let ids = [&first, &second].map(|sounds| id_of(sounds, track.clone(), effect.clone()));
        assert_ne!(ids[0], ids[1], "{track} {effect}");
    }

    // The track sounds the same if it is frozen with its effects, and no plugin renders again.
    let stored_before = stored_sounds(&service);
    let freeze_result = freeze(&service, &song, "bass").await;
    assert_eq!(freeze_result["left_out"], json!([]));
    assert_eq!(stored_sounds(&service), stored_before);
    let mut changed_song = song.clone();
    changed_song["tracks"][1] = freeze_result["track"].clone();
    let (mix_after, _) = mix(&service, &changed_song).await;
    let residual = difference(&song_mix, &mix_after);
    assert!(residual < 2.0 * NULL_PEAK, "{residual}");

    // The page plays the stored sound of the master's effect, which is the mix before the limiter.
    let address = format!("/api/v1/plugins/sounds/{}", first_ids[4]);
    let master = samples(&service, &address.as_str().into()).await;
    assert!(peak(&master) > 0.01 && master.len() > song_mix.len() / 2);
    let residual = difference(&song_mix, &master);
    assert!(residual < 1e-4, "the limiter of the mix changes the signal: {residual}");
    let unknown_answer = service.app.local(Method::GET, "/api/v1/plugins/sounds/0123").send().await;
    unknown_answer.problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_latency_of_plugins_is_compensated() {
    let (service, ids) = service_with(&[NEKOBI, ZA_MAXIM, LSP_LIMITER, LSP_LOUDNESS]).await;
    // The last plugin's bypass delays its input.
    for (plugin, params) in ids[1..].iter().zip([json!({}), json!({}), json!({"bypass": 1.0})]) {
        // The second track is the first without the plugin and with the opposite polarity.
        let invert = json!({"id": "u", "type": "builtin", "name": "utility",
            "params": {"invert_left": true, "invert_right": true}});
        let with_plugin = |tracks: &[Value]| project(tracks);
        let mut latent = effect("p", plugin);
        latent["params"] = params;
        let wet = quiet_track("wet", &ids[0], &[latent]);
        let dry_track = quiet_track("dry", &ids[0], &[invert]);
        let (single_mix, left_out) = mix(&service, &with_plugin(std::slice::from_ref(&wet))).await;
        assert_eq!(left_out, json!([]));
        let (nulled, _) = mix(&service, &with_plugin(&[wet, dry_track])).await;
        let (level, residual) = (peak(&single_mix), peak(&nulled));
        assert!(level > 0.01 && residual < level / 1_000.0, "{plugin}: {residual} of {level}");
    }
}

/// The effect delays its sound, so the mix is silent only if the other track is delayed equally.
#[tokio::test(flavor = "multi_thread")]
async fn a_latency_of_4096_frames_in_vst3_is_compensated() {
    const LATENT: &str = "91919191919191919191919191919191";
    let (service, ids) = service_with(&[NEKOBI]).await;
    // A VST2 module beside a VST3 module would be ignored.
    service.install("latent", "vst3/latent.vst3");
    service.scan().await;
    let list = post(&service, "/plugins/parameters", &json!({"plugin_id": LATENT}), 200).await;
    assert_eq!(list["latency_secs"], json!(4_096.0 / 48_000.0), "{list}");
    let latent = json!({"id": "p", "type": "vst3", "plugin_id": LATENT});
    let invert = json!({"id": "u", "type": "builtin", "name": "utility",
        "params": {"invert_left": true, "invert_right": true}});
    let wet = quiet_track("wet", &ids[0], &[latent]);
    let dry_track = quiet_track("dry", &ids[0], &[invert]);
    let (single_mix, left_out) = mix(&service, &project(std::slice::from_ref(&wet))).await;
    assert_eq!(left_out, json!([]));
    let (nulled, _) = mix(&service, &project(&[wet, dry_track])).await;
    assert!(peak(&single_mix) > 0.01, "{}", peak(&single_mix));
    assert_eq!(peak(&nulled), 0.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_and_automation_reach_the_plugin() {
    let (service, ids) = service_with(&[NEKOBI, ZAM_DELAY]).await;
    let song = |effect: Value, lanes: Value| {
        let mut track = quiet_track("bass", &ids[0], &[effect]);
        track["automation"] = lanes;
        project(&[track])
    };
    let (dry_track, _) = mix(&service, &project(&[quiet_track("bass", &ids[0], &[])])).await;
    let mut no_delay = effect("d", &ids[1]);
    no_delay["params"] = json!({"Dry/Wet": 0.0});
    let (off, _) = mix(&service, &song(no_delay, json!([]))).await;
    let (on, _) = mix(&service, &song(effect("d", &ids[1]), json!([]))).await;
    assert!(
        difference(&dry_track, &off) < 1e-3 && difference(&dry_track, &on) > 0.01,
        "{}",
        difference(&dry_track, &off)
    );
    // The delay begins at 0.625 seconds. A name with a slash cannot be a target, so the id is used.
    let points = json!([{"tick": 0, "value": 0, "curve": "step"}, {"tick": 1200, "value": 0.9}]);
    let lanes = json!([{"target": "d/6", "points": points}]);
    let (automated_mix, left_out) = mix(&service, &song(effect("d", &ids[1]), lanes)).await;
    assert_eq!(left_out, json!([]));
    let start = 2 * 30_000;
    assert!(difference(&automated_mix[..start], &off[..start]) < 1e-3);
    assert!(difference(&automated_mix[start..], &off[start..]) > 0.01);
    let mut wrong_effect = effect("d", &ids[1]);
    wrong_effect["params"] = json!({"Dry/Wet": "half"});
    let request = json!({"project": song(wrong_effect, json!([]))});
    let refusal = service.app.local(Method::POST, "/api/v1/plugins/render").json(&request).send().await;
    let detail = refusal.problem(422, "bad_plugin_parameter");
    assert!(detail.contains("Dry/Wet"), "{detail}");
    let sounds = post(&service, "/plugins/sounds", &request, 200).await["sounds"].clone();
    assert_eq!((&sounds[0]["state"], &sounds[1]["state"]), (&json!("ready"), &json!("failed")));
    assert!(sounds[1]["reason"].as_str().is_some_and(|reason| reason.contains("Dry/Wet")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_effect_passes_its_input_and_is_audible_again_after_reinstallation() {
    let (service, ids) = service_with(&[NEKOBI, ZAM_DELAY]).await;
    let song = project(&[quiet_track("bass", &ids[0], &[effect("d", &ids[1])])]);
    let (dry_track, _) = mix(&service, &project(&[quiet_track("bass", &ids[0], &[])])).await;
    let (wet, _) = mix(&service, &song).await;
    assert!(difference(&dry_track, &wet) > 0.001);
    let module = link_of(&service, ZAM_DELAY);
    fs::remove_file(&module).expect("removes the link");
    post(&service, "/plugins/scan", &json!({}), 200).await;
    let (without, left_out) = mix(&service, &song).await;
    assert_eq!(left_out[0]["pointer"], "/tracks/0/effects/0", "{left_out}");
    assert!(left_out[0]["reason"].as_str().is_some_and(|reason| reason.contains(&ids[1])), "{left_out}");
    assert!(difference(&dry_track, &without) == 0.0);
    assert_eq!(sounds(&service, &song).await[1]["state"], "missing");
    std::os::unix::fs::symlink(ZAM_DELAY, &module).expect("makes the link again");
    post(&service, "/plugins/scan", &json!({}), 200).await;
    let (second_mix, left_out) = mix(&service, &song).await;
    assert_eq!(left_out, json!([]));
    assert!(difference(&wet, &second_mix) == 0.0);
}

/// Returns the path of a link that [`service_with`] has made.
fn link_of(service: &PluginService, module: &str) -> std::path::PathBuf {
    service.path(Path::new(module).file_name().expect("a name").to_str().expect("text"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_instrument_keeps_its_state_and_sounds_the_same_after_reinstallation() {
    let (service, ids) = service_with(&[NEKOBI]).await;
    let save_answer =
        json!({"plugin_id": ids[0], "params": {"Cutoff": 0.9, "VCF Resonance": 0.8}, "with_state": true});
    let state = post(&service, "/plugins/parameters", &save_answer, 200).await["state"].clone();
    let (plain_mix, _) = mix(&service, &project(&[quiet_track("bass", &ids[0], &[])])).await;
    let mut song = project(&[quiet_track("bass", &ids[0], &[])]);
    song["tracks"][0]["synth_engine"]["state"] = state;
    post(&service, "/projects", &song, 201).await;
    let (mix_before, _) = mix(&service, &song).await;
    assert!(difference(&plain_mix, &mix_before) > 0.01, "the state changes the sound");

    let module = link_of(&service, NEKOBI);
    fs::remove_file(&module).expect("removes the link");
    service.scan().await;
    let by_id = json!({"project_id": "p", "bit_depth": "float32", "tail_secs": 1});
    let silent_track = post(&service, "/plugins/render", &by_id, 200).await;
    assert_eq!(silent_track["receipt"]["left_out"][0]["pointer"], "/tracks/0/synth_engine");
    assert_eq!(peak(&samples(&service, &silent_track["audio_url"]).await), 0.0);

    std::os::unix::fs::symlink(NEKOBI, &module).expect("makes the link again");
    service.scan().await;
    // The plugin renders again instead of playing its stored sound.
    let stored_folder = service.app.state.blobs.root().join("plugin-sounds");
    for file in fs::read_dir(stored_folder).expect("stored sounds").flatten() {
        fs::remove_file(file.path()).expect("removes");
    }
    let second_mix = post(&service, "/plugins/render", &by_id, 200).await;
    assert_eq!(second_mix["receipt"]["left_out"], json!([]));
    assert!(samples(&service, &second_mix["audio_url"]).await == mix_before);
    assert_eq!(stored_sounds(&service), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn plugins_process_the_side_chain_of_another_track() {
    let (service, ids) = service_with(&[NEKOBI, LSP_SIDE_CHAIN, ZAM_COMP, ZAM_DELAY]).await;
    let [nekobi, lsp, zam, delay] = &ids[..] else { panic!("{ids:?}") };
    for (plugin, has_side_chain) in [(lsp, true), (zam, true), (delay, false)] {
        let list = post(&service, "/plugins/parameters", &json!({"plugin_id": plugin}), 200).await;
        assert_eq!(list["has_side_chain"], has_side_chain, "{plugin}");
    }
    // The limiter of the other track has a latency, and its fader comes after the side-chain.
    let limiter = json!({"id": "l", "type": "builtin", "name": "limiter"});
    let song = |effect: &Value, pitch: u32| {
        let mut source = quiet_track("source", nekobi, std::slice::from_ref(&limiter));
        source["items"][0]["notes"][0]["pitch"] = pitch.into();
        source["items"][0]["notes"][0]["tick"] = 240.into();
        source["mute"] = true.into();
        project(&[quiet_track("bass", nekobi, std::slice::from_ref(effect)), source])
    };
    for (plugin, params) in [
        (lsp, json!({"sct": 1.0, "al": 0.5})),
        (zam, json!({"Sidechain": 1.0, "Threshold": 0.2, "Ratio": 1.0})),
    ] {
        let mut single_mix = effect("c", plugin);
        single_mix["params"] = params;
        let mut side_chained = single_mix.clone();
        side_chained["side_chain"] = "source".into();
        let rendered_effect = async |effect: &Value, pitch: u32| {
            let song = song(effect, pitch);
            let sounds = sounds(&service, &song).await;
            let sound = sounds.iter().find(|sound| sound["effect_id"] == "c").expect("a sound");
            let (song_mix, left_out) = mix(&service, &song).await;
            assert_eq!(left_out, json!([]));
            (sound["sound_id"].as_str().unwrap_or_else(|| panic!("{sound}")).to_owned(), song_mix)
        };
        let (id_of_48, mix_of_48) = rendered_effect(&side_chained, 48).await;
        let (id_of_84, mix_of_84) = rendered_effect(&side_chained, 84).await;
        let (id_alone, mix_alone) = rendered_effect(&single_mix, 48).await;
        let (same_id_alone, same_mix_alone) = rendered_effect(&single_mix, 84).await;
        assert!(id_of_48 != id_of_84 && id_of_48 != id_alone, "{plugin}");
        assert_eq!(id_alone, same_id_alone, "{plugin}");
        let differences = [
            difference(&mix_alone, &same_mix_alone),
            difference(&mix_of_48, &mix_of_84),
            difference(&mix_of_48, &mix_alone),
        ];
        assert!(differences[0] == 0.0 && differences[1] > 1e-4 && differences[2] > 1e-3, "{differences:?}");
        // Before the first note of the other track, its side-chain is silent.
        let start = 2 * (48_000 / 2 + 6_000 - 100);
        let silent_track = difference(&mix_of_48[..start], &mix_of_84[..start]);
        assert!(silent_track == 0.0 && peak(&mix_of_48[..start]) > 1e-3, "{plugin}: {silent_track}");
    }
    // A plugin without a side-chain input ignores the side-chain.
    let mut side_chained = effect("d", delay);
    let (plain_mix, _) = mix(&service, &song(&side_chained, 48)).await;
    side_chained["side_chain"] = "source".into();
    let (ignored_mix, left_out) = mix(&service, &song(&side_chained, 48)).await;
    assert_eq!((left_out, difference(&plain_mix, &ignored_mix)), (json!([]), 0.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_track_keeps_the_side_chain_of_a_group() {
    let (service, ids) = service_with(&[NEKOBI, ZAM_COMP]).await;
    let [nekobi, zam] = &ids[..] else { panic!("{ids:?}") };
    let mut side_chained = effect("c", zam);
    side_chained["params"] = json!({"Sidechain": 1.0, "Threshold": 0.2, "Ratio": 1.0});
    side_chained["side_chain"] = "drums".into();
    let mut drum = quiet_track("drum", nekobi, &[]);
    drum["output"] = "drums".into();
    let drums = json!({"id": "drums", "name": "drums", "kind": "group"});
    // An effect of another track, which the frozen track does not need, is not rendered.
    let apart = quiet_track("apart", nekobi, &[effect("u", zam)]);
    // Only the group of the frozen track has this instrument as its side-chain.
    let mut mix_after = quiet_track("after", nekobi, &[]);
    mix_after["items"][0]["notes"][0]["pitch"] = 60.into();
    mix_after["mute"] = true.into();
    let compressor = json!({"id": "g", "type": "builtin", "name": "compressor", "side_chain": "after"});
    let group = json!({"id": "group", "name": "group", "kind": "group", "effects": [compressor]});
    let mut bass = quiet_track("bass", nekobi, &[side_chained]);
    bass["output"] = "group".into();
    let song = project(&[bass, drum, drums, apart, mix_after, group]);
    let freeze_result = freeze(&service, &song, "bass").await;
    assert_eq!(freeze_result["left_out"], json!([]));
    // The instruments of the bass and the drum, which play the same notes, and the compressor.
    assert_eq!(stored_sounds(&service), 2 * 2);
    let (song_mix, _) = mix(&service, &song).await;
    assert_eq!(
        stored_sounds(&service),
        2 * 4,
        "the effect of the other track and the other instrument are new"
    );
    let mut changed_song = song.clone();
    changed_song["tracks"][0] = freeze_result["track"].clone();
    let (mix_after, left_out) = mix(&service, &changed_song).await;
    assert_eq!(left_out, json!([]));
    let largest_difference = difference(&song_mix, &mix_after);
    assert!(largest_difference < 1e-6, "the frozen track differs by {largest_difference}");
}
