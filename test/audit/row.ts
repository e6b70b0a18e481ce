// A line of the audit that requests of its own show, and the servers that are started for such lines.
import type { Json, Request } from '../differential/case.ts';

/** A line, or several with spaces between: what is looked at, and the requests that show it. */
export interface Row {
  readonly line: string;
  readonly what: string;
  readonly requests: readonly Request[];
}

/** The subject of a certificate. It is of the authority `ca.crt`, unless it stands for itself. */
export interface Certificate {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly hosts?: readonly string[];
  readonly isSelfSigned?: true;
}

/**
 * Rows that a server with flags of its own shows. In flags and files {dir} is the directory of the files, {hooks} the URL of the webhooks, and {caBundle}
 * their authority; bodies of requests may name the last two.
 */
export interface Setup {
  readonly name: string;
  readonly flags: readonly string[];
  /** Files by their names in the directory, beside the certificates: `ca.crt`, and `NAME.crt` and `NAME.key` of each of `certificates`. */
  readonly files?: Readonly<Record<string, string>>;
  readonly certificates?: Readonly<Record<string, Certificate>>;
  /** What webhooks answer, by their paths; nothing stands for a failure. */
  readonly hooks?: Readonly<Record<string, (sent: Json) => Json | Promise<Json> | undefined>>;
  /** This server, too, stores in an etcd, which rows look into. */
  readonly isOnEtcd?: true;
  /** Loops of kube-controller-manager that run. */
  readonly loops?: readonly string[];
  readonly rows: readonly Row[];
}
