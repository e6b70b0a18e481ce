// The versions of a definition, and how its objects are converted between them.
import type { JSX } from 'preact';
import { Notice } from '../../ui/index.ts';

/** A version, as far as it is shown here. */
export interface DefinedVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
}

/** The part of a definition that says how objects are converted. */
export interface Conversion {
  readonly strategy?: string;
  readonly webhook?: {
    readonly conversionReviewVersions?: readonly string[];
    readonly clientConfig?: {
      readonly url?: string;
      readonly service?: { readonly namespace: string; readonly name: string; readonly path?: string; readonly port?: number };
    };
  };
}

interface VersionsProps {
  readonly versions: readonly DefinedVersion[];
  /** Versions that stored objects may have, as the status says. */
  readonly storedVersions: readonly string[];
  readonly conversion: Conversion | undefined;
}

const HTTPS_PORT = 443;

function describe({ strategy = 'None', webhook }: Conversion): string {
  if (strategy !== 'Webhook') return `${strategy}: objects change their apiVersion only; fields that a version does not have are dropped.`;
  const { url, service } = webhook?.clientConfig ?? {};
  const place = service === undefined ? url ?? 'no address' : `Service ${service.namespace}/${service.name}:${service.port ?? HTTPS_PORT}${service.path ?? ''}`;
  return `Webhook: ${place}, asked by ConversionReview ${(webhook?.conversionReviewVersions ?? []).join(' or ')}.`;
}

/** They. */
export function Versions({ versions, storedVersions, conversion }: VersionsProps): JSX.Element {
  const leftOver = storedVersions.filter((name) => !versions.some((version) => version.name === name && version.storage));
  return (
    <section class="card" aria-label="Versions">
      <h2>Versions</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of versions">
        <table class="plain">
          <thead><tr><th>Version</th><th>Served</th><th>Stored</th><th>Deprecated</th></tr></thead>
          <tbody>
            {versions.map(({ name, served, storage, deprecated = false, deprecationWarning = '' }) => (
              <tr key={name}>
                <td>{name}</td><td>{served ? 'yes' : 'no'}</td>
                <td>{storage ? 'new objects' : leftOver.includes(name) ? 'maybe older objects' : 'no'}</td>
                <td class="long">{deprecated ? deprecationWarning || 'yes' : 'no'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p>Conversion by {describe(conversion ?? {})}</p>
      {leftOver.length > 0 && (
        <Notice tone="plain">Objects may still be stored as {leftOver.join(', ')}: what is written again is stored in the new version.</Notice>
      )}
    </section>
  );
}
