"""Times a VST3 plugin in pedalboard's process: pedalboard_plugin.py MODULE TASK

TASK is a JSON file. An instrument gets `notes` (`start_secs`, `end_secs`, `key`, `velocity` of 1 to
127) for `secs` seconds. An effect gets `audio`, the path of a file of interleaved stereo floats.
Blocks have `block_frames` frames. Prints a line of JSON with the seconds to load the plugin. Then
each line of the input starts a render, after which a line tells the seconds from the call to the
output in memory, and the root mean square of the output. Plugins may print lines in between.

The plugin is loaded once, because pedalboard reads the texts of all values of each parameter when
it loads a plugin, which takes many seconds for plugins with a parameter for each MIDI controller.
"""

import json
import sys
import time

import numpy
import pedalboard


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        task = json.load(file)
    start = time.perf_counter()
    plugin = pedalboard.load_plugin(sys.argv[1])
    load_secs = time.perf_counter() - start
    options = {"sample_rate": task["sample_rate_hz"], "buffer_size": task["block_frames"]}
    if plugin.is_instrument:
        messages = []
        for note in task["notes"]:
            messages.append((bytes([0x90, note["key"], note["velocity"]]), note["start_secs"]))
            messages.append((bytes([0x80, note["key"], 64]), note["end_secs"]))
        channels = 1 if task["is_mono"] else 2
        run = lambda: plugin(messages, duration=task["secs"], num_channels=channels, **options)
    else:
        audio = numpy.fromfile(task["audio"], dtype="<f4").reshape(-1, 2).T
        audio = numpy.ascontiguousarray(audio)
        run = lambda: plugin(audio, **options)
    print(json.dumps({"load_secs": load_secs}), flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        output = run()
        secs = time.perf_counter() - start
        rms = float(numpy.sqrt(numpy.mean(numpy.square(output, dtype=numpy.float64))))
        print(json.dumps({"secs": secs, "rms": rms}), flush=True)


main()
