// /debug/api_priority_and_fairness: priority levels, queues and requests of flow control as tables, in the reference's layout.
import type { Exchange, RequestInfo, Response } from '../../endpoints/index.ts';
import { answerText } from '../observability/health.ts';
import type { DumpedRequest, FlowControl } from './flow-control.ts';

const ROOT = '/debug/api_priority_and_fairness/';

/** The least width of a column, with the space after it. */
const LEAST_WIDTH = 8;

/** Cells in columns as wide as their widest cell; every cell but the last of a line ends with a comma. */
function formatTable(rows: readonly (readonly unknown[])[]): string {
  const cells = rows.map((row) => row.map((cell, index) => (index < row.length - 1 ? `${String(cell)},` : String(cell))));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(LEAST_WIDTH, ...cells.map((row) => (row[column]?.length ?? 0) + 1)));
  const pad = (cell: string, column: number, { length }: readonly string[]): string => (column < length - 1 ? cell.padEnd(widths[column] ?? 0) : cell);
  return cells.map((row) => `${row.map((cell, column) => pad(cell, column, row)).join('')}\n`).join('');
}

const levelHead = [
  'PriorityLevelName', 'ActiveQueues', 'IsIdle', 'IsQuiescing', 'WaitingRequests', 'ExecutingRequests', 'DispatchedRequests', 'RejectedRequests',
  'TimedoutRequests', 'CancelledRequests',
];
const queueHead = [
  'PriorityLevelName', 'Index', 'PendingRequests', 'ExecutingRequests', 'SeatsInUse', 'NextDispatchR', 'InitialSeatsSum', 'MaxSeatsSum', 'TotalWorkSum',
];
const requestHead = [
  'PriorityLevelName', 'FlowSchemaName', 'QueueIndex', 'RequestIndexInQueue', 'FlowDistingsher', 'ArriveTime', 'InitialSeats', 'FinalSeats',
  'AdditionalLatency', 'StartTime',
];
const detailHead = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource'];

/** The start of what has not started, as Go shows it. */
const NEVER = '0001-01-01T00:00:00Z';

const isWaiting = ({ place }: DumpedRequest): boolean => place >= 0;
const versionOf = (info: RequestInfo | undefined): string => [info?.group ?? '', info?.version ?? ''].filter((part) => part !== '').join('/');
const seats = (count: number): string => `${count.toFixed(8)}ss`;

/** Answers the paths; undefined for all others. */
export function createFlowDumps(flowControl: FlowControl | undefined): (exchange: Exchange) => Response | undefined {
  return ({ path, query, clock }) => {
    if (flowControl === undefined || !path.startsWith(ROOT)) return undefined;
    const dump = flowControl.dump();
    switch (path.slice(ROOT.length)) {
      case 'dump_priority_levels': return answerText(200, formatTable([levelHead, ...dump.levels.map((level) => [
        level.name, level.queues.filter(({ requests }) => requests.some(isWaiting)).length, level.waiting === 0 && level.executing === 0, false,
        level.waiting, level.executing, level.dispatched, level.rejected, level.timedOut, level.cancelled,
      ])]));
      case 'dump_queues': return answerText(200, formatTable([queueHead, ...dump.levels.flatMap(({ name, queues }) => queues.map((queue, index) => {
        const pending = queue.requests.filter(isWaiting).length;
        const executing = queue.requests.length - pending;
        return [name, index, pending, executing, executing, seats(queue.virtual), pending, pending, seats(pending)];
      }))]));
      case 'dump_requests': {
        const hasDetails = (query.get('includeRequestDetails') ?? '') !== '';
        const show = (level: string, queue: number) => ({ schema, distinguisher, user, info, sinceMs, place }: DumpedRequest): readonly unknown[] => {
          const time = new Date(clock.now() - clock.monotonicMs() + sinceMs).toISOString();
          return [level, schema, queue, place, distinguisher, time, 1, 0, '0s', place < 0 ? time : NEVER, ...(hasDetails
            ? [user.name, info?.verb, info?.path, info?.namespace, info?.name, versionOf(info), info?.resource, info?.subresource]
              .map((cell) => cell ?? '') : [])];
        };
        const rows = dump.levels.flatMap(({ name, queues, unqueued }) =>
          [...queues.flatMap(({ requests }, index) => requests.map(show(name, index))), ...unqueued.map(show(name, -1))]);
        return answerText(200, formatTable([[...requestHead, ...(hasDetails ? detailHead : [])], ...rows]));
      }
      default: return undefined;
    }
  };
}
