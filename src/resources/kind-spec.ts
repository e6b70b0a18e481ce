// What a kind states about itself: one KindSpec per file of src/resources/<group>/. Everything but kind and plural has a default that suits most kinds:
// namespaced, version v1, all eight verbs, no subresources, names that are DNS subdomains, PUT without resourceVersion allowed, Background deletion,
// columns Name and Created At.
import type { FieldError, KubeObject } from '../apimachinery/index.ts';
import type { Column, MetadataCheck, Resource, ResourceVerb, ResourceVersionRow, Strategy, Subresource } from '../registry/index.ts';

/** The problems of a new object, in the order in which the reference reports them. */
export type ValidateObject = (object: KubeObject) => readonly FieldError[];

/** The problems of a change from `old` to `object`. */
export type ValidateUpdate = (object: KubeObject, old: KubeObject, circumstances: UpdateCircumstances) => readonly FieldError[];

/** What the validation of an update may depend on besides the objects. */
export interface UpdateCircumstances {
  readonly nowMs: number;
  readonly isGateOn: (gate: string) => boolean;
}

/** The validation of a kind besides metadata, by the path that is written. Paths without a rule accept everything. */
export interface KindValidation {
  readonly object: ValidateObject;
  /** Updates of the object itself; absent: updates follow the rules of new objects. */
  readonly update?: ValidateUpdate;
  readonly status?: ValidateUpdate;
  /** By the name of the subresource. */
  readonly subresources?: Readonly<Record<string, ValidateUpdate>>;
  /** The object holds CEL expressions: the engine of their patterns is loaded before validation starts. */
  readonly usesExpressions?: true;
}

/**
 * The path of a field (with `=` and a value where readers find one in place of the field), after its feature gate where that can be on. Several
 * paths are kept together: an update keeps all of them where the stored object has one.
 */
export type GatedField = string | readonly [gate: string, ...paths: string[]];

/** Whether a stored object uses the feature of a gate. */
export type UsesFeature = (object: KubeObject) => boolean;

/** The parts of a strategy that have no member of their own in a spec: preparation of writes, and deletion. */
export type KindStrategy = Omit<Strategy, 'applyDefaults' | 'prepareValidation' | 'validate' | 'validateUpdate' | 'warnings'>;

/** One kind: names, storage, subresources, and the behaviour that makes it special. Schemas are found by group, version and kind. */
export interface KindSpec {
  readonly kind: string;
  /** The name in URLs. */
  readonly plural: string;
  /** Absent: the kind in lower case. */
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Cluster-scoped. */
  readonly cluster?: true;
  /** The first version is the one that is stored. Alpha and beta versions are off by default, see `isStable`. */
  readonly versions?: readonly string[];
  readonly gate?: NonNullable<Resource['gate']>;
  readonly verbs?: readonly ResourceVerb[];
  /** Never stored: another room answers its requests. */
  readonly virtual?: true;
  readonly nameRule?: Resource['nameRule'];
  readonly storedAs?: string;
  readonly convert?: NonNullable<Resource['convert']>;
  /** Preparation, validation and warnings see objects of all versions as the stored version has them; needs `convert`. */
  readonly actsAsStored?: true;
  /** Absent: the plural. */
  readonly storagePrefix?: string;
  readonly upstreamStorageVersion?: string;
  readonly formerVersions?: NonNullable<Resource['formerVersions']>;
  readonly completeForeign?: NonNullable<Resource['completeForeign']>;
  readonly isStoredInPart?: NonNullable<Resource['isStoredInPart']>;
  readonly blank?: NonNullable<Resource['blank']>;
  readonly ttlSeconds?: number;
  /** `Warning` header of every request, in all versions. */
  readonly deprecationWarning?: string;

  readonly createOnUpdate?: true;
  readonly unconditionalUpdate?: false;
  readonly returnsDeleted?: true;
  readonly defaultPropagation?: 'Orphan';
  readonly tracksGeneration?: true;
  readonly statusOnCreate?: true;

  readonly subresources?: readonly Subresource[];
  readonly scale?: NonNullable<ResourceVersionRow['scale']>;
  readonly selectableFields?: Resource['selectableFields'];
  readonly unknownField?: NonNullable<Resource['unknownField']>;

  /** Absent: like a new object, then what the kind finds, then like an update. */
  readonly metadataChecks?: readonly MetadataCheck[];
  /** Absent: like an update, if the kind has that, then what the kind finds. */
  readonly statusMetadataChecks?: readonly MetadataCheck[];
  readonly resetFields?: NonNullable<Resource['resetFields']>;
  readonly findUnreadable?: NonNullable<Resource['findUnreadable']>;
  readonly fieldAnnotations?: NonNullable<Resource['fieldAnnotations']>;
  /** Fields that are dropped on writes because their feature is off; see dropGatedFields. */
  readonly gatedFields?: readonly GatedField[];
  /** Gated fields are dropped from an update once generation has counted them as a change; absent: before. */
  readonly countsDropped?: true;
  /** By feature gate: the stored objects whose updates are validated as if the gate were on. */
  readonly featureUses?: Readonly<Record<string, UsesFeature>>;
  /** Gates that its rules depend on besides those of the members above and below. */
  readonly ruleGates?: readonly string[];
  /** Defaults by feature gate, where that is on. */
  readonly gatedDefaults?: Readonly<Record<string, (object: KubeObject) => void>>;

  readonly columns?: readonly Column[];
  readonly rowConditions?: NonNullable<ResourceVersionRow['rowConditions']>;
  readonly tableOrder?: NonNullable<Resource['tableOrder']>;

  readonly applyDefaults?: NonNullable<Strategy['applyDefaults']>;
  /** A function where it depends on feature gates. */
  readonly strategy?: KindStrategy | ((isGateOn: (gate: string) => boolean) => KindStrategy);
  readonly validation?: KindValidation;
  readonly warnings?: NonNullable<Strategy['warnings']>;
}
