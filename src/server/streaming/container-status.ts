// How a command in a container ended: what a kubelet writes on its error stream, and what a client gets on the error channel of a WebSocket.
import { internalError } from '../../apimachinery/index.ts';

/** The end of a command as metav1.Status without its type. */
export type ContainerStatus = Readonly<Record<string, unknown>>;

const success: ContainerStatus = { metadata: {}, status: 'Success' };
const MAX_EXIT_CODE = 255;

interface ReadStatus {
  readonly status?: unknown;
  readonly message?: unknown;
  readonly reason?: unknown;
  readonly details?: { readonly causes?: readonly { readonly reason?: unknown; readonly message?: unknown }[] } | null;
}

/** A failure that is no exit code. */
export function describeFailure(why: string): ContainerStatus {
  const { kind, apiVersion, ...status } = internalError(why).status;
  void [kind, apiVersion];
  return { ...status };
}

function describeExit({ details }: ReadStatus): ContainerStatus {
  if (details === undefined || details === null) return describeFailure('error stream protocol error: details must be set');
  const code = details.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
  if (code === undefined) return describeFailure('error stream protocol error: no ExitCode cause given');
  if (typeof code !== 'string' || !/^\d+$/.test(code) || Number(code) > MAX_EXIT_CODE) {
    return describeFailure(`error stream protocol error: invalid exit code value ${JSON.stringify(code)}`);
  }
  const exit = String(Number(code));
  return {
    metadata: {}, status: 'Failure', message: `command terminated with non-zero exit code: command terminated with exit code ${exit}`,
    reason: 'NonZeroExitCode', details: { causes: [{ reason: 'ExitCode', message: exit }] },
  };
}

/** Translates what a kubelet has written: a Status since the fourth version of its protocol, before that a plain text. */
export function readContainerStatus(text: string, isStatus: boolean): ContainerStatus {
  if (text === '') return success;
  if (!isStatus) return describeFailure(`error executing remote command: ${text}`);
  let status: ReadStatus;
  try {
    status = JSON.parse(text) as ReadStatus;
  } catch (error) {
    return describeFailure(`error stream protocol error: ${(error as Error).message} in ${JSON.stringify(text)}`);
  }
  if (status?.status === 'Success') return success;
  if (status?.status !== 'Failure') return describeFailure('error stream protocol error: unknown error');
  return status.reason === 'NonZeroExitCode' ? describeExit(status) : describeFailure(String(status.message ?? ''));
}
