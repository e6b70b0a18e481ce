// What the checks of Pod Security read of a pod, and the forms of their findings.

/** A setting of a profile by type. */
interface Profile {
  readonly type?: string;
}

/** The security context of a container or of a pod, as far as a check looks at it. */
export interface SecurityContext {
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly procMount?: string;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly seLinuxOptions?: { readonly type?: string; readonly user?: string; readonly role?: string };
  readonly seccompProfile?: Profile;
  readonly appArmorProfile?: Profile;
  readonly windowsOptions?: { readonly hostProcess?: boolean };
  readonly sysctls?: readonly { readonly name: string }[];
}

/** A probe or a lifecycle handler. */
export interface Handler {
  readonly httpGet?: { readonly host?: string };
  readonly tcpSocket?: { readonly host?: string };
}

/** A container of any of the three lists. */
export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly ports?: readonly { readonly hostPort?: number }[];
  readonly securityContext?: SecurityContext;
  readonly livenessProbe?: Handler;
  readonly readinessProbe?: Handler;
  readonly startupProbe?: Handler;
  readonly lifecycle?: { readonly postStart?: Handler; readonly preStop?: Handler };
}

/** The spec of a pod or of a pod template. */
export interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly volumes?: readonly (Readonly<Record<string, unknown>> & { readonly name: string })[];
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly hostUsers?: boolean;
  readonly os?: { readonly name?: string };
  readonly runtimeClassName?: string;
  readonly securityContext?: SecurityContext;
}

/** A pod or a pod template. */
export interface Pod {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

/** Why a check refuses a pod. */
export interface Finding {
  readonly reason: string;
  readonly detail: string;
}

/** One check; undefined where the pod passes. */
export type Check = (pod: Pod) => Finding | undefined;

/** The containers of a pod in the order in which findings name them. */
export const containersOf = ({ initContainers, containers, ephemeralContainers }: PodSpec): readonly Container[] =>
  [...initContainers ?? [], ...containers ?? [], ...ephemeralContainers ?? []];

/** Names in quotation marks, with commas. */
export const quote = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** Distinct texts in order. */
export const sortTexts = (texts: Iterable<string>): string[] => [...new Set(texts)].sort();

/** `container "a"` or `containers "a", "b"`. */
export const nameThings = (noun: string, names: readonly string[]): string => `${pluralize(noun, names)} ${quote(names)}`;

/** A noun, with an s unless there is exactly one of it. */
export const pluralize = (noun: string, names: { readonly length: number }): string => (names.length === 1 ? noun : `${noun}s`);

/** The pod itself and the containers whose own security context is bad, as findings name them; undefined where there is none. */
export function nameSetters({ spec }: Pod, isBad: (context: SecurityContext) => boolean): string | undefined {
  const isSetter = (context: SecurityContext | undefined): boolean => context !== undefined && isBad(context);
  const bad = containersOf(spec).filter(({ securityContext }) => isSetter(securityContext)).map(({ name }) => name);
  const setters = [...(isSetter(spec.securityContext) ? ['pod'] : []), ...(bad.length > 0 ? [nameThings('container', bad)] : [])];
  return setters.length === 0 ? undefined : setters.join(' and ');
}

/** The values that `read` finds in the security contexts of a pod and its containers and that are bad, sorted. */
export function badValues({ spec }: Pod, read: (context: SecurityContext) => string | undefined, isBad: (value: string) => boolean): string[] {
  const contexts = [spec.securityContext, ...containersOf(spec).map(({ securityContext }) => securityContext)];
  const values = contexts.map((context) => (context === undefined ? undefined : read(context)));
  return sortTexts(values.filter((value) => value !== undefined && isBad(value)) as string[]);
}
