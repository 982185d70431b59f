"""Times pedalboard's effects: pedalboard_effects.py AUDIO SAMPLE_RATE_HZ BLOCK_FRAMES PASSES

AUDIO has interleaved stereo floats. Prints the nanoseconds of processor time per frame of each
effect as JSON. `plain` is a chain without effects.

Python makes a call for each second of the recording. pedalboard's C++ code divides it into blocks and
processes them without the interpreter. The time includes pedalboard's copies between NumPy's arrays
and its own buffers, which the time of `plain` also has.
"""

import functools
import json
import sys
import time

import numpy
import pedalboard


def bands():
    """Returns four bells, as our equalizer has them in the benchmark."""
    frequencies_hz, gains_db = (100, 500, 2000, 8000), (3, -4, 2, 3)
    return [pedalboard.PeakFilter(hz, db, 1.0) for hz, db in zip(frequencies_hz, gains_db)]


EFFECTS = {
    "plain": lambda: [],
    "equalizer": bands,
    "filter": lambda: [pedalboard.LadderFilter(cutoff_hz=1200, resonance=0.5)],
    "compressor": lambda: [pedalboard.Compressor(threshold_db=-30, ratio=4, attack_ms=10, release_ms=100)],
    "gate": lambda: [pedalboard.NoiseGate(threshold_db=-30)],
    "limiter": lambda: [pedalboard.Limiter(threshold_db=-9, release_ms=100)],
    "phaser": lambda: [pedalboard.Phaser()],
    "delay": lambda: [pedalboard.Delay(delay_seconds=0.35, feedback=0.35, mix=0.35)],
    "chorus": lambda: [pedalboard.Chorus()],
    "reverb": lambda: [pedalboard.Reverb()],
}


def frame_ns(effects, audio, sample_rate_hz, block_frames, passes):
    chain = pedalboard.Pedalboard(effects)
    # The parts fit into memory that the allocator reuses. Longer parts cause page faults in some
    # calls, which take as long as the effects.
    starts = range(0, audio.shape[1], sample_rate_hz)
    parts = [numpy.ascontiguousarray(audio[:, start : start + sample_rate_hz]) for start in starts]
    process = functools.partial(chain, sample_rate=sample_rate_hz, buffer_size=block_frames, reset=False)
    output = numpy.concatenate([process(part) for part in parts], axis=1)
    if output.shape != audio.shape or not numpy.abs(output).max() > 0.001:
        raise ValueError(f"{effects}: the output is silent or has another length")
    if effects and numpy.abs(output - audio).max() < 0.001:
        raise ValueError(f"{effects}: the output is the input")
    start = time.process_time_ns()
    for _ in range(passes):
        for part in parts:
            process(part)
    return (time.process_time_ns() - start) / (passes * audio.shape[1])


def main():
    audio = numpy.fromfile(sys.argv[1], dtype="<f4").reshape(-1, 2).T
    audio = numpy.ascontiguousarray(audio)
    rate_hz, block_frames, passes = map(int, sys.argv[2:])
    times = {name: frame_ns(make(), audio, rate_hz, block_frames, passes) for name, make in EFFECTS.items()}
    print(json.dumps(times))


main()
