/** The worker of a live chain, which owns the WebSocket to the service. */
import { BLOCK_VALUES, BlockRing } from './block-ring';
import { LiveLink } from './live-link';
import type { ToAudioThread, ToWorker, WorkerCommand, WorkerReport } from './messages';

/** Interval at which the figures of the queue are reported, in milliseconds. */
const REPORT_MS = 500;
/** Interval at which the service is asked for its figures, in milliseconds. */
const FIGURES_MS = 2000;

let link: LiveLink | null = null;
/** The protocols of the next connection. */
let nextProtocols: string[] = [];

const report = (message: WorkerReport): void => postMessage(message);

onmessage = ({ data: command }: MessageEvent<WorkerCommand>): void => {
  switch (command.type) {
    case 'open':
      link = openLink(command);
      setInterval(() => link && report(link.report), REPORT_MS);
      setInterval(() => link?.askForFigures(), FIGURES_MS);
      break;
    case 'chain':
      link?.setChain(command.chain, command.lanes);
      break;
    case 'lanes':
      link?.setLanes(command.lanes);
      break;
    case 'parameter':
      link?.setParameter(command.effect, command.param, command.value);
      break;
    case 'bypass':
      link?.setBypass(command.effect, command.bypass);
      break;
    case 'protocols':
      nextProtocols = command.protocols;
      break;
    case 'close':
      link?.close();
      close();
      break;
  }
};

function openLink({ url, protocols, port, rings, bufferBlocks }: WorkerCommand & { type: 'open' }): LiveLink {
  nextProtocols = protocols;
  const sent = new BlockRing(rings?.sent);
  const returned = rings ? new BlockRing(rings.returned) : null;
  const tell = (message: ToAudioThread, transfer: Transferable[] = []): void => port.postMessage(message, transfer);
  const opened = new LiveLink(sent, {
    connect: () => new WebSocket(url, nextProtocols),
    later: (action, ms) => void setTimeout(action, ms),
    onBlock: (number, values) => {
      if (returned) returned.put({ number, flags: 0, songFrame: 0 }, values, true);
      else tell({ type: 'block', number, values }, [values.buffer]);
    },
    onPrepared: (songFrame) => tell({ type: 'prepared', songFrame }),
    onLatency: (chainFrames) => tell({ type: 'latency', chainFrames }),
    onReport: report,
  }, bufferBlocks ?? 0);
  port.onmessage = ({ data: message }: MessageEvent<ToWorker>) => {
    if (message.type === 'prepare') return opened.prepare(message.songFrame, message.nextNumber);
    message.headers.forEach((header, index) => {
      const values = message.values.subarray(index * BLOCK_VALUES, (index + 1) * BLOCK_VALUES);
      sent.put(header, values, true);
    });
    opened.pump();
  };
  opened.open();
  if (rings) void pumpWhenSent(opened, sent);
  return opened;
}

/** Sends blocks whenever the audio thread has written a batch. */
async function pumpWhenSent(opened: LiveLink, sent: BlockRing): Promise<never> {
  for (;;) {
    const { newest } = sent;
    opened.pump();
    await sent.changed(newest);
  }
}
