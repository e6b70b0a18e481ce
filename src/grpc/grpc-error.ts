// The failures of gRPC's calls by its status codes, and those of connections in the same terms.

/** The codes of gRPC that callers distinguish. */
export const statusCode = {
  ok: 0, cancelled: 1, unknown: 2, deadlineExceeded: 4, notFound: 5, resourceExhausted: 8, outOfRange: 11, internal: 13, unavailable: 14,
} as const;

/** As metrics and messages name the codes, by number. */
const codeNames = [
  'OK', 'Canceled', 'Unknown', 'InvalidArgument', 'DeadlineExceeded', 'NotFound', 'AlreadyExists', 'PermissionDenied', 'ResourceExhausted',
  'FailedPrecondition', 'Aborted', 'OutOfRange', 'Unimplemented', 'Internal', 'Unavailable', 'DataLoss', 'Unauthenticated',
];

/** The name of a code; `Code(n)` for numbers that gRPC does not define. */
export const nameStatusCode = (code: number): string => codeNames[code] ?? `Code(${code})`;

/** A call that failed. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly code: number;
  readonly details: string;
  /** True when it is certain that nothing was sent: no connection stands. */
  readonly isUnsent: boolean;

  constructor({ code, details, cause, isUnsent = false }: {
    readonly code: number; readonly details: string; readonly cause?: unknown; readonly isUnsent?: boolean;
  }) {
    super(details, cause === undefined ? {} : { cause });
    this.code = code;
    this.details = details;
    this.isUnsent = isUnsent;
  }

  /** No connection stands: nothing was sent. */
  static unreachable(cause?: unknown): GrpcError {
    return new GrpcError({ code: statusCode.unavailable, details: 'cannot be reached', cause, isUnsent: true });
  }
}
