// The watch verb: its options, its errors, and the stream that answers it.
import { methodNotSupported, StatusError } from '../../apimachinery/index.ts';
import type { RegistryWatch, WatchOptions } from '../../registry/index.ts';
import type { Topic } from '../watch/broadcast.ts';
import type { ResourceRequest } from '../dependencies.ts';
import type { Response } from '../exchange.ts';
import { createWatchEventEncoder, type WatchEventEncoder } from '../watch/watch-event-encoder.ts';
import type { CollectionOptions } from '../request/list-options.ts';
import { type Representation, checkStream, streamType } from '../request/negotiate.ts';
import { headersFor } from '../response/respond.ts';
import { endAtFirstEvent } from '../watch/unshown-watch.ts';
import { WatchStream } from '../watch/watch-stream.ts';

const DEFAULT_MIN_TIMEOUT_SECONDS = 1800;

function watchOptions(options: CollectionOptions): WatchOptions {
  return {
    predicate: options.predicate, ...(options.resourceVersion && { resourceVersion: options.resourceVersion }),
    ...(options.sendInitialEvents !== undefined && { sendInitialEvents: options.sendInitialEvents }),
    allowWatchBookmarks: options.allowWatchBookmarks,
  };
}

function topicOf({ resource, target, name }: ResourceRequest, { labelSelector, fieldSelector, shardSelector }: CollectionOptions,
  { encode, shareKey }: WatchEventEncoder): Topic | undefined {
  if (shareKey === undefined) return undefined;
  return { resource, encode, key: JSON.stringify([shareKey, target.namespace, name, labelSelector, fieldSelector, shardSelector]) };
}

/** The lifetime of a watch: `timeoutSeconds`, or a random time so that clients do not all come back at once. */
function timeoutOf({ dependencies }: ResourceRequest, { timeoutSeconds }: CollectionOptions): number {
  const { random, minRequestTimeoutSeconds = DEFAULT_MIN_TIMEOUT_SECONDS } = dependencies;
  if (timeoutSeconds !== undefined && timeoutSeconds > 0) return Math.min(timeoutSeconds * 1000, 2 ** 31 - 1);
  return (minRequestTimeoutSeconds + (minRequestTimeoutSeconds * random.below(1_000_000)) / 1_000_000) * 1000;
}

/** Errors that upstream sends inside the stream, since its watch has begun before they are found. */
const isStreamError = (error: unknown): error is StatusError => error instanceof StatusError && (error.code === 410 || error.code === 504);

/** The watch, or an error that is sent inside the stream. */
async function begin({ dependencies, target }: ResourceRequest, options: CollectionOptions): Promise<RegistryWatch | StatusError> {
  try {
    return await dependencies.registry.watch(target, watchOptions(options));
  } catch (error) {
    if (isStreamError(error)) return error;
    throw error;
  }
}

/** Answers a watch as a stream that ends with its timeout. */
export async function handleWatch(request: ResourceRequest, options: CollectionOptions, representation: Representation): Promise<Response> {
  const { exchange, dependencies, resource } = request;
  const { clock, random, writeThrottle, broadcasts } = dependencies;
  if (!resource.verbs.includes('watch')) throw methodNotSupported({ group: resource.group, resource: resource.plural }, 'watch');
  const watch = await begin(request, options);
  const headers = headersFor(exchange, streamType(representation.form));
  // The watch begins before its encoding is looked at: a bad version is reported first.
  try {
    checkStream(representation, dependencies.media);
  } catch (error) {
    if (!(watch instanceof StatusError)) watch.close();
    throw error;
  }
  const encoder = createWatchEventEncoder(request, representation);
  if (watch instanceof StatusError) {
    const event = encoder.encodeError(watch.status);
    return { status: 200, headers, body: async (sink) => void sink.write(event) };
  }
  const timeoutMs = timeoutOf(request, options);
  if (representation.conversion?.kind === 'PartialObjectMetadataList') {
    return { status: 200, headers, body: (sink) => endAtFirstEvent({ watch, clock, timeoutMs }, sink) };
  }
  const parts = {
    writeThrottle, broadcasts, watch, encoder, clock, random, topic: topicOf(request, options, encoder), timeoutMs,
    bookmarks: options.allowWatchBookmarks, counts: dependencies.watchCounts?.(exchange.info),
  };
  return { status: 200, headers, body: (sink) => new WatchStream(parts, sink).run() };
}
