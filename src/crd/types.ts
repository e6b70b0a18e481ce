// CustomResourceDefinitions as the API has them: the parts of spec and status that this room reads, and how to read them.
import type { KubeObject, OpenAPIV3Schema } from '../apimachinery/index.ts';
import type { ColumnSpec } from './columns.ts';

/** Where a webhook is: by URL, or by the Service that leads to it. */
export interface WebhookClient {
  readonly url?: string;
  readonly service?: { readonly name: string; readonly namespace: string; readonly path?: string; readonly port?: number };
  /** PEM of the authorities, in base64. */
  readonly caBundle?: string;
}

/** spec.conversion.webhook of a definition. */
export interface WebhookConversion {
  readonly clientConfig?: WebhookClient;
  readonly conversionReviewVersions?: readonly string[] | null;
}

/** spec.names, and status.acceptedNames. */
export interface DefinitionNames {
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
}

/** Where a kind keeps what its scale subresource shows. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** An entry of spec.versions. */
export interface DefinitionVersion {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: OpenAPIV3Schema };
  readonly subresources?: { readonly status?: object; readonly scale?: ScalePaths };
  readonly additionalPrinterColumns?: readonly ColumnSpec[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** The spec of a definition, as the API has it. */
export interface DefinitionSpec {
  readonly group: string;
  readonly names: DefinitionNames;
  readonly scope: string;
  readonly versions: readonly DefinitionVersion[];
  readonly conversion?: { readonly strategy?: string; readonly webhook?: WebhookConversion };
  readonly preserveUnknownFields?: boolean;
}

/** A condition of a definition, as the API has it. */
export interface DefinitionCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The status of a definition, as the API has it. */
export interface DefinitionStatus {
  readonly conditions?: readonly DefinitionCondition[] | null;
  readonly acceptedNames?: DefinitionNames;
  readonly storedVersions?: readonly string[] | null;
}

/** spec of a definition object. */
export const specOf = (definition: KubeObject): DefinitionSpec => definition['spec'] as DefinitionSpec;
/** status of a definition object. */
export const statusOf = (definition: KubeObject): DefinitionStatus => (definition['status'] ?? {}) as DefinitionStatus;
