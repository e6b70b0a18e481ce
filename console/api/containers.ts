// Containers that run: their logs as they are written, and commands in them over a WebSocket.
import { formatPath } from '../model/index.ts';
import type { Target } from './objects.ts';
import { open } from './request.ts';
import { sessionProtocols } from './session.ts';

/** Which part of a log. */
export interface LogOptions {
  readonly container: string;
  /** Of the container that ran before. */
  readonly isPrevious: boolean;
  readonly hasTimes: boolean;
  readonly follows: boolean;
}

const LINES = 2000;
const pathOf = ({ kind, namespace, name }: Target): string => formatPath(kind, namespace, name);

/** Reads a log from its last lines on, for as long as it is written; resolves at its end. Throws ApiError. */
export async function followLogs(target: Target, options: LogOptions, { write, signal }: { write(text: string): void; signal: AbortSignal }): Promise<void> {
  const { container, isPrevious, hasTimes, follows } = options;
  const query = new URLSearchParams({
    container, tailLines: String(LINES), ...(isPrevious && { previous: 'true' }), ...(hasTimes && { timestamps: 'true' }), ...(follows && { follow: 'true' }),
  });
  const response = await open(`${pathOf(target)}/log?${query.toString()}`, { accept: '*/*', signal });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) write(decoder.decode(part.value, { stream: true }));
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Receives the output of a command. */
export interface ExecSink {
  opened(): void;
  output(text: string, isError: boolean): void;
  /** It is over; `message` says how where it did not end well. */
  ended(message: string): void;
}

/** A command that runs. */
export interface ExecSession {
  /** Writes to its input. */
  send(text: string): void;
  /** Says how large its terminal is. */
  resize(size: TerminalSize): void;
  /** Ends the connection, and the command with it. */
  close(): void;
}

const PROTOCOL = 'v5.channel.k8s.io';
const channels = { input: 0, output: 1, errors: 2, status: 3, size: 4 } as const;
const encoder = new TextEncoder();

function readStatus(text: string): string {
  try {
    const { status, message = 'it failed' } = JSON.parse(text) as { status?: string; message?: string };
    return status === 'Success' ? '' : message;
  } catch {
    return text;
  }
}

/** The size of a terminal. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Which command, where. A terminal has one output for everything. */
export interface ExecCommand {
  readonly container: string;
  readonly command: readonly string[];
  readonly hasTerminal: boolean;
  /** The size of the terminal as the command begins. */
  readonly size: () => TerminalSize;
}

/** Runs a command in a container. A browser learns nothing of why a WebSocket was refused: the server is asked then whether the user may do this. */
export function openExec(target: Target, { container, command, hasTerminal, size }: ExecCommand, sink: ExecSink): ExecSession {
  const query = new URLSearchParams([
    ['container', container], ['stdin', 'true'], ['stdout', 'true'], hasTerminal ? ['tty', 'true'] : ['stderr', 'true'],
    ...command.map((word): [string, string] => ['command', word]),
  ]);
  const url = `${location.origin.replace(/^http/, 'ws')}${pathOf(target)}/exec?${query.toString()}`;
  const socket = new WebSocket(url, [PROTOCOL, ...sessionProtocols()]);
  socket.binaryType = 'arraybuffer';
  const decoders = [1, 2].map(() => new TextDecoder());
  let [isOpen, isClosing, outcome]: [boolean, boolean, string | undefined] = [false, false, undefined];
  socket.addEventListener('open', () => {
    isOpen = true;
    resize(size());
    sink.opened();
  });
  socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
    const bytes = new Uint8Array(data);
    const [channel, rest] = [bytes[0], bytes.subarray(1)];
    if (channel === channels.status) outcome = readStatus(new TextDecoder().decode(rest));
    else if (channel === channels.output || channel === channels.errors) {
      sink.output((decoders[channel - 1] as TextDecoder).decode(rest, { stream: true }), channel === channels.errors);
    }
  });
  socket.addEventListener('close', () => {
    if (isClosing) return;
    if (isOpen) sink.ended(outcome ?? 'the connection ended');
    else void explain(target).then((message) => sink.ended(message));
  });
  const write = (channel: number, text: string): void => {
    const bytes = encoder.encode(text);
    const message = new Uint8Array(bytes.length + 1);
    message[0] = channel;
    message.set(bytes, 1);
    if (socket.readyState === WebSocket.OPEN) socket.send(message);
  };
  const resize = ({ columns, rows }: TerminalSize): void => {
    if (hasTerminal) write(channels.size, JSON.stringify({ Width: columns, Height: rows }));
  };
  return {
    send: (text) => write(channels.input, text),
    resize,
    close() {
      isClosing = true;
      socket.close();
    },
  };
}

/** Why a command could not begin, as the server says of the same request without a WebSocket. */
async function explain(target: Target): Promise<string> {
  const answer = await open(`${pathOf(target)}/exec?command=true&stdout=true`, {}).catch((error: Error) => error);
  return answer instanceof Error && answer.message !== 'Upgrade request required' ? answer.message : 'the server refused the connection';
}
