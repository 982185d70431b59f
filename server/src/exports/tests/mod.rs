//! Tests of exports through the real router, with a real SoundFont.

mod audio_export;
mod busy;
mod missing;
mod render;
mod render_list;
mod soundfont_render;
mod tracks;
