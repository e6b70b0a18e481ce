// Users grant only rights that they hold: roles are checked against the writer's own rules, bindings against the role they grant. The verbs
// `escalate` and `bind` lift the checks. Mirrors the reference's storage of RBAC kinds; rights are asked for through functions.
import { type KubeObject, StatusError, forbidden, notFound } from '../../../apimachinery/index.ts';
import { type AdmissionAttributes, groupResource } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import { changesOnlyOwners } from '../../refusal.ts';

type Caller = AdmissionAttributes['context']['user'];
/** Rules as roles carry them; this plugin only hands them on. */
type Rules = readonly { readonly verbs: readonly string[] }[];
type RoleRef = Readonly<{ kind: string; name: string }>;

/** What a right is asked about. */
interface AskedRight {
  readonly verb: 'bind' | 'escalate';
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** What the plugin has to know of rights. */
export interface EscalationQuestions {
  /** Whether the writer may do this in the RBAC group. */
  isAllowed(user: Caller, right: AskedRight): Promise<boolean>;
  /** Why the rules are more than the writer holds; undefined when they are not. */
  findExcess(user: Caller, namespace: string, rules: Rules): Promise<string | undefined>;
  /** Rules of the role that a binding in the namespace grants; undefined when there is none. */
  findRole(roleRef: RoleRef, namespace: string): Promise<Rules | undefined>;
}

const RBAC_GROUP = 'rbac.authorization.k8s.io';
const roleKinds = new Set(['roles', 'clusterroles']);
const bindingKinds = new Set(['rolebindings', 'clusterrolebindings']);
const MASTERS_GROUP = 'system:masters';

const fullAuthority: Rules = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] } as Rules[number], { verbs: ['*'], nonResourceURLs: ['*'] } as Rules[number],
];

/** The plugin. It must be the last that mutates: the object that it checked is the one that is stored. */
export function createRbacEscalation(questions: EscalationQuestions): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    handles: ({ resource, operation, subresource, context }) =>
      resource.group === RBAC_GROUP && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE') && !context.user.groups.includes(MASTERS_GROUP),
    async mutate(attributes) {
      const { resource, object, oldObject } = attributes;
      if (object === undefined || changesOnlyOwners(object, oldObject)) return;
      if (roleKinds.has(resource.plural)) await checkRole(questions, attributes, object);
      else if (bindingKinds.has(resource.plural)) await checkBinding(questions, attributes, object);
    },
  };
}

async function checkRole(questions: EscalationQuestions, attributes: AdmissionAttributes, object: KubeObject): Promise<void> {
  const { resource, namespace, operation, name, oldObject, context: { user } } = attributes;
  // The name of an object that is created is not part of the request, so a right to escalate by name does not cover it.
  const right: AskedRight = { verb: 'escalate', resource: resource.plural, namespace, name: operation === 'CREATE' ? '' : name };
  if (await questions.isAllowed(user, right)) return;
  const excess = await questions.findExcess(user, namespace, (object['rules'] ?? []) as Rules);
  if (excess !== undefined) throw refuse(attributes, object, excess);
  if (object['aggregationRule'] === undefined && oldObject?.['aggregationRule'] === undefined) return;
  if ((await questions.findExcess(user, namespace, fullAuthority)) === undefined) return;
  throw refuse(attributes, object, 'must have cluster-admin privileges to use the aggregationRule');
}

async function checkBinding(questions: EscalationQuestions, attributes: AdmissionAttributes, object: KubeObject): Promise<void> {
  const { resource, namespace, context: { user } } = attributes;
  const roleRef = (object['roleRef'] ?? { kind: '', name: '' }) as RoleRef;
  // Anything else is no role, and left to validation.
  if (roleRef.kind !== 'Role' && roleRef.kind !== 'ClusterRole') return;
  const roles = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  if (await questions.isAllowed(user, { verb: 'bind', resource: roles, namespace, name: roleRef.name })) return;
  const rules = await questions.findRole(roleRef, namespace);
  if (rules === undefined) throw notFound(groupResource(resource), roleRef.name);
  const excess = await questions.findExcess(user, namespace, rules);
  if (excess !== undefined) throw refuse(attributes, object, excess);
}

const refuse = ({ resource }: AdmissionAttributes, object: KubeObject, why: string): StatusError =>
  forbidden(groupResource(resource), object.metadata.name ?? '', why);
