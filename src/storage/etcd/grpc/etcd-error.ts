// The failures of calls to etcd by the status codes of gRPC, and those of connections in the same terms.

/** The codes of gRPC that the Store distinguishes. */
export const statusCode = {
  ok: 0, cancelled: 1, unknown: 2, deadlineExceeded: 4, notFound: 5, resourceExhausted: 8, outOfRange: 11, internal: 13, unavailable: 14,
} as const;

const { cancelled, unknown, deadlineExceeded, internal, unavailable } = statusCode;
const transientCodes: ReadonlySet<number> = new Set([unavailable, deadlineExceeded, cancelled, internal, unknown]);
const UNREACHABLE = 'cannot be reached';

/** A call that failed. */
export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  readonly code: number;
  readonly details: string;

  constructor({ code, details, cause }: { readonly code: number; readonly details: string; readonly cause?: unknown }) {
    super(details, cause === undefined ? {} : { cause });
    this.code = code;
    this.details = details;
  }

  /** No connection stands: nothing was sent. */
  static unreachable(cause?: unknown): EtcdError {
    return new EtcdError({ code: unavailable, details: UNREACHABLE, cause });
  }

  /** True for what another server, or the same one later, may answer better. */
  get isTransient(): boolean {
    return transientCodes.has(this.code);
  }

  /** True when the server refused before it did anything. */
  get isUntouched(): boolean {
    return this.details === 'etcdserver: no leader' || this.details === UNREACHABLE;
  }
}
