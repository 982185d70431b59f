//! Exports through the real router, with a real bank.

mod busy;
mod missing;
mod render;
mod soundfont_render;
mod tracks;
