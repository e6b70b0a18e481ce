// What the failures of calls to etcd allow a caller to do next.
import { GrpcError, statusCode } from '../../../grpc/index.ts';

const { cancelled, unknown, deadlineExceeded, internal, unavailable } = statusCode;
const transientCodes: ReadonlySet<number> = new Set([unavailable, deadlineExceeded, cancelled, internal, unknown]);

/** True for what another server, or the same one later, may answer better. */
export const isTransient = (error: unknown): error is GrpcError => error instanceof GrpcError && transientCodes.has(error.code);

/** True when the server refused before it did anything. */
export const isUntouched = ({ isUnsent, details }: GrpcError): boolean => isUnsent || details === 'etcdserver: no leader';
