// PodLogOptions: read from the query as Go's conversions do, validated with the reference's texts, and written again for the kubelet.
import { type FieldError, badRequest, canonicalizeTime, forbiddenField, invalid, invalidValue, notSupportedText } from '../../apimachinery/index.ts';
import { encodeQuery, isTrue, parseInteger } from '../../endpoints/index.ts';

/** The options of a log, read. */
export interface LogOptions {
  readonly container: string;
  readonly skipsVerification: boolean;
  /** For the kubelet, encoded. */
  readonly query: string;
}

/** Whether single streams may be asked for (the feature gate PodLogsQuerySplitStreams). */
interface LogFeatures {
  readonly splitsStreams: boolean;
}

const streamNames = ['All', 'Stdout', 'Stderr'];
/** The path of no field in particular, as the reference writes it. */
const WHOLE = '[]';
const ZERO_TIME = '0001-01-01T00:00:00Z';

function parseTime(text: string | null): string | undefined {
  if (text === null) return undefined;
  if (text === '' || text === 'null') return ZERO_TIME;
  try {
    return canonicalizeTime(text) ?? ZERO_TIME;
  } catch (error) {
    throw badRequest((error as Error).message);
  }
}

interface Given {
  readonly sinceSeconds: number | undefined;
  readonly sinceTime: string | undefined;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly stream: string | null;
}

function findStreamErrors({ stream, tailLines }: Given, { splitsStreams }: LogFeatures): FieldError[] {
  if (stream === null) return [];
  if (!splitsStreams) return [forbiddenField('stream', 'may not be specified')];
  return [
    ...(streamNames.includes(stream) ? [] : [notSupportedText('stream', stream, streamNames)]),
    ...(stream !== 'All' && tailLines !== undefined ? [forbiddenField(WHOLE, '`tailLines` and specific `stream` are mutually exclusive for now')] : []),
  ];
}

function findErrors(given: Given, features: LogFeatures): FieldError[] {
  const { sinceSeconds, sinceTime, tailLines, limitBytes } = given;
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) errors.push(invalidValue('tailLines', tailLines, 'must be greater than or equal to 0'));
  if (limitBytes !== undefined && limitBytes < 1) errors.push(invalidValue('limitBytes', limitBytes, 'must be greater than 0'));
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(forbiddenField(WHOLE, 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) errors.push(invalidValue('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  return [...errors, ...findStreamErrors(given, features)];
}

/** Reads the options of a log; throws the 400 of what cannot be read and the 422 of what may not be. */
export function readLogOptions(pod: string, query: URLSearchParams, features: LogFeatures): LogOptions {
  const given: Given = {
    sinceSeconds: parseInteger(query, 'sinceSeconds'), sinceTime: parseTime(query.get('sinceTime')), tailLines: parseInteger(query, 'tailLines'),
    limitBytes: parseInteger(query, 'limitBytes'), stream: query.get('stream'),
  };
  const errors = findErrors(given, features);
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, pod, errors);
  const { stream, ...values } = given;
  const flags = ['follow', 'previous', 'timestamps'].filter((name) => isTrue(query.getAll(name))).map((name) => [name, 'true'] as const);
  const rest = Object.entries(values).filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)] as const);
  return {
    container: query.get('container') ?? '', skipsVerification: isTrue(query.getAll('insecureSkipTLSVerifyBackend')),
    query: encodeQuery([...flags, ...rest, ...(features.splitsStreams ? [['stream', stream ?? 'All'] as const] : [])]),
  };
}
