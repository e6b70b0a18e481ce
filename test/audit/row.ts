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

/** Gives an answer as soon as a row says `release:`. */
export type Hold = (answer: Json) => Promise<Json>;

/**
 * Rows that a server with flags of its own shows. In flags, files and requests {dir} is the directory of the
 * files, {hooks} the URL of the webhooks, {hooksPort} their port, and {caBundle} their authority in base64; {now} and {earlier} are times, the
 * latter a minute ago.
 */
export interface Setup {
  readonly name: string;
  readonly flags: readonly string[];
  /**
   * Files by their names in the directory, beside the certificates: `ca.crt`, `issuer.pub` of the issuer of tokens, and `NAME.crt` and `NAME.key` of each
   * of `certificates`.
   */
  readonly files?: Readonly<Record<string, string>>;
  readonly certificates?: Readonly<Record<string, Certificate>>;
  /** What webhooks answer, by their paths; nothing stands for a failure. An answer that is held is given when the row lets it go. */
  readonly hooks?: Readonly<Record<string, (sent: Json, hold: Hold) => Json | undefined | Promise<Json | undefined>>>;
  /** This server, too, stores in an etcd, which rows look into. */
  readonly isOnEtcd?: true;
  /** Another etcd stands beside that of the server: {otherEtcd}, which rows look into by `etcd2:`. */
  readonly hasOtherEtcd?: true;
  /** A program signs tokens at {dir}/signer.sock. */
  readonly hasSigner?: true;
  /** Loops of kube-controller-manager that run. */
  readonly loops?: readonly string[];
  readonly rows: readonly Row[];
}
